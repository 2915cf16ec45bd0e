//go:build unix

package realserver

import "syscall"

// Pause stops the server in its tracks, as a machine that hangs would: its
// sockets stay open and nothing answers.
func (s *Server) Pause() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.resume() }

// Pause stops the node at addr in its tracks; after the node timeout the others hold it
// to be down.
func (c *Cluster) Pause(addr string) error {
	n, err := c.at(addr)
	if err != nil {
		return err
	}
	n.paused.Store(true)
	return n.server().Pause()
}

// Resume lets a paused node go on.
func (c *Cluster) Resume(addr string) error {
	n, err := c.at(addr)
	if err != nil {
		return err
	}
	if err := n.server().Resume(); err != nil {
		return err
	}
	n.paused.Store(false)
	return nil
}

func (s *Server) resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

func (s *Server) terminate() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
