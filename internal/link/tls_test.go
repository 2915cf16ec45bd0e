package link

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	rand2 "math/rand/v2"
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
	client = tls.Client(Gate(nc), &tls.Config{ServerName: "db.example", RootCAs: roots, Time: time.Now})
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

// All records that have come are read at once, though TLS hands over one at a time; and
// one that holds no bytes, such as a session ticket, is not waited behind.
func TestRecordsAreReadTogether(t *testing.T) {
	bubble(t, func(t *tester) {
		client, srv := t.secure()
		g := gateOf(client)
		buf := make([]byte, 64<<10)
		for range 3 {
			var want strings.Builder
			for i := range 20 {
				part := strings.Repeat("x", i*i*i)
				want.WriteString(part)
				if _, err := srv.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			n, err := g.readAll(client, buf)
			if err != nil || string(buf[:n]) != want.String() {
				t.Errorf("got %d bytes, %v, want all %d", n, err, want.Len())
			}
		}
		_ = srv.Close()
		if n, err := g.readAll(client, buf); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("got %d bytes, %v, want the end", n, err)
		}
		_ = client.Close()
	})
}

// In whatever pieces bytes come, and are asked for, none is lost or changed.
func TestGatesKeepTheStream(t *testing.T) {
	rng := rand2.New(rand2.NewPCG(1, 2))
	bubble(t, func(t *tester) {
		t.bend = func(nc net.Conn) net.Conn { return &piecemeal{Conn: nc} }
		client, srv := t.secure()
		g := gateOf(client)
		sent := make([]byte, 1<<20)
		for i := range sent {
			sent[i] = byte(rng.Uint32())
		}
		go func() {
			for rest := sent; len(rest) > 0; {
				n := min(1+rng.IntN(40_000), len(rest))
				if _, err := srv.Write(rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
			_ = srv.Close()
		}()
		var got []byte
		for {
			buf := make([]byte, 1+len(got)%30_000)
			n, err := g.readAll(client, buf)
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		if !bytes.Equal(got, sent) {
			t.Errorf("got %d bytes, want the %d that were sent", len(got), len(sent))
		}
		_ = client.Close()
	})
}

// piecemeal reads a few bytes at a time.
type piecemeal struct {
	net.Conn
	n int
}

func (p *piecemeal) Read(b []byte) (int, error) {
	p.n++
	return p.Conn.Read(b[:min(len(b), 1+p.n*p.n%20_000)])
}
