// Package auth has what a client needs to know of credentials that change while it
// runs.
package auth

// Credentials are what a connection authenticates with.
type Credentials interface {
	// BasicAuth gives user and password.
	BasicAuth() (username string, password string)
	// RawCredentials gives them in the form of their source, a token for instance.
	RawCredentials() string
}

// CredentialsListener is told of new credentials. Its methods may be called by any
// goroutine.
type CredentialsListener interface {
	// OnNext gets the credentials that count from now on.
	OnNext(credentials Credentials)
	// OnError gets what went wrong in asking for new ones; the old ones still count.
	OnError(err error)
}

// UnsubscribeFunc ends a subscription. It may be called twice.
type UnsubscribeFunc func() error

// StreamingCredentialsProvider is a source of credentials that change.
type StreamingCredentialsProvider interface {
	// Subscribe gives the credentials of now, and tells listener of all that follow
	// until the subscription is ended. To subscribe a listener again is the same
	// subscription.
	Subscribe(listener CredentialsListener) (Credentials, UnsubscribeFunc, error)
}

// basic are a user and a password.
type basic struct{ username, password string }

// NewBasicCredentials makes credentials of a user and a password.
func NewBasicCredentials(username, password string) Credentials { return &basic{username, password} }

func (b *basic) BasicAuth() (username string, password string) { return b.username, b.password }

// RawCredentials is user:password.
func (b *basic) RawCredentials() string { return b.username + ":" + b.password }

// String does not show them.
func (b *basic) String() string { return "credentials of " + b.username }

// ReAuthCredentialsListener is a listener made of two functions.
type ReAuthCredentialsListener struct {
	reAuth func(Credentials) error
	onErr  func(error)
}

// NewReAuthCredentialsListener makes a listener that calls reAuth with new credentials,
// and onErr with its errors and those of the provider. Either may be nil.
func NewReAuthCredentialsListener(reAuth func(Credentials) error, onErr func(error)) *ReAuthCredentialsListener {
	return &ReAuthCredentialsListener{reAuth: reAuth, onErr: onErr}
}

// OnNext calls reAuth.
func (l *ReAuthCredentialsListener) OnNext(credentials Credentials) {
	if l.reAuth == nil {
		return
	}
	if err := l.reAuth(credentials); err != nil {
		l.OnError(err)
	}
}

// OnError calls onErr.
func (l *ReAuthCredentialsListener) OnError(err error) {
	if l.onErr != nil {
		l.onErr(err)
	}
}
