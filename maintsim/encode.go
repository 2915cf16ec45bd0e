package maintsim

import "strconv"

// The encoders below are the simulator's own, so that what it sends does not
// depend on the codec of the client it tests.

func appendSimple(b []byte, s string) []byte {
	b = append(b, '+')
	b = append(b, s...)
	return append(b, '\r', '\n')
}

// appendError appends an error reply; s starts with its code.
func appendError(b []byte, s string) []byte {
	b = append(b, '-')
	for i := range len(s) {
		if c := s[i]; c == '\r' || c == '\n' {
			b = append(b, ' ')
		} else {
			b = append(b, c)
		}
	}
	return append(b, '\r', '\n')
}

func appendInt(b []byte, n int64) []byte {
	return appendHead(b, ':', n)
}

func appendBulk(b []byte, s string) []byte {
	b = appendHead(b, '$', int64(len(s)))
	b = append(b, s...)
	return append(b, '\r', '\n')
}

func appendArrayLen(b []byte, n int) []byte {
	return appendHead(b, '*', int64(n))
}

// appendMapLen opens a map of n pairs, in RESP2 an array of twice as many.
func appendMapLen(b []byte, n int, proto int32) []byte {
	if proto == 3 {
		return appendHead(b, '%', int64(n))
	}
	return appendArrayLen(b, 2*n)
}

func appendNull(b []byte, proto int32) []byte {
	if proto == 3 {
		return append(b, "_\r\n"...)
	}
	return append(b, "$-1\r\n"...)
}

// appendText appends s as a verbatim string, in RESP2 as a bulk string.
func appendText(b []byte, s string, proto int32) []byte {
	if proto != 3 {
		return appendBulk(b, s)
	}
	b = appendHead(b, '=', int64(len(s)+4))
	b = append(b, "txt:"...)
	b = append(b, s...)
	return append(b, '\r', '\n')
}

// appendCommand appends a command the way clients send it.
func appendCommand(b []byte, args ...string) []byte {
	b = appendArrayLen(b, len(args))
	for _, a := range args {
		b = appendBulk(b, a)
	}
	return b
}

func appendHead(b []byte, kind byte, n int64) []byte {
	b = append(b, kind)
	b = strconv.AppendInt(b, n, 10)
	return append(b, '\r', '\n')
}
