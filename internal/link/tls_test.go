package link

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// secure makes a TLS connection and returns both ends.
func (t *tester) secure() (client *tls.Conn, srv *tls.Conn) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"db.example"}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	nc, raw := t.connect()
	client = tls.Client(nc, &tls.Config{ServerName: "db.example", RootCAs: roots, Time: time.Now})
	srv = tls.Server(raw.c, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}})
	done := make(chan error, 1)
	go func() { done <- srv.Handshake() }()
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return client, srv
}

func (t *tester) overTLS() (*Link, net.Conn) {
	t.Helper()
	client, srv := t.secure()
	l, err := Open(t.Context(), client, t.cfg, Handshake{Protocol: 2})
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	return l, srv
}

// Closing TLS wants to say goodbye; a peer that doesn't listen must not delay it. What
// went out of a record that was cut, nobody can decrypt.
func TestCloseOverTLSDoesNotWaitForThePeer(t *testing.T) {
	for name, test := range map[string]struct {
		takes int // bytes
		want  Delivery
	}{"part of a record": {1000, NotSent}, "some records": {5000, MaybeSent}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *tester) {
				l, _ := t.overTLS()
				t.net.SetBuffer(addr, test.takes)
				a := t.Do(l, "SET a "+strings.Repeat("x", 100_000))
				b := t.Do(l, "GET b")
				l.Close(nil)
				t.gone(l)
				t.at(0)
				a.WantError(test.want, ErrClosed, 0)
				b.WantError(NotSent, ErrClosed, 0)
			})
		})
	}
}

func TestWriteTimeoutOverTLSIsExact(t *testing.T) {
	bubble(t, func(t *tester) {
		l, _ := t.overTLS()
		t.net.SetBuffer(addr, 5000)
		r := t.Do(l, "SET a "+strings.Repeat("x", 100_000))
		r.WantTimeout("write", writeTimeout, writeTimeout)
		t.gone(l)
	})
}

func TestDrainOverTLSSaysGoodbye(t *testing.T) {
	bubble(t, func(t *tester) {
		l, srv := t.overTLS()
		r := t.Do(l, "GET a")
		l.Drain()
		br := bufio.NewReader(srv)
		if got, err := readCommand(br); got != "GET a" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := srv.Write([]byte("+a\r\n")); err != nil {
			t.Fatal(err)
		}
		r.Want("+a\r\n")
		t.gone(l)
		synctest.Wait()
		if _, err := br.ReadByte(); err == nil || !strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "unexpected") {
			t.Errorf("got %v, want a proper end", err)
		}
	})
}
