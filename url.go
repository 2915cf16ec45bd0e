package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ParseURL makes Options of a URL:
//
//	redis://user:password@host:6379/2?option=value   a database, by TCP
//	rediss://...                                     the same with TLS
//	unix://user:password@/path/to/socket?db=2        a unix socket
//
// Options are the fields' names in lower case with underscores: protocol,
// client_name, max_retries, min_retry_backoff, max_retry_backoff, dial_timeout,
// dialer_retries, dialer_retry_timeout, read_timeout, write_timeout, pool_fifo,
// pool_size, pool_timeout, min_idle_conns, max_idle_conns, max_active_conns,
// conn_max_idle_time, conn_max_lifetime, conn_max_lifetime_jitter,
// max_concurrent_dials, skip_verify, db. Durations are numbers of seconds or have a
// unit ("250ms"); 0 or less means none. Every problem of the URL is reported; the
// password is not.
func ParseURL(redisURL string) (*Options, error) { return parseURL(redisURL, optionsOf) }

// parseURL makes options of a URL, by what takes it apart.
func parseURL[T any](redisURL string, take func(u *url.URL) (*T, error)) (*T, error) {
	u, err := url.Parse(redisURL)
	if err != nil {
		return nil, urlError(err)
	}
	o, err := take(u)
	// Where an @ is not what ends the password, the password is not where it is
	// looked for: then nothing of the URL is repeated.
	if hasStrayAt := u.User == nil && strings.Contains(redisURL, "@"); hasStrayAt && (err != nil || u.Fragment != "") {
		err = urlError(nil)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// urlError is the error of a URL that can't be parsed. The parser's own repeats
// parts of the URL, and with them, where a character is not escaped, the password.
func urlError(err error) error {
	for _, known := range []string{
		"missing protocol scheme", "invalid port", "invalid URL escape", "invalid userinfo", "invalid control character",
		"invalid character", "first path segment",
	} {
		if err != nil && strings.Contains(err.Error(), known) {
			return fmt.Errorf("redis: invalid URL: %s; %s", known, escapeHint)
		}
	}
	return errors.New("redis: invalid URL; " + escapeHint)
}

const escapeHint = "characters such as / ? # % [ in a password must be escaped"

// optionsOf takes a URL apart. On an error the Options are incomplete.
func optionsOf(u *url.URL) (*Options, error) {
	o := &Options{}
	if u.User != nil {
		o.Username = u.User.Username()
		o.Password, _ = u.User.Password()
	}
	var err error
	switch u.Scheme {
	case "redis", "rediss":
		err = o.setHost(u)
	case "unix":
		o.Network, o.Addr = "unix", u.Path
		if strings.TrimSpace(u.Path) == "" {
			err = errors.New("redis: a unix URL needs the socket's path")
		}
	default:
		return o, fmt.Errorf("redis: URL scheme %q is none of redis, rediss, unix", u.Scheme)
	}
	return o, errors.Join(err, o.setQuery(u.Query()))
}

// ParseClusterURL makes ClusterOptions of a URL:
//
//	redis://user:password@host:6379?addr=host2:6379&addr=host3:6379
//	rediss://...                                     the same with TLS
//
// The host and each addr are nodes of the cluster. Other options are those of ParseURL,
// but for db and skip_verify, and also max_redirects, read_only, route_by_latency,
// route_by_latency_tolerance, route_randomly and failing_timeout_seconds.
func ParseClusterURL(redisURL string) (*ClusterOptions, error) {
	return parseURL(redisURL, clusterOptionsOf)
}

// clusterOptionsOf takes the URL of a cluster apart. On an error the options are
// incomplete.
func clusterOptionsOf(u *url.URL) (*ClusterOptions, error) {
	o := &Options{}
	if u.User != nil {
		o.Username = u.User.Username()
		o.Password, _ = u.User.Password()
	}
	if u.Scheme != "redis" && u.Scheme != "rediss" {
		return nil, fmt.Errorf("redis: URL scheme %q is none of redis, rediss", u.Scheme)
	}
	err := o.setHost(u)
	p := queryParser{q: u.Query()}
	p.common(o)
	c := &ClusterOptions{
		Addrs: append([]string{o.Addr}, p.addrs("addr")...), ClientName: o.ClientName, TLSConfig: o.TLSConfig,
		Protocol: o.Protocol, Username: o.Username, Password: o.Password,
		MaxRetries: o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries, DialerRetryTimeout: o.DialerRetryTimeout,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		PoolFIFO: o.PoolFIFO, PoolSize: o.PoolSize, MaxConcurrentDials: o.MaxConcurrentDials,
		PoolTimeout: o.PoolTimeout, MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns,
		MaxActiveConns: o.MaxActiveConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime,
		ConnMaxLifetimeJitter: o.ConnMaxLifetimeJitter, PipelinePoolSize: o.PipelinePoolSize,
	}
	p.int("max_redirects", &c.MaxRedirects)
	p.bool("read_only", &c.ReadOnly)
	p.bool("route_by_latency", &c.RouteByLatency)
	p.duration("route_by_latency_tolerance", &c.RouteByLatencyTolerance)
	p.bool("route_randomly", &c.RouteRandomly)
	p.int("failing_timeout_seconds", &c.FailingTimeoutSeconds)
	return c, errors.Join(err, p.end())
}

// ParseFailoverURL makes FailoverOptions of a URL:
//
//	redis://user:password@sentinel1:26379/0?addr=sentinel2:26379&master_name=main
//	rediss://...                                     the same with TLS
//
// The host and each addr are sentinels; user, password and database are the servers'.
// Other options are those of ParseURL, but for skip_verify, and also master_name,
// sentinel_username, sentinel_password, route_by_latency, route_by_latency_tolerance,
// route_randomly, replica_only, use_disconnected_replicas and failing_timeout_seconds.
func ParseFailoverURL(redisURL string) (*FailoverOptions, error) {
	return parseURL(redisURL, failoverOptionsOf)
}

// failoverOptionsOf takes the URL of sentinels apart. On an error the options are
// incomplete.
func failoverOptionsOf(u *url.URL) (*FailoverOptions, error) {
	o := &Options{}
	if u.User != nil {
		o.Username = u.User.Username()
		o.Password, _ = u.User.Password()
	}
	if u.Scheme != "redis" && u.Scheme != "rediss" {
		return nil, fmt.Errorf("redis: URL scheme %q is none of redis, rediss", u.Scheme)
	}
	err := o.setHost(u)
	if o.TLSConfig != nil {
		o.TLSConfig.ServerName = "" // that of each server and sentinel
	}
	p := queryParser{q: u.Query()}
	p.int("db", &o.DB)
	p.common(o)
	f := &FailoverOptions{
		SentinelAddrs: append([]string{o.Addr}, p.addrs("addr")...), ClientName: o.ClientName, TLSConfig: o.TLSConfig,
		Protocol: o.Protocol, Username: o.Username, Password: o.Password, DB: o.DB,
		MaxRetries: o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, DialerRetries: o.DialerRetries, DialerRetryTimeout: o.DialerRetryTimeout,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		PoolFIFO: o.PoolFIFO, PoolSize: o.PoolSize, MaxConcurrentDials: o.MaxConcurrentDials,
		PoolTimeout: o.PoolTimeout, MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns,
		MaxActiveConns: o.MaxActiveConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime,
		ConnMaxLifetimeJitter: o.ConnMaxLifetimeJitter, PipelinePoolSize: o.PipelinePoolSize,
	}
	p.string("master_name", &f.MasterName)
	p.string("sentinel_username", &f.SentinelUsername)
	p.string("sentinel_password", &f.SentinelPassword)
	p.bool("route_by_latency", &f.RouteByLatency)
	p.duration("route_by_latency_tolerance", &f.RouteByLatencyTolerance)
	p.bool("route_randomly", &f.RouteRandomly)
	p.bool("replica_only", &f.ReplicaOnly)
	p.bool("use_disconnected_replicas", &f.UseDisconnectedReplicas)
	p.int("failing_timeout_seconds", &f.FailingTimeoutSeconds)
	return f, errors.Join(err, p.end())
}

// setHost takes host, port and database, and turns on TLS.
func (o *Options) setHost(u *url.URL) error {
	o.Network = "tcp"
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "localhost"
	}
	if port == "" {
		port = "6379"
	}
	o.Addr = net.JoinHostPort(host, port)
	if u.Scheme == "rediss" {
		o.TLSConfig = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	db := strings.Trim(u.Path, "/")
	if db == "" {
		return nil
	}
	n, err := strconv.Atoi(db)
	if err != nil || n < 0 {
		return fmt.Errorf("redis: invalid database number %q", db)
	}
	o.DB = n
	return nil
}

// setQuery takes the options of a URL.
func (o *Options) setQuery(q url.Values) error {
	p := queryParser{q: q}
	p.int("db", &o.DB)
	p.common(o)
	p.duration("idle_timeout", &o.ConnMaxIdleTime) // older name
	p.duration("max_conn_age", &o.ConnMaxLifetime) // older name
	skip := false
	p.bool("skip_verify", &skip)
	if skip && o.TLSConfig != nil {
		o.TLSConfig.InsecureSkipVerify = true
	}
	return p.end()
}

// common takes the options that URLs of servers and of clusters have.
func (p *queryParser) common(o *Options) {
	p.int("protocol", &o.Protocol)
	p.string("client_name", &o.ClientName)
	p.int("max_retries", &o.MaxRetries)
	p.duration("min_retry_backoff", &o.MinRetryBackoff)
	p.duration("max_retry_backoff", &o.MaxRetryBackoff)
	p.duration("dial_timeout", &o.DialTimeout)
	p.int("dialer_retries", &o.DialerRetries)
	p.duration("dialer_retry_timeout", &o.DialerRetryTimeout)
	p.duration("read_timeout", &o.ReadTimeout)
	p.duration("write_timeout", &o.WriteTimeout)
	p.bool("pool_fifo", &o.PoolFIFO)
	p.int("pool_size", &o.PoolSize)
	p.int("max_concurrent_dials", &o.MaxConcurrentDials)
	p.duration("pool_timeout", &o.PoolTimeout)
	p.int("min_idle_conns", &o.MinIdleConns)
	p.int("max_idle_conns", &o.MaxIdleConns)
	p.int("max_active_conns", &o.MaxActiveConns)
	p.duration("conn_max_idle_time", &o.ConnMaxIdleTime)
	p.duration("conn_max_lifetime", &o.ConnMaxLifetime)
	p.duration("conn_max_lifetime_jitter", &o.ConnMaxLifetimeJitter)
	p.int("pipeline_pool_size", &o.PipelinePoolSize)
}

// end tells everything that is wrong, options that nobody has taken among it.
func (p *queryParser) end() error {
	for name := range p.q {
		p.errs = append(p.errs, fmt.Errorf("redis: unknown URL option %q", name))
	}
	return errors.Join(p.errs...)
}

// queryParser takes options out of q and collects what is wrong with them.
type queryParser struct {
	q    url.Values
	errs []error
}

// take gives the last value of an option; ok false: it is not there, or empty.
func (p *queryParser) take(name string) (string, bool) {
	v := p.q[name]
	delete(p.q, name)
	if len(v) == 0 || v[len(v)-1] == "" {
		return "", false
	}
	return v[len(v)-1], true
}

// addrs gives all values of an option, which are addresses.
func (p *queryParser) addrs(name string) []string {
	list := p.q[name]
	delete(p.q, name)
	for _, addr := range list {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			p.errs = append(p.errs, fmt.Errorf("redis: URL option %s: it is no host:port", name))
		}
	}
	return list
}

func (p *queryParser) bad(name, value, want string) {
	p.errs = append(p.errs, fmt.Errorf("redis: URL option %s: %q is no %s", name, value, want))
}

func (p *queryParser) string(name string, to *string) {
	if v, ok := p.take(name); ok {
		*to = v
	}
}

func (p *queryParser) int(name string, to *int) {
	v, ok := p.take(name)
	if !ok {
		return
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		p.bad(name, v, "number")
		return
	}
	*to = n
}

func (p *queryParser) bool(name string, to *bool) {
	v, ok := p.take(name)
	if !ok {
		return
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		p.bad(name, v, "boolean")
		return
	}
	*to = b
}

func (p *queryParser) duration(name string, to *time.Duration) {
	v, ok := p.take(name)
	if !ok {
		return
	}
	d, err := time.ParseDuration(v)
	if n, convErr := strconv.Atoi(v); convErr == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil {
		p.bad(name, v, "duration")
		return
	}
	if d <= 0 {
		d = -1 // none
	}
	*to = d
}
