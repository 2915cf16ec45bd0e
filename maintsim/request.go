package maintsim

import (
	"bytes"
	"errors"
	"strings"
)

var errRequest = errors.New("maintsim: client sent what is no command")

// maxRequest bounds what one command may announce.
const maxRequest = 1 << 30

// nextRequest finds the end of the command at the start of b. n is its length
// and name its first argument, a slice of b; n is 0 if more bytes are needed. An
// inline command has no name.
func nextRequest(b []byte) (n int, name []byte, err error) {
	if len(b) == 0 {
		return 0, nil, nil
	}
	if b[0] != '*' {
		i := bytes.IndexByte(b, '\n')
		if i < 0 && len(b) > 64<<10 {
			return 0, nil, errRequest
		}
		return i + 1, nil, nil
	}
	elems, pos, err := requestHead(b, 0, '*')
	if pos == 0 || err != nil {
		return 0, nil, err
	}
	for i := range elems {
		size, start, err := requestHead(b, pos, '$')
		if start == 0 || err != nil {
			return 0, nil, err
		}
		if pos = start + size + 2; pos > maxRequest {
			return 0, nil, errRequest
		}
		if pos > len(b) {
			return 0, nil, nil
		}
		if i == 0 {
			name = b[start : start+size]
		}
	}
	return pos, name, nil
}

// requestHead reads the line of kind at pos; next is where the one after it
// starts, or 0 if more bytes are needed.
func requestHead(b []byte, pos int, kind byte) (value, next int, err error) {
	if pos >= len(b) {
		return 0, 0, nil
	}
	if b[pos] != kind {
		return 0, 0, errRequest
	}
	for i := pos + 1; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			if value = value*10 + int(c-'0'); value > maxRequest {
				return 0, 0, errRequest
			}
		case c == '\r' && i > pos+1:
			switch {
			case i+1 == len(b):
				return 0, 0, nil
			case b[i+1] != '\n':
				return 0, 0, errRequest
			}
			return value, i + 2, nil
		default:
			return 0, 0, errRequest
		}
	}
	return 0, 0, nil
}

// requestArgs copies the arguments of a complete command.
func requestArgs(b []byte) []string {
	if b[0] != '*' {
		return strings.Fields(string(b))
	}
	elems, pos, _ := requestHead(b, 0, '*')
	args := make([]string, 0, min(elems, 1024))
	for range elems {
		size, start, _ := requestHead(b, pos, '$')
		args = append(args, string(b[start:start+size]))
		pos = start + size + 2
	}
	return args
}

// A verb is what the proxy has to know about a command.
type verb uint8

const (
	verbPlain verb = iota // forwarded and not looked at
	verbAsking
	verbAuth
	verbBlocking      // may wait in the server
	verbBlockingArray // the same; its null is that of an array
	verbClient
	verbCluster
	verbEndTx // EXEC, DISCARD
	verbHello
	verbInfo
	verbMonitor
	verbMulti
	verbPing
	verbReadOnly // READONLY, READWRITE
	verbReset
	verbRole
	verbSelect
	verbStream // XREAD, XREADGROUP: blocking if they say so
	verbSubscribe
	verbSync // a replica begins to follow; what comes then are no commands
	verbUnsubscribe
)

// verbOf classifies a command's name in any case, without allocating.
func verbOf(name []byte) verb {
	var buf [16]byte
	if len(name) > len(buf) {
		return verbPlain
	}
	for i, c := range name {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	switch string(buf[:len(name)]) {
	case "ASKING":
		return verbAsking
	case "AUTH":
		return verbAuth
	case "BRPOPLPUSH", "BLMOVE":
		return verbBlocking
	case "BLPOP", "BRPOP", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP":
		return verbBlockingArray
	case "CLIENT":
		return verbClient
	case "CLUSTER":
		return verbCluster
	case "DISCARD", "EXEC":
		return verbEndTx
	case "HELLO":
		return verbHello
	case "INFO":
		return verbInfo
	case "MONITOR":
		return verbMonitor
	case "MULTI":
		return verbMulti
	case "PING":
		return verbPing
	case "READONLY", "READWRITE":
		return verbReadOnly
	case "RESET":
		return verbReset
	case "ROLE":
		return verbRole
	case "SELECT":
		return verbSelect
	case "XREAD", "XREADGROUP":
		return verbStream
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE":
		return verbSubscribe
	case "PSYNC", "SYNC":
		return verbSync
	case "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE":
		return verbUnsubscribe
	}
	return verbPlain
}
