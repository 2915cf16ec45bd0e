//go:build unix

package realserver

import "syscall"

// Pause stops the server in its tracks, as a machine that hangs would: its
// sockets stay open and nothing answers.
func (s *Server) Pause() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.resume() }

func (s *Server) resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

func (s *Server) terminate() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
