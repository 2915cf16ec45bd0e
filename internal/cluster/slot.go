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
func SlotString(key string) uint16 {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		tag := key[open+1:]
		if end := strings.IndexByte(tag, '}'); end > 0 {
			key = tag[:end]
		}
	}
	return crc16(key) % Slots
}

// polynomial is x^16 + x^12 + x^5 + 1. With initial value 0, no reflection and
// no final XOR it makes CRC16/XMODEM (cluster specification, appendix A).
const polynomial = 0x1021

// crcTable has the CRC of each byte. It never changes.
var crcTable = makeCRCTable()

func makeCRCTable() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*polynomial
		}
		table[i] = crc
	}
	return table
}

func crc16(s string) (crc uint16) {
	for i := range len(s) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^s[i]]
	}
	return crc
}
