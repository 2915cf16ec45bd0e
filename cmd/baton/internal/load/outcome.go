package load

import (
	"errors"
	"regexp"

	"github.com/baton-go/redis"
)

// An Outcome is what became of one command.
type Outcome uint8

// The outcomes.
const (
	// Acknowledged: the server answered, no data being an answer, too.
	Acknowledged Outcome = iota
	// Failed: it was not executed, because it was never sent or was refused.
	Failed
	// Unknown: it was sent and not answered.
	Unknown
)

// Classify says what an error, nil included, means for its command.
func Classify(err error) Outcome {
	if err == nil || errors.Is(err, redis.Nil) {
		return Acknowledged
	}
	switch redis.DeliveryOf(err) {
	case redis.MaybeSent:
		return Unknown
	case redis.NotSent, redis.Rejected:
	}
	return Failed
}

// What differs between messages about the same thing: the client's own port, keys,
// parts of a second, how often something was tried, and where a slot is.
var (
	redirect = regexp.MustCompile(`\b(MOVED|ASK) \d+ \S+`)
	ownPort  = regexp.MustCompile(`(tcp )?\[?[0-9a-fA-F.:]+\]?:\d+->`)
	ownKey   = regexp.MustCompile(regexp.QuoteMeta(keyPrefix) + `[^\s"]*`)
	parts    = regexp.MustCompile(`\b(\d+)\.\d+(m?s)\b`)
	attempts = regexp.MustCompile(`; \d+ attempts`)
)

// Message is err's text without what differs from one time to the next.
func Message(err error) string {
	s := ownPort.ReplaceAllString(err.Error(), "${1}")
	s = ownKey.ReplaceAllString(s, "<key>")
	s = redirect.ReplaceAllString(s, "$1 <slot> <address>")
	s = parts.ReplaceAllString(s, "$1$2")
	return attempts.ReplaceAllString(s, "; several attempts")
}
