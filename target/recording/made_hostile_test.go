// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/jit/perf"
)

func noted(b *builder, text string) bool {
	return strings.Contains(strings.Join(b.rec.Notes, "\n"), text)
}

// A process has not more jitdumps than are asked for an address.
func TestManyJitdumps(t *testing.T) {
	const count = 1000
	m := newMade()
	for i := range uint64(count) {
		m.mmap2(1, 0x10000, "/nosuch/jit-1.dump", i+1, 0)
	}
	for i := range uint64(count) {
		m.sample(1, 0x20000+i, i+1)
	}
	b := m.build(t)
	if n := len(b.processes[1].space.code.dumps); n != maxJitdumps || len(b.dumps) != maxJitdumps {
		t.Errorf("%d jitdumps of the process, %d in all", n, len(b.dumps))
	}
	if b.rec.Samples != count || b.rec.Complete || !noted(b, "more than 64 jitdumps") {
		t.Errorf("%d samples; %q", b.rec.Samples, b.rec.Notes)
	}
}

// writeJitdump writes a jitdump of one function of a page, and returns its inode.
func writeJitdump(t *testing.T, path, name string, address uint64) (number uint64) {
	t.Helper()
	e := perf.Encoder{Order: binary.LittleEndian}
	e.Header(&perf.Header{Order: binary.LittleEndian, Machine: elf.EM_X86_64, PID: 1, Time: 1})
	if err := e.Load(1, &perf.Load{PID: 1, TID: 1, Address: address, Name: name, Code: make([]byte, 0x1000)}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, e.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return identityOf(info).number
}

// A jitdump is read once, however often the recording tells it apart.
func TestJitdumpOfManyRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jit-1.dump")
	number := writeJitdump(t, path, "generated", 0x10000)
	m := newMade()
	const records = 5
	for i := range uint64(records) {
		m.mmap(uint32(i), 0x10000, "//anon")
		m.mmap2(uint32(i), 0x20000, path, number, i)
		m.sample(uint32(i), 0x10004, i+1)
	}
	b := m.build(t)
	indexes := make(map[*perf.Index]bool)
	for _, d := range b.dumps {
		indexes[d.functions] = true
	}
	if len(b.dumps) != records || len(indexes) != 1 || indexes[nil] {
		t.Errorf("%d jitdumps, %d were read", len(b.dumps), len(indexes))
	}
	for i := range b.rec.Places() {
		if f := &b.rec.Places()[i]; f.Symbol.Name != "generated" {
			t.Errorf("%q at %#x", f.Symbol.Name, f.Address)
		}
	}
}
