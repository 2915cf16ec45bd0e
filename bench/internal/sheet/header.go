package sheet

import "runtime"

// A Header begins what is written as JSON: what it is, and where it was measured. Its
// names are stable.
type Header struct {
	Schema string `json:"schema"` // the form of what follows
	Server string `json:"server"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	CPUs   int    `json:"cpus"`
}

// NewHeader makes one of this process.
func NewHeader(schema, server string) Header {
	return Header{
		Schema: schema, Server: server, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0),
	}
}
