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
//
// Nobody announces these:
//
//   - [Sim.Cut]: connections are cut with commands in flight; [Sim.Restart]: they
//     are closed in order. [WithProxy] limits both to one proxy.
//   - [Sim.Demote]: a proxy answers writes with READONLY; the name leads elsewhere.
//   - [Sim.ChangeDNS]: the name leads elsewhere.
//   - [Sim.Shrink], [Sim.Grow]: a proxy leaves or joins an endpoint with several
//     records ([Config.Records]).
//   - [Sim.MaintenanceMode]: MIGRATING and MIGRATED are announced, the end of the
//     proxy is not.
//
// # Clusters
//
// A [Cluster] ([NewCluster], [StartCluster]) is a proxy for each node of a cluster. By
// default the nodes share an embedded server, and the proxies decide who serves a slot:
// they answer CLUSTER, MOVED, ASK, TRYAGAIN and CROSSSLOT, and each lists its own keys
// only. [ClusterConfig] has replicas, spare shards that the cluster doesn't know of yet,
// names, and a NAT.
//
//   - [Cluster.Migrate], [Cluster.MigrateSlots]: SMIGRATING, lead time, slots move key
//     by key or as a whole ([WithAtomic]) within [WithWindow], SMIGRATED with one
//     triplet for each move, both to every connection of every node. Overlapping ones
//     are cascades. [WithRemoval] makes a source leave that has nothing any more.
//   - [Cluster.AddShard], [Cluster.RemoveShard], [Cluster.Reshard]: sequences of these.
//   - [Cluster.Failover]: a replica and its primary change places.
//   - [Cluster.Kill], [Cluster.Restart], [Cluster.Cut]: nobody announces these.
//   - [WithUnannounced] does one of the former without notices, and
//     [Config.Unsupported] makes an open-source cluster of it, which has none.
//
// Options that change the form, number and delivery of notices hold for these, too.
// [VariantSlotElements] and [VariantPairs] are further forms of them.
//
// # Sentinels
//
// [Sentinels] ([NewSentinels], [StartSentinels]) are sentinels and the master that they
// watch with its replicas, each behind a proxy, so that any of them can be cut off or made
// to hang ([Sentinels.Sim], [Sentinels.SentinelSim]). Imitated ones need nothing installed;
// with a [Program] servers and sentinels are real.
//
//   - [Sentinels.Failover]: a replica becomes the master, as by an operator who loses
//     nothing, or with [WithUnannounced] as the sentinels alone do it.
//   - [Sentinels.KillMaster]: the sentinels find out and promote a replica.
//
// With [SentinelConfig.Discovery] they are Redis Enterprise's discovery service, in front
// of one database:
//
//   - [Sentinels.Switch]: the service tells that the endpoint moves; the old proxy serves
//     for the grace time.
//
// # Notices that are not as they should be
//
//   - Form: [WithVariant] sends a notice in another form that is seen in the wild,
//     [WithAnnounced] with any target, and [Malformed] has frames that are none.
//     [Sim.Push] sends any frame.
//   - Time: [WithLinger] keeps an old proxy going beyond its deadline, so that
//     late-comers are told that zero or a negative time is left; [WithEarlyLeave] ends
//     the wait for its deadline when it has no connection left. [Sim.Retain] keeps
//     a completion of long ago for connections to come.
//   - Number: [WithSeq] repeats one, [Sim.SetSeq] and [Config.FirstSeq] begin anew,
//     and [WithSecondTarget] announces one move with two targets.
//   - Delivery: [WithoutClosing], [WithOpeningsTo] and [WithClosingsTo] lose
//     notices, [WithReordered] swaps them, [WithDuplicates] repeats them, and
//     [WithRepeatOnTarget] tells the connections that have moved already.
//   - Place: [Config.AnnounceAfter] and [Config.HandshakePush] put pushes between
//     the replies of a handshake, and [Writes] tears what is sent at any byte, or
//     gathers pushes and replies in one write.
//
// # Faults
//
// [WithTargetFault] makes the target of a move refuse, vanish, hang, close, or
// answer with errors, while the old proxy serves until its deadline;
// [Sim.SetFault] does so to any proxy. [WithCloseMode] makes peers close, reset or
// vanish. [Sim.Refuse] and [Sim.CloseOnOptIn] take the opt-in command away, and
// [Sim.SetVersion] makes the server another one. A RESP2 connection is told OK, and
// then nothing. [Sim.DisturbLookups] delays the resolver or makes it fail.
//
// # Chaos
//
// [Sim.Chaos] does all of this at random, one after another and overlapping, and
// repeatably by its seed. Each step is an event that says everything that was
// chosen.
//
// # Time
//
// Durations of [Config] that go over the wire (Grace, Lead) are counted in wire
// seconds; [Config.TimeUnit] says how long a wire second really takes. Leave it
// alone when a client reads the notices and acts by the clock. [MeasuredTimings] is
// the timing of the real product at any scale.
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
// 127.0.0.1 exists, such as on macOS, name others in [Config.Hosts], or give each a
// port of its own ([Config.OwnPorts]). ::1 is a host like any other. The embedded
// server is an imitation: what it answers, and in which shape, is settled by a
// real server only.
package maintsim
