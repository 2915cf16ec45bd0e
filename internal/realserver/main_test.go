package realserver

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets more tests run beside each other than there are processors, unless
// -parallel says how many: most of their time clusters form and elect.
func TestMain(m *testing.M) {
	isSet := false
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if !isSet {
		_ = flag.Set("test.parallel", "6")
	}
	os.Exit(m.Run())
}
