//go:build !unix

package realserver

func (s *Server) resume() error { return nil }

func (s *Server) terminate() error { return s.cmd.Process.Kill() }
