package helper_test

import (
	"math"
	"testing"

	"github.com/baton-go/redis/helper"
)

// sample gives bytes that look random.
func sample(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// TestDigest has lengths around every limit of the algorithm; the digests are those of
// another implementation, zeebo/xxh3.
func TestDigest(t *testing.T) {
	all := sample(5000)
	for _, c := range []struct {
		n    int
		want uint64
	}{
		{0, 0x2d06800538d394c2},
		{1, 0x429e81bc6744101c},
		{2, 0xa65771cbfd464c2d},
		{3, 0x32dbb5c7774cc94f},
		{4, 0x65775238ca34c06f},
		{5, 0xd3bdebb681920cdf},
		{7, 0x39027a52dcba383e},
		{8, 0x90b760c9d253d0ff},
		{9, 0x15ae9f843bb50ea4},
		{12, 0x8b715eccbb8c022c},
		{16, 0x372c92fa68129c98},
		{17, 0xb5d6b9c1898bd9d6},
		{32, 0x0ab1dbf9e9f8c22c},
		{33, 0x4f4ae280e8465c3c},
		{64, 0x84fcac4cce9f990d},
		{65, 0x2c9f18dff914a8bd},
		{96, 0xe1e1ba1b4e47ded7},
		{97, 0x5cc877781800cb6b},
		{128, 0xc59e505a97d029e0},
		{129, 0xf9e651a476d6d3ca},
		{143, 0x4916c14bd2fd8e2a},
		{144, 0x6630fc8e0296f27f},
		{160, 0x35073e7743b6b66a},
		{200, 0x85d691776ef97dbe},
		{240, 0x967597e635f3c527},
		{241, 0xd6afac6f8fa85b01},
		{255, 0x22062a421972fdde},
		{256, 0x9e6593bab96413da},
		{257, 0xc7f456fff4eaca08},
		{511, 0xf8e3fbcf89733a1a},
		{512, 0x426b67e0356d303d},
		{513, 0xb757ecc047a39809},
		{1023, 0x120a0457e3e899f6},
		{1024, 0xbb9f0c3761cdfd54},
		{1025, 0x95edccc1adc4d895},
		{1088, 0xe8391a3978cbcf06},
		{2048, 0x278f7a6a39416b51},
		{2049, 0x644272755e8980a0},
		{4999, 0xea18e5dd8fd15f51},
		{5000, 0x06983d4ce0939f36},
	} {
		if got := helper.DigestBytes(all[:c.n]); got != c.want {
			t.Errorf("%d bytes: got %016x, want %016x", c.n, got, c.want)
		}
		if got := helper.DigestString(string(all[:c.n])); got != c.want {
			t.Errorf("a string of %d bytes: got %016x, want %016x", c.n, got, c.want)
		}
	}
}

func TestParseFloat(t *testing.T) {
	for text, want := range map[string]float64{"1.5": 1.5, "-0": 0, "inf": math.Inf(1), "-inf": math.Inf(-1), "1e3": 1000} {
		if got, err := helper.ParseFloat(text); got != want || err != nil {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	if got := helper.MustParseFloat("nan"); !math.IsNaN(got) {
		t.Errorf("nan: got %v", got)
	}
	for _, text := range []string{"", "x", "1.5 "} {
		if got, err := helper.ParseFloat(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParseFloat does not panic")
		}
	}()
	helper.MustParseFloat("x")
}
