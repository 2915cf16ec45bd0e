// Package resp encodes and decodes RESP2 and RESP3, the wire format of Redis.
//
// Bytes go in and values come out; the package knows no sockets and starts no
// goroutine. Decoding has two steps. A [Scanner] finds where a frame ends; it
// can be fed a growing buffer and never looks at a byte twice. A [Reader] then
// walks over the complete frame and turns it into the types the caller asks
// for, without an intermediate tree. Encoding is append style.
//
// # What is accepted
//
// The server is trusted to speak RESP, not to be right: everything is checked
// before it is believed, and a violation is a [ProtocolError], after which the
// connection can't be used any more.
//
//   - A line ends with CRLF. A lone LF in it is a violation; a lone CR is
//     content.
//   - Lengths are plain decimal: no sign, no leading zero, at most 19 digits.
//     The only negative length is -1 of '$' and '*', which are nulls.
//   - Integers (':') and big numbers ('(') are an optional sign and digits;
//     "+5", "-0" and leading zeros are accepted, as the RESP3 specification
//     allows a sign. Whether the number fits is the question of the typed read.
//   - Doubles (',') are decimal with optional fraction and exponent, or inf and
//     nan with an optional sign; not hexadecimal.
//   - Booleans are 't' or 'f'; '_' has an empty line; verbatim strings have at
//     least their four bytes of format.
//   - An attribute ('|') belongs to the value after it and may stand before any
//     value, keys of maps included.
//   - Streamed strings and aggregates, which no server sends, are refused with
//     [ErrStreamed].
package resp
