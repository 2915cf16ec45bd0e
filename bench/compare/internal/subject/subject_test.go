package subject_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/baton-go/redis/bench/compare/internal/server"
	"github.com/baton-go/redis/bench/compare/internal/subject"
	"github.com/baton-go/redis/internal/realserver"
)

// Every client does all that the workloads ask of it, in every setting and over
// every transport.
func TestClients(t *testing.T) {
	srv, err := server.Start(t.Context(), realserver.Require(t, realserver.Redis7))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, transport := range server.Transports() {
		reach, err := srv.Reach(t.Context(), transport)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range subject.All() {
			for _, setting := range s.Settings {
				name := strings.Join([]string{string(transport), s.Name, setting.Name}, "/")
				t.Run(name, func(t *testing.T) {
					client, err := setting.Open(reach)
					if transport == server.Cluster && s.Name == subject.Redigo {
						var why subject.NotMeasured
						if !errors.As(err, &why) {
							t.Errorf("error %v, want that it is not measured", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					defer func() {
						if err := client.Close(); err != nil {
							t.Error(err)
						}
					}()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					for prefix, ctx := range map[string]context.Context{"test:background:": context.Background(), "test:cancel:": ctx} {
						keys := []string{prefix + name + ":0", prefix + name + ":1", prefix + name + ":2"}
						use(t, ctx, client, keys)
						if transport != server.Cluster { // there the keys are in several slots
							mget(t, ctx, client, keys)
						}
					}
				})
			}
		}
	}
}

// use calls everything but MGet.
func use(t *testing.T, ctx context.Context, client subject.Client, keys []string) { //nolint:revive // t comes first in helpers
	t.Helper()
	prefix := keys[0]
	var want []string
	for _, key := range keys {
		if err := client.Set(ctx, key, "value of "+key); err != nil {
			t.Fatalf("Set: %v", err)
		}
		want = append(want, "value of "+key)
	}
	if got, err := client.Get(ctx, keys[1]); err != nil || got != want[1] {
		t.Errorf("Get = %q, %v, want %q", got, err, want[1])
	}
	for i := range int64(3) {
		if got, err := client.Incr(ctx, prefix+":counter"); err != nil || got != i+1 {
			t.Errorf("Incr = %d, %v, want %d", got, err, i+1)
		}
	}
	pipe(t, ctx, client, keys, want)
	if _, err := client.Get(ctx, prefix+":missing"); err == nil {
		t.Error("Get of a key that is not there: no error")
	}
	if err := client.Pipe(ctx, []subject.Op{{Key: keys[0]}, {Key: prefix + ":missing"}}, make([]string, 2)); err == nil {
		t.Error("Pipe with a key that is not there: no error")
	}
}

// mget follows use, which has changed the second value.
func mget(t *testing.T, ctx context.Context, client subject.Client, keys []string) { //nolint:revive // t comes first in helpers
	t.Helper()
	values := make([]string, len(keys))
	if err := client.MGet(ctx, keys, values); err != nil {
		t.Errorf("MGet: %v", err)
	}
	if diff := cmp.Diff([]string{"value of " + keys[0], "new", "value of " + keys[2]}, values); diff != "" {
		t.Errorf("MGet: -want +got:\n%s", diff)
	}
}

func pipe(t *testing.T, ctx context.Context, client subject.Client, keys, want []string) { //nolint:revive // t comes first in helpers
	t.Helper()
	ops := []subject.Op{{Key: keys[0]}, {Key: keys[1], Value: "new", Set: true}, {Key: keys[1]}, {Key: keys[2]}}
	values := make([]string, len(ops))
	if err := client.Pipe(ctx, ops, values); err != nil {
		t.Errorf("Pipe: %v", err)
	}
	if diff := cmp.Diff([]string{want[0], "", "new", want[2]}, values); diff != "" {
		t.Errorf("Pipe: -want +got:\n%s", diff)
	}
}

func TestSelect(t *testing.T) {
	got, err := subject.Select([]string{subject.Rueidis, subject.Baton})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{subject.Baton, subject.Rueidis}, subject.Names(got)); diff != "" {
		t.Error(diff)
	}
	if _, err := subject.Select([]string{"batton"}); err == nil || !strings.Contains(err.Error(), subject.RueidisAlways) {
		t.Errorf("error %v, want one that names the subjects", err)
	}
	names := subject.Names(subject.All())
	slices.Sort(names)
	if len(slices.Compact(names)) != len(subject.All()) {
		t.Errorf("a name is there twice: %v", names)
	}
}
