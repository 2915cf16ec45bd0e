package redis

import "errors"

// scanInto stores b in what dst points to. (A later file completes it.)
func scanInto(b []byte, dst any) error {
	if s, ok := dst.(*string); ok {
		*s = string(b)
		return nil
	}
	return errors.New("redis: can't scan")
}
