// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestReadMessage(t *testing.T) {
	tests := []struct {
		name, input string
		kind        messageKind
		payload     string
		err         error
	}{
		{"packet", "$g#67", messagePacket, "g", nil},
		{"empty", "$#00", messagePacket, "", nil},
		{"after acknowledgements", "++$?#3f", messagePacket, "?", nil},
		{"of another protocol", "POST / HTTP/1.1\r\n\r\n$?#3f", 0, "", errPacket},
		{"after noise", "+\n$?#3f", 0, "", errPacket},
		{"upper case checksum", "$vCont?#49", messagePacket, "vCont?", nil},
		{"escapes", "$X}\x03}\x04}]}\x0a#ba", messagePacket, "X#$}*", nil},
		{"interrupt", "\x03", messageInterrupt, "", nil},
		{"refused", "-", messageRefused, "", nil},
		{"wrong checksum", "$g#68", messageDamaged, "", nil},
		{"no checksum", "$g#xy", messageDamaged, "", nil},
		{"escape at the end", "$g}#e4", messageDamaged, "", nil},
		{"incomplete, then another", "$m1234$g#67", messagePacket, "g", nil},
		{"end", "$g#6", 0, "", io.ErrUnexpectedEOF},
		{"endless", "$" + strings.Repeat("x", packetSize+1), 0, "", errPacket},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := readMessage(bufio.NewReader(strings.NewReader(test.input)))
			if !errors.Is(err, test.err) || m.kind != test.kind || string(m.payload) != test.payload {
				t.Errorf("%d %q, %v", m.kind, m.payload, err)
			}
		})
	}
}

func TestAppendPacket(t *testing.T) {
	tests := []struct{ name, payload, want string }{
		{"empty", "", "$#00"},
		{"OK", "OK", "$OK#9a"},
		{"escapes", "#$}*", "$}\x03}\x04}]}\x0a#62"},
		{"three", "000", "$000#90"},
		{"four", "0000", "$0* #7a"},
		{"seven", "0000000", "$0*\"0#ac"},
	}
	for _, test := range tests {
		if got := string(appendPacket(nil, []byte(test.payload))); got != test.want {
			t.Errorf("%s: %q, and not %q", test.name, got, test.want)
		}
	}
	// Runs of every length, with all counts that must not appear.
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		payload := bytes.Repeat([]byte{"0f#*}z"[n%6]}, n)
		payload = append(payload, byte(random.Uint32()))
		b := appendPacket(nil, payload)
		if i := bytes.IndexAny(b[1:len(b)-3], "#$"); i >= 0 {
			t.Fatalf("%d bytes: byte %d ends the packet: %q", n, i, b)
		}
		got, err := readReply(bufio.NewReader(bytes.NewReader(b)))
		if err != nil || got != string(payload) {
			t.Fatalf("%d bytes became %q, %v", n, got, err)
		}
	}
}
