//go:build !unix

package maintsim

import "net"

// shrinkBacklog does nothing where it isn't known how.
func shrinkBacklog(net.Listener) bool { return false }
