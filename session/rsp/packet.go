// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// packetSize is the maximum size of a packet's contents in bytes, with escapes. qSupported sends it to
// the client. The buffers of a connection are a few times as large.
const packetSize = 1 << 17

// messageKind is the kind of a message.
type messageKind uint8

const (
	messagePacket messageKind = iota
	messageInterrupt
	messageDamaged // a packet with a wrong checksum
	messageRefused // a request to send the last reply again
)

// message is a message from a client.
type message struct {
	kind    messageKind
	payload []byte // without escapes
}

var errPacket = errors.New("not a packet of the GDB remote protocol")

// readMessage reads the next message from a connection (GDB manual, "Overview" of the remote
// protocol). Only acknowledgements may come between packets. A client that sends more is not a
// debugger: it may be a web page with packets in the body of a request to this port.
func readMessage(r *bufio.Reader) (message, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return message{}, err
		}
		switch b {
		case '+':
		case 0x03:
			return message{kind: messageInterrupt}, nil
		case '-':
			return message{kind: messageRefused}, nil
		case '$':
			return readPacket(r)
		default:
			return message{}, fmt.Errorf("%w: it begins with %q", errPacket, b)
		}
	}
}

func readPacket(r *bufio.Reader) (message, error) {
	var payload []byte
	sum, escaped := byte(0), false
	for n := 0; ; n++ {
		b, err := r.ReadByte()
		if err != nil {
			return message{}, err
		}
		if b == '#' {
			break
		}
		if n == packetSize {
			return message{}, fmt.Errorf("%w: it is longer than %d bytes", errPacket, packetSize)
		}
		if b == '$' { // the previous packet was incomplete
			payload, sum, escaped = payload[:0], 0, false
			continue
		}
		sum += b
		switch {
		case escaped:
			payload = append(payload, b^0x20)
			escaped = false
		case b == '}':
			escaped = true
		default:
			payload = append(payload, b)
		}
	}
	var digits [2]byte
	if _, err := io.ReadFull(r, digits[:]); err != nil {
		return message{}, err
	}
	if checksum, err := hex.DecodeString(string(digits[:])); err != nil || escaped || checksum[0] != sum {
		return message{kind: messageDamaged}, nil
	}
	return message{payload: payload}, nil
}

// appendPacket appends a reply as a packet: with escapes, run-length encoding and the checksum.
func appendPacket(dst, payload []byte) []byte {
	dst = append(dst, '$')
	start := len(dst)
	for i := 0; i < len(payload); {
		b := payload[i]
		run := 1
		for i+run < len(payload) && payload[i+run] == b && run < maxRun {
			run++
		}
		switch b {
		case '#', '$', '}', '*':
			dst = append(dst, '}', b^0x20)
			run = 1
		default:
			dst = append(dst, b)
			// A run of n more bytes is encoded as n+29. It is not shorter below 3, and the count must
			// not be "#", "$", "+" or "-".
			if run > 3 {
				more := run - 1
				for c := more + 29; c == '#' || c == '$' || c == '+' || c == '-'; c = more + 29 {
					more--
				}
				dst = append(dst, '*', byte(more+29))
				run = more + 1
			} else {
				run = 1
			}
		}
		i += run
	}
	sum := byte(0)
	for _, b := range dst[start:] {
		sum += b
	}
	return hex.AppendEncode(append(dst, '#'), []byte{sum})
}

// maxRun is the longest run. Its count is "~", the last printable character.
const maxRun = '~' - 29 + 1

// scanner parses a packet. After a part that is missing or invalid, all others are zero and invalid
// is set.
type scanner struct {
	text    string // not parsed yet
	invalid bool
}

// number parses a hexadecimal number of up to 64 bits.
func (s *scanner) number() uint64 {
	after := strings.TrimLeft(s.text, "0123456789abcdefABCDEF")
	v, err := strconv.ParseUint(s.text[:len(s.text)-len(after)], 16, 64)
	if err != nil {
		s.invalid = true
		return 0
	}
	s.text = after
	return v
}

// skip parses a literal.
func (s *scanner) skip(literal string) {
	if !s.next(literal) {
		s.invalid = true
	}
}

// next parses a literal, and returns false if it is not there.
func (s *scanner) next(literal string) (ok bool) {
	s.text, ok = strings.CutPrefix(s.text, literal)
	return ok
}

// bytes parses n bytes in hexadecimal.
func (s *scanner) bytes(n uint64) []byte {
	if s.invalid || n > uint64(len(s.text))/2 {
		s.invalid = true
		return nil
	}
	b, err := hex.DecodeString(s.text[:2*n])
	if err != nil {
		s.invalid = true
		return nil
	}
	s.text = s.text[2*n:]
	return b
}

// end reports whether all parts were valid and nothing is left.
func (s *scanner) end() bool { return !s.invalid && s.text == "" }

func hexString(s string) string { return hex.EncodeToString([]byte(s)) }
