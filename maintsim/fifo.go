package maintsim

// An entry stands for commands that were read from a client and not answered,
// in order.
type entry struct {
	kind entryKind
	n    int // commands; of entrySubscribe confirmations still to come

	// answer makes the reply of entryLocal and sends it. It runs when all
	// commands before have been answered, with no lock held.
	answer func()

	// rewrite sees the server's reply of entryWatched and entryBlocking, with
	// session.mu held, and appends to out what the client gets. Nil passes it on.
	rewrite func(out, reply []byte) []byte

	array bool // of entryBlocking: its null is that of an array
	slot  int  // of entryBlocking at a cluster's node: that of its first key
}

type entryKind uint8

const (
	entryForwarded entryKind = iota // the server answers; n of them
	entryWatched                    // the server answers, the proxy looks
	entryBlocking                   // the server may wait before it answers; nothing behind it was forwarded
	entrySubscribe                  // the server sends n confirmations
	entryLocal                      // the proxy answers
	entryReset                      // answered when the server's side was replaced
)

// fifo holds entries; neighbouring entryForwarded are one. The zero value is
// empty.
type fifo struct {
	q     []entry
	first int // q[first:] is what is held
	total int // commands in it
}

func (f *fifo) empty() bool { return f.first == len(f.q) }

// head is the oldest entry; f must not be empty.
func (f *fifo) head() *entry { return &f.q[f.first] }

func (f *fifo) push(e entry) {
	if e.kind == entryForwarded {
		f.total += e.n
		if !f.empty() {
			if last := &f.q[len(f.q)-1]; last.kind == entryForwarded {
				last.n += e.n
				return
			}
		}
	} else {
		f.total++
	}
	f.q = append(f.q, e)
}

// pop removes the head, which stands for one command or is an exhausted run.
func (f *fifo) pop() {
	if f.head().kind != entryForwarded {
		f.total--
	}
	f.q[f.first] = entry{}
	f.first++
	if f.empty() {
		f.q, f.first = f.q[:0], 0
		return
	}
	if f.first > 64 && f.first > len(f.q)/2 {
		n := copy(f.q, f.q[f.first:])
		clear(f.q[n:])
		f.q, f.first = f.q[:n], 0
	}
}
