package redis

// LetWaitsRoam makes the client treat WAIT and WAITAOF as any other command that blocks,
// which is the fault that tests of them must find. It is called before first use.
func (c *Client) LetWaitsRoam() { c.waitsRoam = true }
