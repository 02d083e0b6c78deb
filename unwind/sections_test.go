// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

func TestSections(t *testing.T) {
	eh := build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, ""}, function{0x2000, 0x2100, "0e10"})
	eh.Address = 0x8000
	debugFrame := &cfi.Section{Name: ".debug_frame", Kind: cfi.DebugFrame, Machine: x86, Data: unhex(t,
		`0e000000 ffffffff 01 00 01 78 10 0c0708 9001
		 16000000 00000000 0030000000000000 0001000000000000 0e18
		 16000000 00000000 0010000000000000 0001000000000000 0e18`)}
	var fdes []uint64
	for f := range eh.FDEs() {
		fdes = append(fdes, eh.Address+f.Offset)
	}
	header := func(table string) *cfi.Header {
		h, err := cfi.ParseHeader(unhex(t, table), 0, x86)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	listed := header(fmt.Sprintf("01 ff 04 04 0200000000000000 %016x%016x%016x%016x",
		swap(0x1000), swap(fdes[0]), swap(0x2000), swap(fdes[1])))
	astray := header(fmt.Sprintf("01 ff 04 04 0100000000000000 %016x%016x", swap(0x1000), swap(0x7777)))
	called := 0
	load := func() (*cfi.Section, error) { called++; return debugFrame, nil }
	broken := errors.New("cannot be decompressed")
	for name, test := range map[string]struct {
		s    *unwind.Sections
		want map[uint64]int64 // CFA offset by address; -1: none
	}{
		"nothing":                {&unwind.Sections{}, map[uint64]int64{0x1000: -1}},
		"eh_frame":               {&unwind.Sections{EHFrame: eh}, map[uint64]int64{0x1000: 8, 0x20ff: 16, 0x3000: -1}},
		"with a header":          {&unwind.Sections{EHFrame: eh, Header: listed}, map[uint64]int64{0x1000: 8, 0x20ff: 16, 0x1100: -1, 0x2100: -1, 0xfff: -1}},
		"a header without table": {&unwind.Sections{EHFrame: eh, Header: header("01 ff ff ff")}, map[uint64]int64{0x1000: 8, 0x2000: 16}},
		"a header that leads astray": {&unwind.Sections{EHFrame: eh, Header: astray},
			map[uint64]int64{0x1000: 8, 0x2000: 16}},
		"debug_frame last eh_frame": {&unwind.Sections{EHFrame: eh, Header: listed, DebugFrame: load},
			map[uint64]int64{0x1000: 8, 0x3000: 24, 0x3100: -1}},
		"debug_frame alone": {&unwind.Sections{DebugFrame: load}, map[uint64]int64{0x1000: 24, 0x3000: 24, 0x2000: -1}},
		"no debug_frame": {&unwind.Sections{EHFrame: eh, DebugFrame: func() (*cfi.Section, error) { return nil, broken }},
			map[uint64]int64{0x1000: 8, 0x3000: -1}},
	} {
		for range 2 {
			for pc, want := range test.want {
				r, err := test.s.Rules(pc)
				switch {
				case want < 0 && !errors.Is(err, cfi.ErrNoFDE):
					t.Errorf("%s: %#x: %+v, %v", name, pc, r, err)
				case want < 0 && name == "no debug_frame" && !errors.Is(err, broken):
					t.Errorf("%s: %v does not say why", name, err)
				case want >= 0 && (err != nil || r.CFA.Offset != want):
					t.Errorf("%s: %#x: %+v, %v; want %d", name, pc, r, err, want)
				}
			}
		}
	}
	if called != 2 {
		t.Errorf(".debug_frame was loaded %d times by two", called)
	}
}

// swap reverses the bytes of a number, so that %016x prints them in little-endian order.
func swap(v uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return binary.BigEndian.Uint64(b[:])
}
