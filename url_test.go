package redis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	redis "github.com/baton-go/redis"
)

func TestParseURL(t *testing.T) {
	tcp := func(addr string, change ...func(o *redis.Options)) *redis.Options {
		o := &redis.Options{Network: "tcp", Addr: addr}
		for _, f := range change {
			f(o)
		}
		return o
	}
	set := func(f func(o *redis.Options)) func(o *redis.Options) { return f }
	for _, c := range []struct {
		url  string
		want *redis.Options
		tls  string // server name
	}{
		{url: "redis://", want: tcp("localhost:6379")},
		{url: "redis://localhost", want: tcp("localhost:6379")},
		{url: "redis://localhost:123", want: tcp("localhost:123")},
		{url: "redis://:1234", want: tcp("localhost:1234")},
		{url: "redis://localhost:123/", want: tcp("localhost:123")},
		{url: "redis://localhost:123/1", want: tcp("localhost:123", set(func(o *redis.Options) { o.DB = 1 }))},
		{url: "redis://localhost/?db=2", want: tcp("localhost:6379", set(func(o *redis.Options) { o.DB = 2 }))},
		{url: "redis://127.0.0.1:1", want: tcp("127.0.0.1:1")},
		{url: "redis://[::1]:12/3", want: tcp("[::1]:12", set(func(o *redis.Options) { o.DB = 3 }))},
		{url: "redis://[::1]", want: tcp("[::1]:6379")},
		{url: "redis://:secret@h:1", want: tcp("h:1", set(func(o *redis.Options) { o.Password = "secret" }))},
		{url: "redis://user@h:1", want: tcp("h:1", set(func(o *redis.Options) { o.Username = "user" }))},
		{url: "redis://us%40er:s%3Ae%2Fc@h:1", want: tcp("h:1", set(func(o *redis.Options) { o.Username, o.Password = "us@er", "s:e/c" }))},
		{url: "rediss://h:1/4", want: tcp("h:1", set(func(o *redis.Options) { o.DB = 4 })), tls: "h"},
		{url: "rediss://u:p@[::1]:1", want: tcp("[::1]:1", set(func(o *redis.Options) { o.Username, o.Password = "u", "p" })), tls: "::1"},
		{url: "rediss://h?skip_verify=true", want: tcp("h:6379"), tls: "h"},
		{url: "unix:///tmp/redis.sock", want: &redis.Options{Network: "unix", Addr: "/tmp/redis.sock"}},
		{
			url:  "unix://u:p@/tmp/redis.sock?db=3&protocol=2",
			want: &redis.Options{Network: "unix", Addr: "/tmp/redis.sock", Username: "u", Password: "p", DB: 3, Protocol: 2},
		},
		{
			url: "redis://h:1/?protocol=2&client_name=me@home&max_retries=-1&min_retry_backoff=5ms&max_retry_backoff=2&dial_timeout=3s" +
				"&dialer_retries=7&dialer_retry_timeout=1s&read_timeout=-1&write_timeout=0&pool_fifo=true&pool_size=5&max_concurrent_dials=3" +
				"&pool_timeout=4&min_idle_conns=1&max_idle_conns=2&max_active_conns=6&conn_max_idle_time=1h&conn_max_lifetime=2h" +
				"&conn_max_lifetime_jitter=1m",
			want: &redis.Options{
				Network: "tcp", Addr: "h:1", Protocol: 2, ClientName: "me@home", MaxRetries: -1,
				MinRetryBackoff: 5 * time.Millisecond, MaxRetryBackoff: 2 * time.Second, DialTimeout: 3 * time.Second,
				DialerRetries: 7, DialerRetryTimeout: time.Second, ReadTimeout: -1, WriteTimeout: -1, PoolFIFO: true, PoolSize: 5,
				MaxConcurrentDials: 3, PoolTimeout: 4 * time.Second, MinIdleConns: 1, MaxIdleConns: 2, MaxActiveConns: 6,
				ConnMaxIdleTime: time.Hour, ConnMaxLifetime: 2 * time.Hour, ConnMaxLifetimeJitter: time.Minute,
			},
		},
		{url: "redis://h/?idle_timeout=5&max_conn_age=6", want: tcp("h:6379", set(func(o *redis.Options) {
			o.ConnMaxIdleTime, o.ConnMaxLifetime = 5*time.Second, 6*time.Second
		}))},
		{url: "redis://h/?read_timeout=1&read_timeout=2", want: tcp("h:6379", set(func(o *redis.Options) { o.ReadTimeout = 2 * time.Second }))},
		{url: "redis://h/?read_timeout=", want: tcp("h:6379")},
	} {
		t.Run(c.url, func(t *testing.T) {
			got, err := redis.ParseURL(c.url)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(redis.Options{}, "TLSConfig")); d != "" {
				t.Errorf("want -, got +:\n%s", d)
			}
			switch {
			case (c.tls != "") != (got.TLSConfig != nil):
				t.Errorf("TLSConfig is %v", got.TLSConfig)
			case c.tls == "":
			case got.TLSConfig.ServerName != c.tls || got.TLSConfig.InsecureSkipVerify != strings.Contains(c.url, "skip_verify"):
				t.Errorf("ServerName %q, InsecureSkipVerify %t", got.TLSConfig.ServerName, got.TLSConfig.InsecureSkipVerify)
			}
			if err := newClient(t, got).Options(); err == nil {
				t.Error("no client of it")
			}
		})
	}
}

func TestParseURLErrors(t *testing.T) {
	for _, c := range []struct {
		url  string
		want []string
	}{
		{"http://h", []string{`"http"`}},
		{"localhost:6379", nil},
		{"", nil},
		{"redis://h:port", nil},
		{"redis://h/one", []string{"database"}},
		{"redis://h/-1", []string{"database"}},
		{"redis://h/1/2", []string{"database"}},
		{"unix://", []string{"path"}},
		{"unix://relative", []string{"path"}},
		{"redis://h/?pool_size=x&pool_fifo=maybe&read_timeout=long&nonsense=1", []string{"pool_size", "pool_fifo", "read_timeout", "nonsense"}},
		{"redis://h/?db=x", []string{"db"}},
		{"redis://h/x?pool_size=x", []string{"database", "pool_size"}},
		{"redis://%zz@h", nil},
	} {
		o, err := redis.ParseURL(c.url)
		if err == nil || o != nil {
			t.Errorf("%s: got %v and the error %v, want an error alone", c.url, o, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: the error does not speak of %s: %v", c.url, w, err)
			}
		}
	}
}

// Passwords often hold characters that a URL needs escaped. Whatever goes wrong with
// them then, no part of them may be shown.
func TestParseURLErrorsHideThePassword(t *testing.T) {
	for _, url := range []string{
		"redis://user:hunter/two@h:6379",
		"redis://user:hunter/two@h:6379/0",
		"redis://:hunter/two@h:6379",
		"redis://:12/two@h:6379",
		"redis://user:hunter?two@h:6379/1",
		"redis://:12?two@h:6379",
		"redis://:12?hunter=two@h:6379",
		"redis://:12?db=two@h:6379",
		"redis://user:hunter#two@h:6379",
		"redis://user:hunter%two@h:6379",
		"redis://user:hunter%zztwo@h:6379",
		"redis://user:hunter two@h:6379",
		"redis://user:hunter\x7ftwo@h:6379",
		"redis://user:hunter[two@h:6379",
		"redis://user:hunter@two@h:6379/x",
		"redis://user:huntertwo@h:6379/x?y=z",
		"http://user:huntertwo@h",
		"hunter:two@h",
		"rediss://:hunter%two@h",
		"unix://user:hunter%two@/x",
	} {
		_, err := redis.ParseURL(url)
		if err == nil {
			if !strings.Contains(url, "hunter@two") && !strings.Contains(url, "[two") {
				t.Errorf("%s: no error", url)
			}
			continue
		}
		for _, part := range []string{"hunter", "two", "zz"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error shows it: %v", url, err)
			}
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, u := range []string{"redis://u:p@h:1/2?db=3", "rediss://h", "unix:///s?db=1", "redis://[::1]:1/?read_timeout=5"} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, u string) {
		o, err := redis.ParseURL(u)
		if (o == nil) == (err == nil) {
			t.Errorf("got %v and %v", o, err)
		}
	})
}
