package redis_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets more tests run beside each other than there are processors, unless
// -parallel says how many: those that are parallel wait for most of their time.
func TestMain(m *testing.M) {
	isSet := false
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if !isSet {
		_ = flag.Set("test.parallel", "5")
	}
	goleak.VerifyTestMain(m)
}
