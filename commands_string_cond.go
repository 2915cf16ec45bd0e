package redis

import (
	"strconv"
	"strings"
)

// condition appends the condition of a SET or DELEX with what it compares.
func (c *baseCmd) condition(mode string, value any, digest uint64) {
	if mode == "" {
		return
	}
	c.str(mode)
	switch strings.ToLower(mode) {
	case "ifeq", "ifne":
		c.arg(value)
	case "ifdeq", "ifdne":
		c.digest(digest)
	}
}

// digest appends a digest as the server shows it: 16 hexadecimal digits.
func (c *baseCmd) digest(d uint64) {
	s := strconv.FormatUint(d, 16)
	c.str("0000000000000000"[len(s):] + s)
}
