package drill

import (
	"net"
	"testing"
	"time"

	"github.com/baton-go/redis/maintsim"
)

// Whatever makes a scenario harder, the accounts balance as they have to.
func TestDrillIsOKUnderConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, tt := range []struct {
		name     string
		scenario Scenario
		edit     func(*Config)
	}{
		{"target hangs", Rebind, func(c *Config) { c.Target = TargetFault{maintsim.FaultHang, c.Grace / 3} }},
		{"target is loading", Rebind, func(c *Config) { c.Target = TargetFault{maintsim.FaultLoading, c.Grace / 3} }},
		{"target refuses for good", Rebind, func(c *Config) { c.Target = TargetFault{Fault: maintsim.FaultRefuse} }},
		{"linger, repeated, gathered", Rebind, func(c *Config) {
			c.Linger, c.Repeated, c.Writes.Gather = maintsim.Range{Min: c.Grace / 3, Max: c.Grace / 3}, true, time.Millisecond
		}},
		{"TLS", Rebind, func(c *Config) { c.TLS = true }},
		{"own ports", Rebind, func(c *Config) { c.OwnPorts = true }},
		{"records", Rebind, func(c *Config) { c.Records = 2 }},
		{"lost openings", Rebind, func(c *Config) { c.LostOpenings = 0.5 }},
		{"RESP2", Rebind, func(c *Config) { c.Protocol = 2 }},
		{"refused opt-in", Rebind, func(c *Config) { c.RefuseOptIn = Denial(time.Second) }},
		{"closed opt-in", Rebind, func(c *Config) { c.CloseOnOptIn = -1 }},
		{"silent ending", Rebind, func(c *Config) { c.Ending = maintsim.CloseSilent }},
		{"handshake", Rebind, func(c *Config) {
			c.HandshakePush, c.AnnounceAfter, c.Writes.MaxPiece = ">1\r\n+X\r\n", 2, 40
		}},
		{"variants", Migrate, func(c *Config) {
			c.Variants, c.Duplicates = []maintsim.Variant{maintsim.VariantSeqText, maintsim.VariantExtra}, true
		}},
		{"reordered, retained", Migrate, func(c *Config) { c.Reordered, c.Retained = 0.5, Retained{maintsim.Migrated, 7} }},
		{"lost closings", Failover, func(c *Config) { c.LostClosings = true }},
		{"late take-over", TakeOver, func(c *Config) { c.TakeOver = 0.9 }},
		{"everything", Chaos, func(c *Config) { c.Chaos, c.Seed = ChaosAll, 3 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := brief(tt.scenario)
			c.Grace = time.Second
			tt.edit(&c)
			if c.Scenario != Chaos {
				c.Duration = c.length() + 2*shortEdge
				if c.felt() {
					c.Duration += recoverFast
				}
			}
			if r := &drill(t, c).Result; !r.OK {
				t.Errorf("problems: %q\nerrors: %v", r.Problems, r.Errors)
			}
		})
	}
}

func TestDrillWithIPv6IsOK(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6:", err)
	}
	_ = ln.Close() // it was there to see whether it can be
	t.Parallel()
	c := brief(Rebind)
	c.IPv6 = true
	if r := &drill(t, c).Result; !r.OK {
		t.Errorf("problems: %q\nerrors: %v", r.Problems, r.Errors)
	}
}

func TestConditionsAreRead(t *testing.T) {
	check := func(name string, got, want any, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
	f, err := ParseTargetFault("hang:2s")
	check("fault with time", f, TargetFault{maintsim.FaultHang, 2 * time.Second}, err)
	f, err = ParseTargetFault("wrongpass")
	check("fault", f, TargetFault{Fault: maintsim.FaultWrongPass}, err)
	r, err := ParseRetained("12")
	check("retained", r, Retained{maintsim.Migrated, 12}, err)
	r, err = ParseRetained("failed_over:3")
	check("retained by name", r, Retained{maintsim.FailedOver, 3}, err)
	d, err := ParseDenial("always")
	check("denial", d, Denial(-1), err)
	d, err = ParseDenial("2s")
	check("denial for a time", d, Denial(2*time.Second), err)
	p, err := ParseHandshakePush("invalidate")
	check("push", p, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nkey\r\n", err)
	p, err = ParseHandshakePush(`>1\r\n+X\r\n`)
	check("frame", p, ">1\r\n+X\r\n", err)
	v, err := ParseVariants("extra,no-time")
	check("variants", len(v), 2, err)
	l, err := ParseLinger("1s")
	check("linger", l, maintsim.Range{Min: time.Second, Max: time.Second}, err)
	m, err := ParseEnding("silent")
	check("ending", m, maintsim.CloseSilent, err)
	s, err := ParseTimings("measured:0.2")
	check("timings", s.Grace, 3*time.Second, err)
}
