package redis

import (
	"context"
)

// ClientTrackingOptions say which keys the server tells the connection about.
type ClientTrackingOptions struct {
	Redirect int64    // the number of the connection that is told; 0: this one, with RESP3
	Prefixes []string // with Bcast: of which keys; none: of all
	Bcast    bool     // of keys with the prefixes, not of those that were read
	OptIn    bool     // only of keys read after CLIENT CACHING YES
	OptOut   bool     // not of keys read after CLIENT CACHING NO
	NoLoop   bool     // not of what this connection changes
}

// ClientTracking makes the server tell when keys change that the connection has read, or
// ends that. Options count only with on. It changes the connection, so it is for a Conn or
// its pipeline; what the server tells is a push, for which a handler can be registered.
// Since Redis 6.0, O(1).
func (c cmdable) ClientTracking(ctx context.Context, on bool, opts *ClientTrackingOptions) *StatusCmd {
	if on {
		return c.ClientTrackingOn(ctx, opts)
	}
	return c.ClientTrackingOff(ctx)
}

// ClientTrackingOn is ClientTracking switched on; nil options are the zero value. Since
// Redis 6.0, O(1).
func (c cmdable) ClientTrackingOn(ctx context.Context, opts *ClientTrackingOptions) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "tracking")
	cmd.str("on")
	if opts != nil {
		cmd.optInt(opts.Redirect != 0, "redirect", opts.Redirect)
		for _, prefix := range opts.Prefixes {
			cmd.strs("prefix", prefix)
		}
		cmd.opt(opts.Bcast, "bcast")
		cmd.opt(opts.OptIn, "optin")
		cmd.opt(opts.OptOut, "optout")
		cmd.opt(opts.NoLoop, "noloop")
	}
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// ClientTrackingOff is ClientTracking switched off. Since Redis 6.0, O(1).
func (c cmdable) ClientTrackingOff(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "tracking")
	cmd.str("off")
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// ClientMaintNotifications asks a connection's server to announce maintenance, and to
// name the endpoint to move to in one of several ways, such as "internal-ip" or "none",
// or not to. The client does it for its own connections; see
// Options.MaintNotificationsConfig. An error of the server says that it announces
// nothing. Since Redis Software 8.0.2, O(1); open-source Redis and Valkey do not have it.
func (c cmdable) ClientMaintNotifications(ctx context.Context, enabled bool, endpointType string) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.sub("client", "maint_notifications")
	if enabled {
		cmd.str("on")
		if endpointType == "" {
			endpointType = "none"
		}
		cmd.strs("moving-endpoint-type", endpointType)
	} else {
		cmd.str("off")
	}
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

// Quit makes the server close the connection after its reply, so it is for a Conn; Close
// does as well. Since Redis 1.0, O(1).
func (c cmdable) Quit(ctx context.Context) *StatusCmd {
	cmd := roomy[StatusCmd]()
	cmd.begin("quit")
	cmd.lane = laneSession
	_ = c(ctx, cmd)
	return cmd
}

//------------------------------------------------------------------------------
