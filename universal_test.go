package redis_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	redis "github.com/baton-go/redis"
	"github.com/baton-go/redis/auth"
	"github.com/baton-go/redis/maintsim"
)

func TestUniversalClientTypes(t *testing.T) {
	for _, c := range []struct {
		opt  redis.UniversalOptions
		want redis.UniversalClient
	}{
		{redis.UniversalOptions{}, &redis.Client{}},
		{redis.UniversalOptions{Addrs: []string{"a:1"}}, &redis.Client{}},
		{redis.UniversalOptions{Addrs: []string{"a:1", "b:2"}}, &redis.ClusterClient{}},
		{redis.UniversalOptions{Addrs: []string{"a:1"}, IsClusterMode: true}, &redis.ClusterClient{}},
	} {
		got := redis.NewUniversalClient(&c.opt)
		defer got.Close()
		if reflect.TypeOf(got) != reflect.TypeOf(c.want) {
			t.Errorf("%+v: got a %T, want a %T", c.opt, got, c.want)
		}
	}
}

func TestUniversalClientWorks(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{})
	c := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{sim.Addr()}, DB: 3})
	defer c.Close()
	ctx := soon(t)
	if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	other := newClient(t, &redis.Options{Addr: sim.Addr(), DB: 3})
	if v, err := other.Get(ctx, "k").Result(); v != "v" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
}

// TestUniversalOptionsAreTakenOver sets every field and looks for it in the options of
// both clients, where they have a field of that name.
func TestUniversalOptionsAreTakenOver(t *testing.T) {
	var o redis.UniversalOptions
	all := reflect.ValueOf(&o).Elem()
	var names []string
	for f, v := range all.Fields() {
		switch v.Kind() {
		case reflect.String:
			v.SetString(f.Name)
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(len(f.Name)))
		case reflect.Bool:
			v.SetBool(true)
		default:
			continue
		}
		names = append(names, f.Name)
	}
	for _, got := range []any{o.Simple(), o.Cluster(), o.Failover()} {
		found := 0
		options := reflect.ValueOf(got).Elem()
		for f, v := range options.Fields() {
			want := all.FieldByName(f.Name)
			if !slices.Contains(names, f.Name) {
				continue
			}
			if found++; !want.Equal(v) {
				t.Errorf("%T.%s: got %v, want %v", got, f.Name, v, want)
			}
		}
		if found < 25 {
			t.Errorf("%T: only %d fields", got, found)
		}
	}
	if got := (&redis.UniversalOptions{}).Cluster().Addrs; !slices.Equal(got, []string{"127.0.0.1:6379"}) {
		t.Errorf("got addresses %v", got)
	}
	o.StreamingCredentialsProvider = &provider{}
	if got := o.Cluster().StreamingCredentialsProvider; got != o.StreamingCredentialsProvider {
		t.Errorf("a cluster's client has credentials of %v", got)
	}
}

func TestUniversalClientOfAMaster(t *testing.T) {
	for _, tc := range []struct {
		opt  redis.UniversalOptions
		want string
	}{
		{redis.UniversalOptions{}, "*redis.Client"},
		{redis.UniversalOptions{RouteRandomly: true}, "*redis.ClusterClient"},
		{redis.UniversalOptions{RouteByLatency: true}, "*redis.ClusterClient"},
		{redis.UniversalOptions{IsClusterMode: true}, "*redis.ClusterClient"},
	} {
		tc.opt.MasterName, tc.opt.Addrs = "mymaster", []string{"127.0.0.1:1", "127.0.0.1:2"}
		tc.opt.PoolTimeout = 100 * time.Millisecond
		c := redis.NewUniversalClient(&tc.opt)
		if got := fmt.Sprintf("%T", c); got != tc.want {
			t.Errorf("%+v: got a %s, want a %s", tc.opt, got, tc.want)
		}
		err := c.Set(t.Context(), "k", "v", 0).Err()
		if err == nil || !strings.Contains(err.Error(), "sentinel 127.0.0.1:1") || redis.DeliveryOf(err) != redis.NotSent {
			t.Errorf("%T: got %v", c, err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestParseClusterURL(t *testing.T) {
	got, err := redis.ParseClusterURL("redis://user:password@localhost:6789?dial_timeout=3&read_timeout=6s&write_timeout=0" +
		"&addr=localhost:6790&addr=[::1]:6791&max_redirects=5&read_only=1&route_by_latency=true&route_by_latency_tolerance=2ms" +
		"&pool_size=7&client_name=app&failing_timeout_seconds=4&pipeline_pool_size=3")
	if err != nil {
		t.Fatal(err)
	}
	want := &redis.ClusterOptions{
		Addrs: []string{"localhost:6789", "localhost:6790", "[::1]:6791"}, Username: "user", Password: "password",
		DialTimeout: 3 * time.Second, ReadTimeout: 6 * time.Second, WriteTimeout: -1, MaxRedirects: 5, ReadOnly: true,
		RouteByLatency: true, RouteByLatencyTolerance: 2 * time.Millisecond, PoolSize: 7, ClientName: "app",
		FailingTimeoutSeconds: 4, PipelinePoolSize: 3,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	secure, err := redis.ParseClusterURL("rediss://h")
	if err != nil || secure.TLSConfig == nil || secure.TLSConfig.ServerName != "h" || secure.Addrs[0] != "h:6379" {
		t.Errorf("got %+v, %v", secure, err)
	}
	for text, want := range map[string]string{
		"unix:///x":                            "scheme",
		"redis://h:1?addr=h2":                  "addr",
		"redis://h:1?addr=":                    "addr",
		"redis://h:1?db=3":                     `"db"`,
		"redis://h:1?skip_verify=1":            `"skip_verify"`,
		"redis://h:1?pool_size=x":              "pool_size",
		"redis://h:1?addr=user:secret@h2:1":    "escaped",
		"redis://user:secret#x@h:1?addr=h2:12": "escaped",
	} {
		_, err := redis.ParseClusterURL(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

//------------------------------------------------------------------------------

func TestEphemeralConnIsNotGivenBack(t *testing.T) {
	c, _ := start(t, nil)
	ctx := soon(t)
	ids := map[int64]string{}
	for _, name := range []string{"ephemeral", "usual", "usual again"} {
		conn := c.Conn()
		if name == "ephemeral" {
			conn = c.EphemeralConn()
		}
		id, err := conn.ClientID(ctx).Result()
		if err := errors.Join(err, conn.Close()); err != nil {
			t.Fatal(err)
		}
		if other := ids[id]; (other != "") != (name == "usual again") {
			t.Errorf("the connection of %q is that of %q", name, other)
		}
		ids[id] = name
	}
}

func TestPubSubStats(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{})
	c, ctx := newClient(t, &redis.Options{Addr: sim.Addr()}), soon(t)
	first, second := c.Subscribe(ctx, "a"), c.Subscribe(ctx, "b")
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	got := c.PoolStats().PubSubStats
	if got.Created != 2 || got.Active != 1 || got.Untracked != 1 {
		t.Errorf("got %+v", got)
	}
}

//------------------------------------------------------------------------------

// provider is a source of credentials that a test changes.
type provider struct {
	listener auth.CredentialsListener
	now      auth.Credentials
	err      error
	stopped  int
}

func (p *provider) Subscribe(l auth.CredentialsListener) (auth.Credentials, auth.UnsubscribeFunc, error) {
	p.listener = l
	return p.now, func() error {
		p.stopped++
		return nil
	}, p.err
}

// users gives the users of a server's connections but admin's.
func users(t *testing.T, c *redis.Client) (list []string) {
	t.Helper()
	for _, fields := range clients(t, c) {
		list = append(list, fields["user"])
	}
	slices.Sort(list)
	return list
}

// TestNewCredentialsReachEveryConnection: the shared connection, one of the pool and
// that of a subscription get them, without a message being lost.
func TestNewCredentialsReachEveryConnection(t *testing.T) {
	both(t, func(t *testing.T, proto int) {
		p := &provider{now: auth.NewBasicCredentials("old", "one")}
		c, s := start(t, &redis.Options{Protocol: proto, StreamingCredentialsProvider: p})
		a, ctx := admin(t, s.Addr()), soon(t)
		do(t, a, "acl", "setuser", "old", "on", ">one", "~*", "&*", "+@all")
		do(t, a, "acl", "setuser", "new", "on", ">two", "~*", "&*", "+@all")
		sub := c.Subscribe(ctx, "news")
		defer sub.Close()
		if _, err := sub.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		c.BLPop(ctx, 10*time.Millisecond, "none")
		if err := c.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"old", "old", "old"}, users(t, a)); d != "" {
			t.Fatalf("want -, got +:\n%s", d)
		}
		p.listener.OnNext(auth.NewBasicCredentials("new", "two"))
		await(t, "no connection has the old credentials", func() bool { return !slices.Contains(users(t, a), "old") })
		c.BLPop(ctx, 10*time.Millisecond, "none")
		if d := cmp.Diff([]string{"new", "new", "new"}, users(t, a)); d != "" {
			t.Errorf("want -, got +:\n%s", d)
		}
		if n := c.Publish(ctx, "news", "hello").Val(); n != 1 {
			t.Errorf("%d subscribers, want 1", n)
		}
		if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "hello" {
			t.Errorf("got %v, %v", m, err)
		}
		if err := c.Close(); err != nil || p.stopped != 1 {
			t.Errorf("Close: %v; the subscription was ended %d times", err, p.stopped)
		}
		p.listener.OnNext(auth.NewBasicCredentials("old", "one")) // nobody listens any more
	})
}

// TestRefusedCredentialsLeaveConnectionsAlone: with credentials that the server does not
// know, the connections that there are stay.
func TestRefusedCredentialsLeaveConnectionsAlone(t *testing.T) {
	p := &provider{now: auth.NewBasicCredentials("default", "")}
	c, s := start(t, &redis.Options{StreamingCredentialsProvider: p})
	a, ctx := admin(t, s.Addr()), soon(t)
	if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	p.listener.OnNext(auth.NewBasicCredentials("nobody", "x"))
	await(t, "they were tried", func() bool { return strings.Contains(do(t, a, "acl", "log"), "nobody") })
	if v, err := c.Get(ctx, "k").Result(); v != "v" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
}

func TestProviderWithoutCredentials(t *testing.T) {
	sim := maintsim.Start(t, maintsim.Config{})
	for _, p := range []*provider{{}, {err: errors.New("no source")}} {
		c := newClient(t, &redis.Options{Addr: sim.Addr(), StreamingCredentialsProvider: p, DialerRetries: 1})
		err := c.Ping(soon(t)).Err()
		if err == nil || redis.DeliveryOf(err) != redis.NotSent || p.err != nil && !errors.Is(err, p.err) {
			t.Errorf("got %v", err)
		}
	}
}

func TestParseFailoverURL(t *testing.T) {
	got, err := redis.ParseFailoverURL("redis://user:password@s1:26380/3?addr=s2:26379&addr=[::1]:26379&master_name=main" +
		"&sentinel_username=watcher&sentinel_password=hush&replica_only=true&use_disconnected_replicas=1" +
		"&route_by_latency=1&route_randomly=1&read_timeout=2&pool_size=4&failing_timeout_seconds=6")
	if err != nil {
		t.Fatal(err)
	}
	want := &redis.FailoverOptions{
		SentinelAddrs: []string{"s1:26380", "s2:26379", "[::1]:26379"}, MasterName: "main",
		SentinelUsername: "watcher", SentinelPassword: "hush", Username: "user", Password: "password", DB: 3,
		ReplicaOnly: true, UseDisconnectedReplicas: true, RouteByLatency: true, RouteRandomly: true,
		ReadTimeout: 2 * time.Second, PoolSize: 4, FailingTimeoutSeconds: 6,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	secure, err := redis.ParseFailoverURL("rediss://s1?master_name=main")
	if err != nil || secure.TLSConfig == nil || secure.TLSConfig.ServerName != "" {
		t.Errorf("with TLS: %+v, %v", secure, err)
	}
	for _, bad := range []string{"unix:///s", "redis://s1?addr=nowhere", "redis://s1?master=main", "redis://s1?pool_size=many"} {
		if _, err := redis.ParseFailoverURL(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
