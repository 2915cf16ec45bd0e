// Package subject has the clients that are compared, each used as its own
// documentation shows.
package subject

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
)

// A Client is one open client. All methods but Close are called by many
// goroutines at once.
type Client interface {
	Get(ctx context.Context, key string) (string, error)
	Set(ctx context.Context, key, value string) error
	Incr(ctx context.Context, key string) (int64, error)
	// MGet puts the values of keys into values, which is as long.
	MGet(ctx context.Context, keys, values []string) error
	// Pipe sends ops together and puts what each GET found into values, which is
	// as long.
	Pipe(ctx context.Context, ops []Op, values []string) error
	Close() error
}

// An Op is one command of a pipeline: a GET, or a SET of Value.
type Op struct {
	Key   string
	Value string
	Set   bool
}

// A Server is where clients connect to.
type Server struct {
	Network string // "tcp" or "unix"
	Addr    string // host and port, or the path of the socket
	TLS     *tls.Config
	Nodes   []string // of a cluster; nil where it is a single server
}

// NotMeasured is the error of a client that can't work with a server at all, which is
// no failure. It says why.
type NotMeasured string

func (n NotMeasured) Error() string { return string(n) }

// A Setting is one way to configure a client.
type Setting struct {
	Name string
	Open func(Server) (Client, error)
}

// A Subject is a client that is compared. Where it has several settings, the one
// that is fastest in a trial is measured, anew for each kind of work.
type Subject struct {
	Name     string
	Family   Family
	Explain  string
	Settings []Setting
}

// A Family is a library.
type Family string

// The families.
const (
	FamilyBaton   Family = "baton"
	FamilyGoRedis Family = "goredis"
	FamilyRueidis Family = "rueidis"
	FamilyRedigo  Family = "redigo"
)

// The names that targets refer to.
const (
	Baton               = "baton"
	BatonNoPoll         = "baton-nopoll"
	BatonOff            = "baton-off"
	GoRedis             = "goredis"
	GoRedisAutoPipeline = "goredis-autopipeline"
	Rueidis             = "rueidis"
	RueidisDelay        = "rueidis-delay"
	RueidisAlways       = "rueidis-always"
	Redigo              = "redigo"
)

// All returns the subjects in the order in which they are shown.
func All() []Subject {
	return slices.Concat(batons(), goRedises(), rueidises(), redigos())
}

// Names are the names of subjects.
func Names(subjects []Subject) []string {
	names := make([]string, len(subjects))
	for i, s := range subjects {
		names[i] = s.Name
	}
	return names
}

// Select returns the subjects with these names, in the order of [All].
func Select(names []string) ([]Subject, error) {
	all := All()
	for _, name := range names {
		if !slices.Contains(Names(all), name) {
			return nil, fmt.Errorf("no subject is called %q; there are %s", name, strings.Join(Names(all), ", "))
		}
	}
	return slices.DeleteFunc(all, func(s Subject) bool { return !slices.Contains(names, s.Name) }), nil
}
