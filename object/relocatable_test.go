// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

func TestFindCode(t *testing.T) {
	gcc := testprogram.RequireTool(t, "gcc")
	dir := t.TempDir()
	source, path := filepath.Join(dir, "x.c"), filepath.Join(dir, "x.o")
	const text = `int g(int);
int f(int x) { return g(x) + 1; }
static __attribute__((noinline, section(".text.b"))) int h(int x) { return g(x) + 2; }
__attribute__((section(".text.b"))) int i(int x) { return h(x) + g(x); }
int main(void) { return f(1) + i(2); }
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-ffunction-sections"}, {"-O0", "-g", "-fno-asynchronous-unwind-tables"}} {
		if out, err := exec.Command(gcc, append(flags, "-c", source, "-o", path)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		f, err := object.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sections, err := f.CFISections()
		if err != nil || len(sections) == 0 {
			t.Fatalf("%v: %v, %d sections", flags, err, len(sections))
		}
		var pointers, addresses []uint64
		for fde := range sections[0].FDEs() {
			pointers, addresses = append(pointers, fde.Offset+8), append(addresses, fde.Start)
		}
		list, err := f.FindCode(sections[0], pointers, addresses)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range f.Sections() {
			if _, err := f.SectionData(s.Index); err != nil {
				t.Errorf("%v: %v", flags, err)
			}
		}
		if err := f.Damage(); err != nil {
			t.Errorf("%v: error for an intact file: %v", flags, err)
		}
		var names []string
		for i, c := range list {
			names = append(names, c.Symbol.Name)
			if c.Symbol.Address != addresses[i] {
				t.Errorf("%v: %s starts at %#x, its FDE at %#x", flags, c.Symbol.Name, c.Symbol.Address, addresses[i])
			}
			want := map[string]string{"h": ".text.b", "i": ".text.b"}[c.Symbol.Name]
			if name := f.Sections()[c.Section].Name; want != "" && name != want {
				t.Errorf("%v: %s is in %s, want %s", flags, c.Symbol.Name, name, want)
			}
		}
		slices.Sort(names)
		if !slices.Equal(names, []string{"f", "h", "i", "main"}) {
			t.Errorf("%v: %q", flags, names)
		}
		// A pointer without a relocation stays unknown.
		list, err = f.FindCode(sections[0], []uint64{0, 1 << 40}, []uint64{0, 0})
		if err != nil || list[0] != (object.Code{}) || list[1] != (object.Code{}) {
			t.Errorf("%v: %v, %v", flags, list, err)
		}
	}
}
