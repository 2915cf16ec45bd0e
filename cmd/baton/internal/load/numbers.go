package load

import "math/bits"

// numbers is a set of small numbers.
type numbers struct {
	words []uint64
	n     int64
}

// add reports whether i was not in the set. A negative number is never added.
func (s *numbers) add(i int64) bool {
	if i < 0 {
		return false
	}
	w := int(i >> 6)
	for w >= len(s.words) {
		s.words = append(s.words, make([]uint64, max(16, len(s.words)))...)
	}
	bit := uint64(1) << (i & 63)
	if s.words[w]&bit != 0 {
		return false
	}
	s.words[w] |= bit
	s.n++
	return true
}

func (s *numbers) has(i int64) bool {
	w := int(i >> 6)
	return i >= 0 && w < len(s.words) && s.words[w]&(1<<(i&63)) != 0
}

// len is how many numbers are in the set.
func (s *numbers) len() int64 { return s.n }

// without is how many numbers of s are in none of others.
func (s *numbers) without(others ...*numbers) (n int64) {
	for i, w := range s.words {
		for _, o := range others {
			if i < len(o.words) {
				w &^= o.words[i]
			}
		}
		n += int64(bits.OnesCount64(w))
	}
	return n
}

// both is how many numbers are in s and o.
func (s *numbers) both(o *numbers) int64 { return s.n - s.without(o) }
