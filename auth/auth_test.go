package auth_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/baton-go/redis/auth"
)

func TestBasicCredentials(t *testing.T) {
	c := auth.NewBasicCredentials("ann", "secret")
	if user, password := c.BasicAuth(); user != "ann" || password != "secret" {
		t.Errorf("got %s and %s", user, password)
	}
	if got := c.RawCredentials(); got != "ann:secret" {
		t.Errorf("got %s", got)
	}
	if text := fmt.Sprintf("%v %s", c, c); strings.Contains(text, "secret") {
		t.Errorf("the password is shown: %s", text)
	}
}

func TestReAuthListener(t *testing.T) {
	refused := errors.New("refused")
	var got auth.Credentials
	var errs []error
	l := auth.NewReAuthCredentialsListener(func(c auth.Credentials) error {
		got = c
		return refused
	}, func(err error) { errs = append(errs, err) })
	next := auth.NewBasicCredentials("ann", "new")
	l.OnNext(next)
	l.OnError(errors.New("no source"))
	if got != next || len(errs) != 2 || !errors.Is(errs[0], refused) {
		t.Errorf("got %v and %v", got, errs)
	}
	none := auth.NewReAuthCredentialsListener(nil, nil)
	none.OnNext(next)
	none.OnError(refused)
}
