// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"debug/elf"
	"os"
	goruntime "runtime"
	"slices"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/gdb/registry"
	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/region"
	"github.com/clewdev/clew/snapshot"
)

// A symbol file without frames takes little more than its bytes, and a file that is registered
// more than once is one object.
func TestSymbolFileMemory(t *testing.T) {
	image, err := os.ReadFile("../../jit/symfile/testdata/x86-64.elf")
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(Target{Snapshot: &snapshot.Snapshot{Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)}})
	source := &Source{Kind: GDBList}
	held := func() uint64 {
		var m goruntime.MemStats
		goruntime.GC()
		goruntime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const entries = 2000
	before := held()
	for range entries {
		if err := r.addImage(source, &registry.Entry{Image: slices.Clone(image)}); err != nil {
			t.Fatal(err)
		}
	}
	source.ranges.sort()
	after := held()
	if most := entries * (uint64(len(image)) + 2000); after > before+most {
		t.Errorf("%d symbol files of %d bytes take %d, want at most %d", entries, len(image), after-before, most)
	}
	pc := source.ranges.list[0].start
	c := source.find(pc)
	if c == nil {
		t.Fatalf("nothing is found at %#x", pc)
	}
	if s, ok := c.is.function(pc); !ok || s.Name == "" || !c.is.unwinds() {
		t.Errorf("%q at %#x, unwinds %t", s.Name, pc, c.is.unwinds())
	}
	names := 0
	for range c.is.functions() {
		names++
	}
	if names == 0 {
		t.Error("no functions are listed")
	}

	lists := []registry.List{{Entries: slices.Repeat([]registry.Entry{{Image: image}}, 100)}}
	if sources := r.sourcesOf(lists, GDBList); len(sources) != 1 || len(sources[0].codes) != 1 || sources[0].Entries != 100 {
		t.Errorf("%d sources, and of the first %d", len(sources), len(sources[0].codes))
	}
}

// The check whether an info has rules keeps no table: a list can have 131,072 infos.
func TestDynInfoMemory(t *testing.T) {
	machine := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	p := &region.Procedure{Start: 0x1000, End: 0x2000, Regions: &region.Region{Count: 0x1000, Ops: []region.Op{{Tag: region.TagStop}}}}
	c := &infoCode{info: &libunwind.Info{Start: p.Start, End: p.End, Procedure: p}, machine: machine, procedures: []*region.Procedure{p}}
	if !c.covers(0x1000) || c.covers(0x2000) {
		t.Error("not the code of the procedure is covered")
	}
	if c.read || c.section != nil || c.tables != nil {
		t.Errorf("%+v is kept", c)
	}
}
