package maintsim

import "bytes"

// slotCount is how many slots a cluster has.
const slotCount = 16384

// slotOf is the slot of a key: the CRC16 (XMODEM) of it, or of what is between its first
// brace and the next closing one, if that is something. It is the simulator's own, as
// the encoders are.
func slotOf(key []byte) int {
	if _, tag, ok := bytes.Cut(key, []byte("{")); ok {
		if tag, _, ok = bytes.Cut(tag, []byte("}")); ok && len(tag) > 0 {
			key = tag
		}
	}
	var crc uint16
	for _, b := range key {
		crc = crc<<8 ^ crcOf[byte(crc>>8)^b]
	}
	return int(crc % slotCount)
}

func slotOfString(key string) int { return slotOf([]byte(key)) }

// crcOf is the CRC of each byte.
var crcOf = makeCRC()

func makeCRC() (table [256]uint16) {
	for b := range table {
		crc := uint16(b) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
		table[b] = crc
	}
	return table
}
