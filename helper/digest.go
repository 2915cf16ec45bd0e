package helper

import (
	"encoding/binary"
	"math/bits"
)

// DigestBytes gives the digest that DIGEST answers for a value: 64 bits of XXH3, without
// a seed. With it, SetIFDEQ and the like need no round trip before.
func DigestBytes(data []byte) uint64 {
	switch n := len(data); {
	case n <= 16:
		return digestShort(data)
	case n <= 128:
		return digestMedium(data)
	case n <= 240:
		return digestLonger(data)
	}
	return digestLong(data)
}

// DigestString is DigestBytes of a string.
func DigestString(s string) uint64 { return DigestBytes([]byte(s)) }

// The primes of XXH3, as its specification has them.
const (
	prime32x1 = 0x9E3779B1
	prime32x2 = 0x85EBCA77
	prime32x3 = 0xC2B2AE3D
	prime64x1 = 0x9E3779B185EBCA87
	prime64x2 = 0xC2B2AE3D27D4EB4F
	prime64x3 = 0x165667B19E3779F9
	prime64x4 = 0x85EBCA77C2B2AE63
	prime64x5 = 0x27D4EB2F165667C5
	primeMix1 = 0x165667919E3779F9
	primeMix2 = 0x9FB21C651E98DF25
)

// secret is the default secret of XXH3, as its specification has it.
const secret = "\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe\x7c\x01\x81\x2c\xf7\x21\xad\x1c\xde\xd4\x6d\xe9\x83\x90\x97\xdb\x72\x40\xa4\xa4\xb7\xb3\x67\x1f" +
	"\xcb\x79\xe6\x4e\xcc\xc0\xe5\x78\x82\x5a\xd0\x7d\xcc\xff\x72\x21\xb8\x08\x46\x74\xf7\x43\x24\x8e\xe0\x35\x90\xe6\x81\x3a\x26\x4c" +
	"\x3c\x28\x52\xbb\x91\xc3\x00\xcb\x88\xd0\x65\x8b\x1b\x53\x2e\xa3\x71\x64\x48\x97\xa2\x0d\xf9\x4e\x38\x19\xef\x46\xa9\xde\xac\xd8\xa8" +
	"\xfa\x76\x3f\xe3\x9c\x34\x3f\xf9\xdc\xbb\xc7\xc7\x0b\x4f\x1d\x8a\x51\xe0\x4b\xcd\xb4\x59\x31\xc8\x9f\x7e\xc9\xd9\x78\x73\x64\xea" +
	"\xc5\xac\x83\x34\xd3\xeb\xc3\xc5\x81\xa0\xff\xfa\x13\x63\xeb\x17\x0d\xdd\x51\xb7\xf0\xda\x49\xd3\x16\x55\x26\x29\xd4\x68\x9e\x2b" +
	"\x16\xbe\x58\x7d\x47\xa1\xfc\x8f\xf8\xb8\xd1\x7a\xd0\x31\xce\x45\xcb\x3a\x8f\x95\x16\x04\x28\xaf\xd7\xfb\xca\xbb\x4b\x40\x7e"

func secret64(at int) uint64 { return binary.LittleEndian.Uint64([]byte(secret[at : at+8])) }

func secret32(at int) uint64 { return uint64(binary.LittleEndian.Uint32([]byte(secret[at : at+4]))) }

func word64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func word32(b []byte, at int) uint64 { return uint64(binary.LittleEndian.Uint32(b[at:])) }

// fold is the product's two halves, folded into one.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// avalanche spreads what is in h over all of its bits.
func avalanche(h uint64) uint64 {
	h ^= h >> 37
	h *= primeMix1
	return h ^ h>>32
}

func digestShort(b []byte) uint64 {
	n := uint64(len(b))
	switch {
	case n > 8:
		lo := word64(b, 0) ^ secret64(24) ^ secret64(32)
		hi := word64(b, len(b)-8) ^ secret64(40) ^ secret64(48)
		return avalanche(n + bits.ReverseBytes64(lo) + hi + fold(lo, hi))
	case n >= 4:
		h := word32(b, len(b)-4) + word32(b, 0)<<32
		h ^= secret64(8) ^ secret64(16)
		h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
		h *= primeMix2
		h ^= h>>35 + n
		h *= primeMix2
		return h ^ h>>28
	case n > 0:
		h := uint64(b[0])<<16 | uint64(b[n/2])<<24 | uint64(b[n-1]) | n<<8
		return scatter(h ^ secret32(0) ^ secret32(4))
	}
	return scatter(secret64(56) ^ secret64(64))
}

// scatter is the avalanche of XXH64.
func scatter(h uint64) uint64 {
	h ^= h >> 33
	h *= prime64x2
	h ^= h >> 29
	h *= prime64x3
	return h ^ h>>32
}

// mix is 16 bytes with those of the secret.
func mix(b []byte, at, secretAt int) uint64 {
	return fold(word64(b, at)^secret64(secretAt), word64(b, at+8)^secret64(secretAt+8))
}

func digestMedium(b []byte) uint64 {
	h := uint64(len(b)) * prime64x1
	for i := (len(b) - 1) / 32; i >= 0; i-- {
		h += mix(b, 16*i, 32*i) + mix(b, len(b)-16*(i+1), 32*i+16)
	}
	return avalanche(h)
}

func digestLonger(b []byte) uint64 {
	h := uint64(len(b)) * prime64x1
	rounds := len(b) / 16
	for i := range 8 {
		h += mix(b, 16*i, 16*i)
	}
	h = avalanche(h)
	for i := 8; i < rounds; i++ {
		h += mix(b, 16*i, 16*(i-8)+3)
	}
	return avalanche(h + mix(b, len(b)-16, 136-17))
}

const (
	stripe        = 64
	secretStep    = 8
	stripesOfPart = (len(secret) - stripe) / secretStep
	part          = stripe * stripesOfPart
)

// accumulate takes a stripe into the eight lanes.
func accumulate(lanes *[8]uint64, b []byte, secretAt int) {
	for i := range lanes {
		v := word64(b, 8*i)
		k := v ^ secret64(secretAt+8*i)
		lanes[i^1] += v
		lanes[i] += uint64(uint32(k)) * (k >> 32)
	}
}

func digestLong(b []byte) uint64 {
	lanes := [8]uint64{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	n := uint64(len(b))
	last := b[len(b)-stripe:]
	for ; len(b) > part; b = b[part:] {
		for i := range stripesOfPart {
			accumulate(&lanes, b[stripe*i:], secretStep*i)
		}
		for i := range lanes {
			lanes[i] = (lanes[i] ^ lanes[i]>>47 ^ secret64(len(secret)-stripe+8*i)) * prime32x1
		}
	}
	for i := range (len(b) - 1) / stripe {
		accumulate(&lanes, b[stripe*i:], secretStep*i)
	}
	accumulate(&lanes, last, len(secret)-stripe-7)
	h := n * prime64x1
	for i := 0; i < 8; i += 2 {
		h += fold(lanes[i]^secret64(11+8*i), lanes[i+1]^secret64(11+8*i+8))
	}
	return avalanche(h)
}
