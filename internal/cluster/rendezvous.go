package cluster

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A Rendezvous spreads keys over named shards by rendezvous hashing: a key belongs to the
// shard whose hash, mixed with its own, is the largest, so that where a shard leaves only
// its own keys get another one. Names and keys are hashed by XXH64 and mixed by
// xorshift*, as other clients' rings do it, so that all find the same shard. It is
// immutable.
type Rendezvous struct {
	names  []string
	hashes []uint64
}

// NewRendezvous makes one of the shards' names.
func NewRendezvous(names []string) *Rendezvous {
	r := &Rendezvous{names: slices.Clone(names)}
	for _, n := range names {
		r.hashes = append(r.hashes, XXH64(n))
	}
	return r
}

// Get is the shard of a key, "" where there are no shards.
func (r *Rendezvous) Get(key string) string {
	if len(r.names) == 0 {
		return ""
	}
	hash := XXH64(key)
	best, most := 0, mix(hash^r.hashes[0])
	for i, h := range r.hashes[1:] {
		if m := mix(hash ^ h); m > most {
			best, most = i+1, m
		}
	}
	return r.names[best]
}

// mix is xorshift64* (Marsaglia; Vigna).
func mix(x uint64) uint64 {
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	return x * 2685821657736338717
}

// The primes of XXH64 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
const (
	prime1 uint64 = 0x9E3779B185EBCA87
	prime2 uint64 = 0xC2B2AE3D27D4EB4F
	prime3 uint64 = 0x165667B19E3779F9
	prime4 uint64 = 0x85EBCA77C2B2AE63
	prime5 uint64 = 0x27D4EB2F165667C5
)

// XXH64 is the 64-bit hash of that name with seed 0.
func XXH64(s string) uint64 {
	b := []byte(s)
	var h uint64
	if len(b) >= 32 {
		h, b = stripes(b)
	} else {
		h = prime5
	}
	h += uint64(len(s))
	for ; len(b) >= 8; b = b[8:] {
		h ^= round(0, binary.LittleEndian.Uint64(b))
		h = bits.RotateLeft64(h, 27)*prime1 + prime4
	}
	if len(b) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(b)) * prime1
		h = bits.RotateLeft64(h, 23)*prime2 + prime3
		b = b[4:]
	}
	for _, c := range b {
		h ^= uint64(c) * prime5
		h = bits.RotateLeft64(h, 11) * prime1
	}
	h ^= h >> 33
	h *= prime2
	h ^= h >> 29
	h *= prime3
	return h ^ h>>32
}

// stripes takes in all whole stripes of 32 bytes.
func stripes(b []byte) (h uint64, rest []byte) {
	p1 := prime1 // not a constant, so that sums wrap around
	lanes := [4]uint64{p1 + prime2, prime2, 0, -p1}
	for ; len(b) >= 32; b = b[32:] {
		for i := range lanes {
			lanes[i] = round(lanes[i], binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	for i, n := range [4]int{1, 7, 12, 18} {
		h += bits.RotateLeft64(lanes[i], n)
	}
	for _, l := range lanes {
		h = (h^round(0, l))*prime1 + prime4
	}
	return h, b
}

func round(acc, lane uint64) uint64 {
	return bits.RotateLeft64(acc+lane*prime2, 31) * prime1
}
