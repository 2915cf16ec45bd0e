package redis_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	redis "github.com/baton-go/redis"
)

// swallow makes the system drop whatever comes in for a connection, so that not even an
// acknowledgement goes out: its peer sends into a hole.
func swallow(t *testing.T, nc net.Conn) {
	t.Helper()
	raw, err := nc.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	drop := syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K}
	program := syscall.SockFprog{Len: 1, Filter: &drop}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		words := unsafe.String((*byte)(unsafe.Pointer(&program)), unsafe.Sizeof(program))
		failed = syscall.SetsockoptString(int(fd), syscall.SOL_SOCKET, syscall.SO_ATTACH_FILTER, words)
	}); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	runtime.KeepAlive(&drop)
}

// A BLPOP without a timeout ends some time after its server has gone without a word,
// whether it is waiting or on its way then.
func TestBlockingForEverEndsInAHole(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]string{"waiting": "blpop", "on its way": "ping"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holed, over := make(chan struct{}), make(chan struct{})
			addr := serve(t, func(nc net.Conn) {
				in := bufio.NewReader(nc)
				for {
					args, err := readCommand(in)
					if err != nil {
						return
					}
					out := handshakeReply(args)
					if args[0] == "ping" {
						out = "+PONG\r\n"
					}
					if _, err := io.WriteString(nc, out); err != nil {
						return
					}
					if args[0] == last {
						swallow(t, nc)
						close(holed)
						<-over
						return
					}
				}
			})
			c := newClient(t, &redis.Options{Addr: addr})
			cn := c.Conn()
			defer cn.Close()
			if last == "ping" {
				want(t, "PING", cn.Ping(t.Context()).Result, "PONG")
				<-holed
			}
			began := time.Now()
			err := cn.BLPop(soon(t), 0, "k").Err()
			took := time.Since(began)
			close(over)
			t.Logf("after %v: %v", took, err)
			if redis.DeliveryOf(err) != redis.MaybeSent || !errors.Is(err, syscall.ETIMEDOUT) || took < 25*time.Second || took > 40*time.Second {
				t.Errorf("got %v after %v, want a timeout of the system's after 30s", err, took)
			}
		})
	}
}
