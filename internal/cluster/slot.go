package cluster

import (
	"strings"
	"unsafe"
)

// Slots is how many slots a cluster has. They are counted from 0.
const Slots = 16384

// Slot returns the slot of a key.
func Slot(key []byte) uint16 {
	return SlotString(unsafe.String(unsafe.SliceData(key), len(key)))
}

// SlotString returns the slot of a key.
//
// It is the CRC16 of the key modulo [Slots]. If the key has a '{' and a '}' behind
// it, with something between the first '{' and the first '}' after that, only
// this hash tag counts (cluster specification, "Hash tags").
func SlotString(key string) uint16 { return crc16(Tag(key)) % Slots }

// Tag returns the part of a key that decides where it is: its hash tag, or all of it.
func Tag(key string) string {
	if _, tag, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(tag, "}"); ok && tag != "" {
			return tag
		}
	}
	return key
}

// polynomial is x^16 + x^12 + x^5 + 1. With initial value 0, no reflection and
// no final XOR it makes CRC16/XMODEM (cluster specification, appendix A).
const polynomial = 0x1021

// crcTable[k][b] is the CRC of byte b and k zero bytes behind it. The CRC of several
// bytes is the XOR of what each of them adds, so that eight can be looked up at once
// without waiting for each other. It never changes.
var crcTable = makeCRCTable()

func makeCRCTable() (table [8][256]uint16) {
	for b := range 256 {
		crc := uint16(b) << 8
		for k := range table {
			for range 8 {
				carry := crc >> 15
				crc = crc<<1 ^ carry*polynomial
			}
			table[k][b] = crc
		}
	}
	return table
}

func crc16(s string) (crc uint16) {
	t := &crcTable
	for ; len(s) >= 8; s = s[8:] {
		crc = t[7][s[0]^byte(crc>>8)] ^ t[6][s[1]^byte(crc)] ^ t[5][s[2]] ^ t[4][s[3]] ^
			t[3][s[4]] ^ t[2][s[5]] ^ t[1][s[6]] ^ t[0][s[7]]
	}
	for i := range len(s) {
		crc = crc<<8 ^ t[0][byte(crc>>8)^s[i]]
	}
	return crc
}
