package logging_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/baton-go/redis"
	"github.com/baton-go/redis/internal/logger"
	"github.com/baton-go/redis/logging"
)

// lines is a logger that keeps what it gets.
type lines struct{ bytes.Buffer }

func (l *lines) Printf(_ context.Context, format string, v ...any) {
	fmt.Fprintf(l, format+"\n", v...)
}

func TestSetLogger(t *testing.T) {
	t.Cleanup(func() {
		logging.Disable()
		logging.SetLogLevel(logging.LogLevelWarn)
	})
	log := slog.New(logger.Handler{})
	said := func() {
		log.Error("e")
		log.With("b", 2).WithGroup("g").Warn("w", "c", "x y", slog.Group("h", "d", 1))
		log.Info("i")
		log.Debug("d")
	}
	said() // to nobody
	l := &lines{}
	redis.SetLogger(l)
	redis.SetLogger(nil) // ignored
	for level, want := range map[logging.LogLevelT]string{
		logging.LogLevelError: "e\n",
		logging.LogLevelWarn:  "e\nw b=2 g.c=\"x y\" g.h.d=1\n",
		logging.LogLevelInfo:  "e\nw b=2 g.c=\"x y\" g.h.d=1\ni\n",
		logging.LogLevelDebug: "e\nw b=2 g.c=\"x y\" g.h.d=1\ni\nd\n",
	} {
		l.Reset()
		redis.SetLogLevel(level)
		redis.SetLogLevel(99) // ignored
		said()
		if got := l.String(); got != want {
			t.Errorf("%v: got %q, want %q", level, got, want)
		}
	}
	l.Reset()
	logging.Disable()
	said()
	if l.Len() > 0 {
		t.Errorf("disabled: got %q", l.String())
	}
}

func TestClientsUseTheLogger(t *testing.T) {
	t.Cleanup(func() {
		logging.Disable()
		logging.SetLogLevel(logging.LogLevelWarn)
	})
	c := redis.NewClient(&redis.Options{Addr: "localhost:1"})
	defer c.Close()
	l := &lines{}
	redis.SetLogger(l) // after the client was made
	c.Options().Logger.Warn("something")
	if got := l.String(); got != "something\n" {
		t.Errorf("got %q", got)
	}
}

// TestLoggersToStderr runs itself, to see what is written there.
func TestLoggersToStderr(t *testing.T) {
	if os.Getenv("BATON_LOG") != "" {
		ctx := t.Context()
		logging.NewBlacklistLogger([]string{"secret", "token"}).Printf(ctx, "%s", "a secret")
		logging.NewBlacklistLogger([]string{"secret"}).Printf(ctx, "shown: %d", 1)
		logging.NewWhitelistLogger([]string{"get"}).Printf(ctx, "shown: %s", "get")
		logging.NewWhitelistLogger([]string{"get"}).Printf(ctx, "set")
		logging.Enable()
		slog.New(logger.Handler{}).Warn("shown by default")
		(&logging.VoidLogger{}).Printf(ctx, "nothing")
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLoggersToStderr$")
	cmd.Env = append(os.Environ(), "BATON_LOG=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(stderr.String()) {
		if _, text, ok := strings.Cut(line, "shown"); ok && strings.HasPrefix(line, "redis: ") {
			got = append(got, strings.TrimSpace(text))
		}
	}
	if want := ": 1,: get,by default"; strings.Join(got, ",") != want || strings.Count(stderr.String(), "\n") != 3 {
		t.Errorf("got %q, want %s", stderr.String(), want)
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[logging.LogLevelT]string{
		logging.LogLevelError: "ERROR true false false false",
		logging.LogLevelWarn:  "WARN true true false false",
		logging.LogLevelInfo:  "INFO true true true false",
		logging.LogLevelDebug: "DEBUG true true true true",
		-1:                    "UNKNOWN false false false false",
	} {
		got := fmt.Sprint(level, level.IsValid(), level.WarnOrAbove(), level.InfoOrAbove(), level.DebugOrAbove())
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
