package redis

// A command and the room for its encoded form are one allocation. How much room that is
// decides how often the garbage collector runs, so the most frequent commands have less
// or more of it than the others. What does not fit gets memory of its own.
const (
	snugWire  = 40  // a name and a short key
	roomyWire = 88  // most commands
	wideWire  = 120 // SET with a short key and 64 bytes
)

// roomable is a command that room is given to.
type roomable[C any] interface {
	*C
	settleIn(room []byte)
}

// settleIn gives an empty command the room for its encoded form.
func (c *baseCmd) settleIn(room []byte) { c.buf = room }

// roomy makes an empty command with the usual room.
func roomy[C any, P roomable[C]]() *C {
	r := &struct {
		cmd  C
		room [roomyWire]byte
	}{}
	P(&r.cmd).settleIn(r.room[:0])
	return &r.cmd
}

// fitting makes an empty command with room for arguments of so many bytes, the name
// among them.
func fitting[C any, P roomable[C]](args ...int) *C {
	n := wireHead
	for _, size := range args {
		n += bulkSize(size)
	}
	switch {
	case n <= snugWire:
		r := &struct {
			cmd  C
			room [snugWire]byte
		}{}
		P(&r.cmd).settleIn(r.room[:0])
		return &r.cmd
	case n <= roomyWire:
		return roomy[C, P]()
	case n <= wideWire:
		r := &struct {
			cmd  C
			room [wideWire]byte
		}{}
		P(&r.cmd).settleIn(r.room[:0])
		return &r.cmd
	}
	c := new(C)
	P(c).settleIn(make([]byte, 0, n))
	return c
}

// bulkSize is how many bytes an argument takes, or a few more.
func bulkSize(n int) int {
	const around = len("$\r\n\r\n")
	switch {
	case n < 10:
		return around + 1 + n
	case n < 100:
		return around + 2 + n
	}
	return around + 10 + n
}

// argSize is how many bytes a value has, as far as that is plain to see.
func argSize(v any) int {
	const usual = 16
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return usual
}
