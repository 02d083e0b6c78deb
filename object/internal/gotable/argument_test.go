// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gotable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// argumentsTable returns a table of one function with a list of arguments and their liveness,
// and the function. From the eighth byte of the function on the liveness has index 1.
func argumentsTable(list, live []byte) (*Table, *Record) {
	o := binary.LittleEndian
	t := &Table{order: o, magic: magic120, quantum: 1, pcs: []byte{0, 0, 8, 4, 8}}
	none := ^uint32(0)
	liveAt := none
	t.calls = bytes.Clone(list)
	if live != nil {
		liveAt = uint32(len(t.calls))
		t.calls = append(t.calls, live...)
	}
	var record []byte
	for _, v := range []uint32{0, 0, 0, 0, 0, 0, 4, 0, 0} { // the seventh counts the tables by address
		record = o.AppendUint32(record, v)
	}
	record = append(record, 0, 0, 0, 7)
	for _, v := range []uint32{0, 0, 0, 1, none, none, none, none, none, 0, liveAt} {
		record = o.AppendUint32(record, v)
	}
	return t, &Record{Entry: 0x1000, End: 0x1010, numbers: record}
}

func argumentsText(list []Argument) string {
	var b strings.Builder
	for _, a := range list {
		switch a.Kind {
		case Number:
			fmt.Fprintf(&b, " %d:%d", a.Offset, a.Size)
			if !a.Live {
				b.WriteByte('?')
			}
		default:
			b.WriteString(" " + string("_{}+~"[a.Kind]))
		}
	}
	return strings.TrimSpace(b.String())
}

func TestGoArguments(t *testing.T) {
	for _, tt := range []struct {
		name       string
		list, live []byte
		early      bool // before the liveness is known
		running    bool // the function has called none
		want       string
	}{
		{name: "none", list: []byte{0xff}},
		{name: "numbers", list: []byte{0, 8, 8, 4, 0xff}, want: "8:8 16:4"},
		{name: "a value of two numbers", list: []byte{0xfe, 0, 8, 8, 8, 0xfd, 16, 1, 0xff}, want: "{ 8:8 16:8 } 24:1"},
		{name: "more, and too far", list: []byte{0, 8, 0xfb, 0xfc, 0xff}, want: "8:8 ~ +"},
		{name: "some live", list: []byte{0, 8, 8, 8, 16, 8, 24, 8, 0xff}, live: []byte{8, 0b101}, want: "8:8 16:8 24:8? 32:8"},
		{name: "some live, while it runs", list: []byte{0, 8, 8, 8, 16, 8, 0xff}, live: []byte{8, 1}, running: true, want: "8:8 16:8 24:8?"},
		{name: "liveness is not known", list: []byte{0, 8, 8, 8, 0xff}, live: []byte{8, 0}, early: true, want: "8:8 16:8"},
		{name: "liveness is not known, while it runs", list: []byte{0, 8, 8, 8, 0xff}, live: []byte{8, 0}, early: true, running: true, want: "8:8 16:8?"},
		{name: "liveness is cut", list: []byte{0, 8, 0xff}, live: []byte{0}, want: "8:8?"},
		{name: "no end", list: []byte{0, 8}, want: "unknown"},
		{name: "cut in a number", list: []byte{0}, want: "unknown"},
		{name: "a number of 9 bytes", list: []byte{0, 9, 0xff}, want: "unknown"},
		{name: "a number of none", list: []byte{0, 0, 0xff}, want: "unknown"},
		{name: "a sign that is not known", list: []byte{0xf5, 0xff}, want: "unknown"},
		{name: "too many", list: append(bytes.Repeat([]byte{0, 8}, 100), 0xff), want: "unknown"},
	} {
		table, fn := argumentsTable(tt.list, tt.live)
		addr := fn.Entry + 8
		if tt.early {
			addr = fn.Entry
		}
		list, ok := table.Arguments(fn, addr, 8, !tt.running)
		got := argumentsText(list)
		if !ok {
			got = "unknown"
		}
		if got != tt.want {
			t.Errorf("%s: %q, expected %q", tt.name, got, tt.want)
		}
	}
}

// A Go function without arguments has no list. A function in assembly may have arguments.
func TestGoWithoutArguments(t *testing.T) {
	table, fn := argumentsTable([]byte{0xff}, nil)
	record := fn.numbers
	for _, assembly := range []bool{false, true} {
		fn.numbers = bytes.Clone(record)
		fn.numbers[36+3] = 5 // data: no list of arguments
		if assembly {
			fn.numbers[36+1] = flagAssembly
		}
		if list, ok := table.Arguments(fn, fn.Entry, 8, true); len(list) > 0 || ok == assembly {
			t.Errorf("assembly %t: %v, %t", assembly, list, ok)
		}
	}
}
