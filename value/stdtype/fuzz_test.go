// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype_test

import (
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
	"github.com/clewdev/clew/value/stdtype"
)

// names are the variables of testdata/types.cc and testdata/types.rs.
var (
	names = []string{
		"text", "view", "vector", "bits", "deque", "list", "forward", "initial", "set", "map", "multi", "hashed",
		"pair", "tuple", "optional", "variant", "atomic", "stack", "unique", "shared", "it", "at", "nested", "any", "path", "code", "condition",
	}
	rustNames = []string{
		"text", "slice", "str_", "path", "path_buf", "vec", "ring", "map", "set", "tree", "tree_set",
		"rc", "arc", "rc_text", "rc_list", "cell", "ref_cell", "lent", "non_zero",
	}
)

func openTypes(t testing.TB, name string) *value.Info {
	t.Helper()
	file, err := object.Open("testdata/" + name)
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

// rustType returns the type of a variable of testdata/types.rs, without its MaybeUninit.
func rustType(t testing.TB, info *value.Info, name string) *value.Type {
	t.Helper()
	v, err := info.Global("types::"+name, 0)
	if err != nil {
		t.Fatal(err)
	}
	list := v.Type.TemplateTypes()
	if len(list) != 1 || list[0] == nil {
		t.Fatalf("%s is made with %v", v.Type, list)
	}
	return list[0]
}

// FuzzPresent prints arbitrary memory as a value of each type.
func FuzzPresent(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 1, 0, 8, 0, 1, 0, 16, 0, 1, 0})
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	for n := range byte(8) {
		f.Add([]byte{8 * n, 0, 0, 0, 0, 0, 0, 0, 8 * n, 0, 0, 0, 0, 0, 0, 0})
	}
	cc := openTypes(f, "gcc12.debug")
	var types []*value.Type
	for _, name := range names {
		v, err := cc.Global(name, 0)
		if err != nil {
			f.Fatal(err)
		}
		types = append(types, v.Type)
	}
	for _, release := range []string{"rust1.63.debug", "rust1.95.debug"} {
		rust := openTypes(f, release)
		for _, name := range rustNames {
			types = append(types, rustType(f, rust, name))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame := value.Static(repeated(b), cc, 0)
		printer := print.Printer{Present: stdtype.Present, Elements: 8, Depth: 4}
		for _, of := range types {
			if printer.Text(value.At(of, 0, frame)) == "" {
				t.Errorf("a %s is shown as nothing", of)
			}
		}
	})
}

// repeated is memory that repeats the same bytes, with a gap in each KiB. Its addresses have 16
// bits.
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
