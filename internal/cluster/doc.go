// Package cluster knows everything about a cluster that needs no socket: which
// slot a key has, who owns a slot, what a reply or a redirect says about that,
// and what is different afterwards.
//
// A [Topology] is a value that never changes. It is read from a reply
// ([ParseShards], [ParseSlots]), corrected by what is learned in between
// ([Topology.Move], for MOVED and SMIGRATED), and compared ([Diff]). Whoever
// uses it publishes a pointer to the newest one.
//
// Nodes are told apart by the address that is dialled, not by their id: an
// address is what connections belong to, and all that a redirect or a notice
// tells. So in a Topology every address occurs once.
//
// There is no goroutine, lock or clock in the package; times are arguments. The
// rules come from the cluster specification
// (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/)
// and from the pages of CLUSTER SLOTS and CLUSTER SHARDS; where servers differ
// from them, the code says so.
package cluster
