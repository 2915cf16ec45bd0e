// Package maintsim imitates a Redis Enterprise database during maintenance, so
// that a client, and the application on top of it, can be tested against what
// operators do to a database: migrations, failovers, endpoint moves, rolling
// upgrades, and outages nobody announced.
//
// A [Sim] is a set of RESP-aware proxies on loopback addresses in front of one
// Redis-compatible server. By default that server is embedded, so a test needs
// nothing installed; it can also be a server that is running ([Address]) or a
// program the simulator starts and ends ([Program]). The proxies answer the
// opt-in command CLIENT MAINT_NOTIFICATIONS, and push MOVING, MIGRATING,
// MIGRATED, FAILING_OVER and FAILED_OVER exactly as they are seen on the wire of
// the real product. What is announced then happens: replies stall, old proxies
// close their connections at the deadline, names resolve to new addresses.
//
//	func TestSurvivesMaintenance(t *testing.T) {
//		sim := maintsim.Start(t, maintsim.Config{Grace: 2 * time.Second})
//		app := newApp(sim.Addr())
//		if err := sim.RollingUpgrade(t.Context()); err != nil {
//			t.Fatal(err)
//		}
//		...
//	}
//
// # Scenarios
//
// Each scenario is a method that returns when everything it stands for is over.
// Scenarios may overlap; each takes options that change one run of it.
//
//   - [Sim.Migrate]: MIGRATING, lead time, replies stall, MIGRATED.
//   - [Sim.Failover]: FAILING_OVER, lead time, replies stall, FAILED_OVER.
//   - [Sim.Rebind]: MOVING; the old proxy closes its connections at the
//     deadline. The target is named, or null ([WithNullEndpoint],
//     [WithNullByName]).
//   - [Sim.RollingUpgrade]: the three above, once per node.
//   - [Sim.FailoverCut]: FAILING_OVER, then connections are cut with commands in
//     flight, nothing accepts for a while, and FAILED_OVER greets who comes back.
//   - [Sim.Cut]: the same without a word; [WithProxy] limits it to one proxy.
//
// Faults on demand: [WithoutClosing] loses a closing notice, [WithAnnounced]
// announces a wrong target, [WithCloseMode] makes peers reset or vanish,
// [Sim.Refuse] takes the opt-in command away, and [Sim.Push] sends any frame.
//
// # Time
//
// Durations of [Config] that go over the wire (Grace, Lead) are counted in wire
// seconds; [Config.TimeUnit] says how long a wire second really takes. Leave it
// alone when a client reads the notices and acts by the clock.
//
// # Accounting
//
// [Sim.Stats] and [Sim.Events] say what was done to the client and when: how
// many connections were told, when replies stalled, how many commands were in
// flight at a cut. [Sim.Backend] reaches the data behind the proxies, to compare
// what a client believes with what the server has.
//
// # Names
//
// The database is called [DBName], node i is called node-<i+1>.sim.test. No
// system resolver knows them: give the client [Sim.LookupHost] or
// [Sim.DialContext].
//
// # Limits
//
// The simulator shares nothing with the client but the codec's frame scanner,
// and listens on loopback addresses only. Proxies have addresses of their own
// (127.0.0.1, 127.0.0.2, ...) and share a port, as real ones do; where only
// 127.0.0.1 exists, such as on macOS, name others in [Config.Hosts]. The embedded
// server is an imitation: what it answers, and in which shape, is settled by a
// real server only.
package maintsim
