// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype_test

import (
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/stdtype"
)

// names are the variables of testdata/types.cc.
var names = []string{
	"text", "view", "vector", "bits", "deque", "list", "forward", "initial", "set", "map", "multi", "hashed",
	"pair", "tuple", "optional", "variant", "atomic", "stack", "unique", "shared", "it", "at", "nested",
}

func openTypes(t testing.TB) *value.Info {
	file, err := object.Open("testdata/types.debug")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	info, err := value.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// FuzzPresent prints a value of each type that any memory is taken for.
func FuzzPresent(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 1, 0, 8, 0, 1, 0, 16, 0, 1, 0})
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	for n := range byte(8) {
		f.Add([]byte{8 * n, 0, 0, 0, 0, 0, 0, 0, 8 * n, 0, 0, 0, 0, 0, 0, 0})
	}
	info := openTypes(f)
	types := make([]*value.Type, len(names))
	for k, name := range names {
		v, err := info.Global(name, 0)
		if err != nil {
			f.Fatal(err)
		}
		types[k] = v.Type
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame := value.Static(repeated(b), info, 0)
		printer := value.Printer{Present: stdtype.Present, Elements: 8, Depth: 4}
		for k, of := range types {
			v := value.At(of, 0, frame)
			if printer.Text(v) == "" {
				t.Errorf("%s is shown as nothing", names[k])
			}
		}
	})
}

// repeated is memory that has the same bytes over and over, up to a gap in each KiB. Its
// addresses have 16 bits.
type repeated []byte

func (r repeated) ReadMemory(p []byte, address uint64) error {
	for i := range p {
		at := (address + uint64(i)) & 0xffff
		if at%1024 >= 1000 {
			return errGap
		}
		p[i] = 0
		if len(r) > 0 && (address+uint64(i))&7 < 2 {
			p[i] = r[at%uint64(len(r))]
		}
	}
	return nil
}
