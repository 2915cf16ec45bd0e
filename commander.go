package redis

import "context"

type statefulCmdable func(ctx context.Context, cmd Cmder) error
type StatefulCmdable interface{}
