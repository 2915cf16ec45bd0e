package redis_test

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/maintnotifications"
)

// optionFacts are the fields of go-redis v9's Options, with what they hold after it
// has filled in its defaults (GOMAXPROCS 8). Differences are marked.
const optionFacts = `
Network tcp
Addr localhost:6379
NodeAddress localhost:6379
ClientName
Dialer set
OnConnect nil
Protocol 3
Username
Password
CredentialsProvider nil
CredentialsProviderContext nil
DB 0
MaxRetries 3
MinRetryBackoff 10ms
MaxRetryBackoff 1s
DialTimeout 5s
DialerRetries 5
DialerRetryTimeout 100ms
DialerRetryBackoff nil
ReadTimeout 5s
WriteTimeout 5s
ContextTimeoutEnabled false
ReadBufferSize 32768
DisablePolling false
WriteBufferSize 32768
PipelineReadBufferSize 0
PipelineWriteBufferSize 0
PipelinePoolSize 0
PoolFIFO false
PoolSize 80
MaxConcurrentDials 80
PoolTimeout 6s
MinIdleConns 0
MaxIdleConns 0
MaxActiveConns 0
ConnMaxIdleTime 30m0s
ConnMaxLifetime 0s
ConnMaxLifetimeJitter 0s
TLSConfig nil
Limiter nil
DisableIndentity false
DisableIdentity false
IdentitySuffix
UnstableResp3 false
PushNotificationProcessor set
FailingTimeoutSeconds 15
MaintNotificationsConfig.Mode auto
MaintNotificationsConfig.EndpointType auto
MaintNotificationsConfig.RelaxedTimeout 10s
MaintNotificationsConfig.HandoffTimeout 15s
MaintNotificationsConfig.PostHandoffRelaxedDuration 20s
MaintNotificationsConfig.CircuitBreakerFailureThreshold 5
MaintNotificationsConfig.CircuitBreakerResetTimeout 1m0s
MaintNotificationsConfig.CircuitBreakerMaxRequests 3
MaintNotificationsConfig.MaxHandoffRetries 3
`

// EndpointType is decided for each connection, by the peer's address; go-redis
// decides it once, by the configured one.

func TestOptionDefaults(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	got := reflect.ValueOf(*newClient(t, &redis.Options{}).Options())
	for fact := range strings.Lines(strings.TrimSpace(optionFacts) + "\n") {
		path, want, _ := strings.Cut(strings.TrimSpace(fact), " ")
		v := got
		for name := range strings.SplitSeq(path, ".") {
			if v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			if v = v.FieldByName(name); !v.IsValid() {
				break
			}
		}
		if !v.IsValid() {
			t.Errorf("there is no %s", path)
			continue
		}
		if have := shown(v); have != want {
			t.Errorf("%s is %s, want %s", path, have, want)
		}
	}
}

func shown(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Func, reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return "set"
	default:
		return fmt.Sprint(v.Interface())
	}
}

func TestOptionsThatMeanNone(t *testing.T) {
	o := newClient(t, &redis.Options{
		MaxRetries: -1, MinRetryBackoff: -1, MaxRetryBackoff: -1, ReadTimeout: -1, WriteTimeout: -2, ConnMaxIdleTime: -1, DialTimeout: -1,
	}).Options()
	if o.MaxRetries != -1 || o.ReadTimeout > 0 || o.WriteTimeout > 0 || o.ConnMaxIdleTime > 0 || o.DialTimeout > 0 {
		t.Errorf("a default took the place of none: %+v", o)
	}
	if o.PoolTimeout != 30*time.Second {
		t.Errorf("without a read timeout, PoolTimeout is %v", o.PoolTimeout)
	}
	if o := newClient(t, &redis.Options{ReadTimeout: time.Second}).Options(); o.WriteTimeout != time.Second || o.PoolTimeout != 2*time.Second {
		t.Errorf("WriteTimeout %v, PoolTimeout %v do not follow ReadTimeout", o.WriteTimeout, o.PoolTimeout)
	}
	if o := newClient(t, &redis.Options{Addr: "/tmp/socket"}).Options(); o.Network != "unix" {
		t.Errorf("a path is dialled by %s", o.Network)
	}
	if o := newClient(t, &redis.Options{Protocol: 2}).Options(); o.MaintNotificationsConfig.Mode != maintnotifications.ModeDisabled {
		t.Errorf("with RESP2 the mode is %s", o.MaintNotificationsConfig.Mode)
	}
}

func TestOptionsAreNotChanged(t *testing.T) {
	opt := &redis.Options{
		TLSConfig:                &tls.Config{MinVersion: tls.VersionTLS13},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeAuto},
		Protocol:                 2,
	}
	before, maint := *opt, *opt.MaintNotificationsConfig
	c := newClient(t, opt)
	_ = redis.NewDialer(opt)
	d := newClient(t, opt).WithTimeout(time.Second)
	defer d.Close()
	if d := cmp.Diff(before, *opt, cmp.Comparer(func(a, b *tls.Config) bool { return a == b })); d != "" {
		t.Errorf("the options were changed:\n%s", d)
	}
	if maint != *opt.MaintNotificationsConfig {
		t.Errorf("the maintenance configuration was changed: %+v", *opt.MaintNotificationsConfig)
	}
	if opt.TLSConfig.ServerName != "" {
		t.Errorf("the TLS configuration was changed: ServerName %q", opt.TLSConfig.ServerName)
	}
	opt.PoolSize = 1234
	if c.Options().PoolSize == 1234 {
		t.Error("the client sees a change that came later")
	}
}

func TestOptionsWithEveryProblem(t *testing.T) {
	opt := &redis.Options{
		Network: "smoke", Protocol: 4, DB: -1, MaxRetries: -2, DialerRetries: -1, ReadBufferSize: -1, PoolSize: -1,
		MinIdleConns: -1, MaxIdleConns: -1, MaxActiveConns: -1, DialTimeout: -5, ReadTimeout: -5, WriteTimeout: -5,
		PoolTimeout: -5, MinRetryBackoff: -5, MaxRetryBackoff: -5,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: "perhaps"},
	}
	err := newClient(t, opt).Ping(t.Context()).Err()
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{
		"Network", "Protocol", "DB", "MaxRetries", "DialerRetries", "ReadBufferSize", "PoolSize", "MinIdleConns",
		"MaxIdleConns", "MaxActiveConns", "DialTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "MinRetryBackoff",
		"MaxRetryBackoff", "MaintNotificationsConfig",
	} {
		if !strings.Contains(err.Error(), name+" ") && !strings.Contains(err.Error(), name+":") {
			t.Errorf("the error does not speak of %s", name)
		}
	}
	err = newClient(t, &redis.Options{
		Protocol: 2, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeEnabled},
	}).Ping(t.Context()).Err()
	if err == nil || !strings.Contains(err.Error(), "Protocol 3") {
		t.Errorf("notifications with RESP2: got %v", err)
	}
}

func TestDialRetryBackoff(t *testing.T) {
	if d := redis.DialRetryBackoffConstant(time.Second)(7); d != time.Second {
		t.Errorf("constant: %v", d)
	}
	f := redis.DialRetryBackoffExponential(100*time.Millisecond, time.Second)
	for attempt, want := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 4: 800 * time.Millisecond, 5: time.Second, 1000: time.Second,
	} {
		if d := f(attempt); d != want {
			t.Errorf("exponential, attempt %d: %v, want %v", attempt, d, want)
		}
	}
}

// Options hold what must not be logged, so what is logged of a client is its name.
func TestLoggingAClientHidesThePassword(t *testing.T) {
	var b strings.Builder
	c := newClient(t, &redis.Options{Addr: "127.0.0.1:1", Username: "user", Password: "secret", DialerRetries: 1, Logger: slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	err := c.Ping(t.Context()).Err()
	if s := fmt.Sprint(c, err) + b.String(); strings.Contains(s, "secret") {
		t.Errorf("the password is shown: %s", s)
	}
	cn := c.Conn()
	defer cn.Close()
	auth := cn.Do(t.Context(), "auth", "user", "secret")
	if s := auth.String(); strings.Contains(s, "secret") {
		t.Errorf("the password is shown: %s", s)
	}
}
