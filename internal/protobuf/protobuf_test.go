// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package protobuf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

func TestEach(t *testing.T) {
	for _, test := range []struct {
		in, want string
		valid    bool
	}{
		{"", "", true},
		{"\x08\x96\x01", "1=150 ", true},
		{"\x12\x02hi\x1a\x00", "2:hi 3: ", true},
		{"\x0d1234\x111234567\x38", "", true},
		{"\x0d123", "", false},
		{"\x08\x01\x12\x03hi", "1=1 ", false},
		{"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "", false},
		{"\x0b", "", false}, // a group
		{"\xff", "", false},
		{"\x08", "", false},
	} {
		got := ""
		valid := Each([]byte(test.in), func(number, value uint64, data []byte) {
			if data != nil {
				got += fmt.Sprintf("%d:%s ", number, data)
			} else {
				got += fmt.Sprintf("%d=%d ", number, value)
			}
		})
		if got != test.want || valid != test.valid {
			t.Errorf("%q: %s%v, want %s%v", test.in, got, valid, test.want, test.valid)
		}
	}
}

// nested returns messages in each other.
func nested(levels int) (b []byte) {
	for range levels {
		b = append(binary.AppendUvarint([]byte{0x0a}, uint64(len(b))), b...)
	}
	return b
}

func TestCheck(t *testing.T) {
	for want, b := range map[string][]byte{
		"":                      nested(60),
		"nested more than 64":   nested(100),
		"more than 1000 mess":   bytes.Repeat([]byte{0x0a, 0}, 1001),
		"nested more than 64 l": nested(3000),
	} {
		if err := Check(b, 1000); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// Check ends for any bytes.
func FuzzCheck(f *testing.F) {
	f.Add(nested(70))
	f.Add([]byte("\x0d1234\x12\x02hi"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := Check(b, len(b)*maxDepth); err != nil && !strings.Contains(err.Error(), "nested") {
			t.Error(err)
		}
	})
}
