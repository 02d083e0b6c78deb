// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bufio"
	"errors"
	"fmt"
)

// packetSize is how long the contents of a packet may be, in bytes, escapes
// included, as qSupported tells the client. The buffers of a connection are a few
// times that.
const packetSize = 1 << 17

// messageKind is what comes in over a connection.
type messageKind uint8

const (
	messagePacket messageKind = iota
	messageInterrupt
	messageDamaged // a packet whose checksum is wrong
	messageRefused // the client wants the last reply again
)

// message is one thing that a client sent.
type message struct {
	kind    messageKind
	payload []byte // without escapes
}

var errPacket = errors.New("no packet of the GDB remote protocol")

// readMessage reads the next thing from a connection (GDB manual, "Overview" of
// the remote protocol). Between packets there are acknowledgements and nothing else:
// whoever sends more is no debugger, but may be a web page that has packets in the
// body of a request to this port.
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
		if b == '$' { // the one before was cut off
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
	for i := range digits {
		b, err := r.ReadByte()
		if err != nil {
			return message{}, err
		}
		digits[i] = b
	}
	high, ok := digit(digits[0])
	low, ok2 := digit(digits[1])
	if !ok || !ok2 || escaped || high<<4|low != sum {
		return message{kind: messageDamaged}, nil
	}
	return message{payload: payload}, nil
}

// appendPacket appends a reply as it goes over the connection: with escapes, runs
// of equal bytes shortened, and the checksum.
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
			// A run of n more is written as n+29; below 3 it does not pay, and
			// "#", "$", "+" and "-" must not appear.
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
	return append(dst, '#', hexDigits[sum>>4], hexDigits[sum&15])
}

// maxRun is the longest run, whose count is written as "~", the last that prints.
const maxRun = '~' - 29 + 1
