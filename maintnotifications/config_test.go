package maintnotifications

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultConfig(t *testing.T) {
	want := &Config{
		Mode: ModeAuto, EndpointType: EndpointTypeAuto,
		RelaxedTimeout: 10 * time.Second, HandoffTimeout: 15 * time.Second,
		PostHandoffRelaxedDuration:     20 * time.Second,
		CircuitBreakerFailureThreshold: 5, CircuitBreakerResetTimeout: time.Minute, CircuitBreakerMaxRequests: 3,
		MaxHandoffRetries: 3,
	}
	if diff := cmp.Diff(want, DefaultConfig()); diff != "" {
		t.Errorf("DefaultConfig (-want +got):\n%s", diff)
	}
	if err := DefaultConfig().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

func TestWorkersAndQueue(t *testing.T) {
	procs := 10 * runtime.GOMAXPROCS(0)
	for _, tc := range []struct {
		name                 string
		cfg                  Config
		poolSize, maxActive  int
		wantWorkers, wantLen int
	}{
		{"100", Config{}, 100, 0, 33, 500},
		{"100 with a bound", Config{}, 100, 150, 33, 151},
		{"50", Config{}, 50, 0, 16, 250},
		{"80", Config{}, 80, 0, 26, 400},
		{"10", Config{}, 10, 0, 5, 50},
		{"1", Config{}, 1, 0, 1, 5},
		{"1 with a bound", Config{}, 1, 1, 1, 2},
		{"unknown", Config{}, 0, 0, max(1, min(procs/2, max(10, procs/3))), 5 * procs},
		{"workers set", Config{MaxWorkers: 3}, 100, 0, 50, 500},
		{"many workers set", Config{MaxWorkers: 70}, 100, 0, 70, 500},
		{"queue set", Config{HandoffQueueSize: 7}, 100, 0, 33, 200},
		{"queue set, small pool", Config{HandoffQueueSize: 300}, 10, 0, 5, 50},
		{"queue set, bound", Config{HandoffQueueSize: 300}, 100, 120, 33, 121},
		{"negative values stay", Config{MaxWorkers: -1, HandoffQueueSize: -2}, 100, 0, -1, -2},
	} {
		got := tc.cfg.ApplyDefaultsWithPoolConfig(tc.poolSize, tc.maxActive)
		if got.MaxWorkers != tc.wantWorkers || got.HandoffQueueSize != tc.wantLen {
			t.Errorf("%s: got %d workers and a queue of %d, want %d and %d",
				tc.name, got.MaxWorkers, got.HandoffQueueSize, tc.wantWorkers, tc.wantLen)
		}
	}
}

func TestApplyDefaultsKeepsWhatIsSet(t *testing.T) {
	cfg := &Config{Mode: ModeEnabled, RelaxedTimeout: time.Minute, MaxHandoffRetries: 7}
	before := *cfg
	got := cfg.ApplyDefaultsWithPoolSize(100)
	if *cfg != before {
		t.Errorf("the caller's value became %+v", *cfg)
	}
	want := DefaultConfig()
	want.Mode, want.RelaxedTimeout, want.MaxHandoffRetries = ModeEnabled, time.Minute, 7
	want.PostHandoffRelaxedDuration = 2 * time.Minute
	want.MaxWorkers, want.HandoffQueueSize = 33, 500
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ApplyDefaults (-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	var none *Config
	if diff := cmp.Diff(DefaultConfig().ApplyDefaults(), none.ApplyDefaults()); diff != "" {
		t.Errorf("nil is not the defaults (-want +got):\n%s", diff)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	a := DefaultConfig()
	b := a.Clone()
	b.Mode = ModeDisabled
	if a.Mode != ModeAuto {
		t.Error("a change of the copy changed the original")
	}
}

func TestIsEnabled(t *testing.T) {
	var none *Config
	for _, tc := range []struct {
		cfg  *Config
		want bool
	}{
		{none, false},
		{&Config{}, true},
		{&Config{Mode: ModeAuto}, true},
		{&Config{Mode: ModeEnabled}, true},
		{&Config{Mode: ModeDisabled}, false},
	} {
		if got := tc.cfg.IsEnabled(); got != tc.want {
			t.Errorf("IsEnabled of %+v: got %v, want %v", tc.cfg, got, tc.want)
		}
	}
}

func TestValidateTellsEveryProblem(t *testing.T) {
	var none *Config
	if err := none.Validate(); err != nil {
		t.Errorf("nil: %v", err)
	}
	rules := []struct {
		err  error
		harm func(*Config)
	}{
		{ErrInvalidMaintNotifications, func(c *Config) { c.Mode = "foo" }},
		{ErrInvalidEndpointType, func(c *Config) { c.EndpointType = "foo" }},
		{ErrInvalidRelaxedTimeout, func(c *Config) { c.RelaxedTimeout = 0 }},
		{ErrInvalidHandoffTimeout, func(c *Config) { c.HandoffTimeout = -1 }},
		{ErrInvalidHandoffWorkers, func(c *Config) { c.MaxWorkers = -1 }},
		{ErrInvalidHandoffQueueSize, func(c *Config) { c.HandoffQueueSize = -1 }},
		{ErrInvalidPostHandoffRelaxedDuration, func(c *Config) { c.PostHandoffRelaxedDuration = -1 }},
		{ErrInvalidCircuitBreakerFailureThreshold, func(c *Config) { c.CircuitBreakerFailureThreshold = 0 }},
		{ErrInvalidCircuitBreakerResetTimeout, func(c *Config) { c.CircuitBreakerResetTimeout = -1 }},
		{ErrInvalidCircuitBreakerMaxRequests, func(c *Config) { c.CircuitBreakerMaxRequests = 0 }},
		{ErrInvalidHandoffRetries, func(c *Config) { c.MaxHandoffRetries = 11 }},
		{ErrInvalidHandoffRetries, func(c *Config) { c.MaxHandoffRetries = 0 }},
	}
	all := DefaultConfig()
	for _, r := range rules {
		one := DefaultConfig()
		r.harm(one)
		r.harm(all)
		err := one.Validate()
		for _, other := range rules {
			if got, want := errors.Is(err, other.err), errors.Is(r.err, other.err); got != want {
				t.Errorf("error %q: matches %q: got %v, want %v", err, other.err, got, want)
			}
		}
	}
	err := all.Validate()
	for _, r := range rules {
		if !errors.Is(err, r.err) {
			t.Errorf("everything wrong: %q is missing in %q", r.err, err)
		}
	}
}

func TestModeAndEndpointTypeText(t *testing.T) {
	for _, m := range []Mode{"disabled", "enabled", "auto"} {
		if !m.IsValid() || m.String() != string(m) {
			t.Errorf("mode %q", m)
		}
	}
	for _, e := range []EndpointType{"auto", "internal-ip", "internal-fqdn", "external-ip", "external-fqdn", "none"} {
		if !e.IsValid() || e.String() != string(e) {
			t.Errorf("endpoint type %q", e)
		}
	}
	if Mode("").IsValid() || EndpointType("").IsValid() {
		t.Error("the empty text is valid")
	}
}

type odd string

func (o odd) Network() string { return "odd" }
func (o odd) String() string  { return string(o) }

func TestEndpointTypeForPeer(t *testing.T) {
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 6379} }
	for _, tc := range []struct {
		peer       net.Addr
		plain, tls EndpointType
	}{
		{nil, EndpointTypeNone, EndpointTypeNone},
		{(*net.TCPAddr)(nil), EndpointTypeNone, EndpointTypeNone},
		{&net.TCPAddr{Port: 1}, EndpointTypeNone, EndpointTypeNone},
		{&net.UnixAddr{Name: "/tmp/s", Net: "unix"}, EndpointTypeNone, EndpointTypeNone},
		{odd("pipe"), EndpointTypeNone, EndpointTypeNone},
		{odd("10.1.2.3:6379"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("10.1.2.3"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("172.31.0.1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("192.168.1.1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("127.0.0.1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("::1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("fd00::1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("fe80::1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("169.254.1.1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("100.64.0.1"), EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{tcp("100.128.0.1"), EndpointTypeExternalIP, EndpointTypeExternalFQDN},
		{tcp("172.32.0.1"), EndpointTypeExternalIP, EndpointTypeExternalFQDN},
		{tcp("8.8.8.8"), EndpointTypeExternalIP, EndpointTypeExternalFQDN},
		{tcp("2001:4860::1"), EndpointTypeExternalIP, EndpointTypeExternalFQDN},
	} {
		if got := EndpointTypeForPeer(tc.peer, false); got != tc.plain {
			t.Errorf("%v: got %v, want %v", tc.peer, got, tc.plain)
		}
		if got := EndpointTypeForPeer(tc.peer, true); got != tc.tls {
			t.Errorf("%v with TLS: got %v, want %v", tc.peer, got, tc.tls)
		}
	}
}

func TestDetectEndpointType(t *testing.T) {
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "private.example":
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}, nil
		case "mixed.example":
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("8.8.8.8")}, nil
		}
		return nil, errors.New("no such host")
	}
	for _, tc := range []struct {
		addr       string
		plain, tls EndpointType
	}{
		{"", EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{":6379", EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{"10.0.0.1:6379", EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{"8.8.8.8:6379", EndpointTypeExternalIP, EndpointTypeExternalFQDN},
		{"8.8.8.8", EndpointTypeExternalIP, EndpointTypeExternalFQDN},
		{"[::1]:6379", EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{"[::1]", EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{"private.example:6379", EndpointTypeInternalIP, EndpointTypeInternalFQDN},
		{"mixed.example:6379", EndpointTypeExternalIP, EndpointTypeExternalFQDN},
		{"gone.example:6379", EndpointTypeExternalIP, EndpointTypeExternalFQDN},
	} {
		if got := detectEndpointType(t.Context(), tc.addr, false, lookup); got != tc.plain {
			t.Errorf("%q: got %v, want %v", tc.addr, got, tc.plain)
		}
		if got := detectEndpointType(t.Context(), tc.addr, true, lookup); got != tc.tls {
			t.Errorf("%q with TLS: got %v, want %v", tc.addr, got, tc.tls)
		}
	}
	if got := DetectEndpointType("127.0.0.1:6379", false); got != EndpointTypeInternalIP {
		t.Errorf("loopback: got %v", got)
	}
}
