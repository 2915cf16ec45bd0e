// Package rig sets up what a measurement needs: a server, relays that delay or hold
// back what it says, processes beside the measuring one, and clients.
package rig

import (
	"context"
	"fmt"

	"github.com/baton-go/redis/internal/realserver"
)

// StartServer starts the real server called name, one of those that "make servers"
// unpacks. Whoever calls it must call Stop.
func StartServer(ctx context.Context, name string) (*realserver.Server, error) {
	path, ok := realserver.Find(name)
	if !ok {
		return nil, fmt.Errorf("%s is not there: run 'make servers' to get it", name)
	}
	return realserver.Launch(ctx, path, realserver.Config{Args: []string{
		"--maxclients", "4000",
		"--client-output-buffer-limit", "normal", "0", "0", "0",
	}})
}
