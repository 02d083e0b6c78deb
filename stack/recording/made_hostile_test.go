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

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/unwind"
)

func noted(b *builder, text string) bool {
	return strings.Contains(strings.Join(b.rec.Notes, "\n"), text)
}

// The number of jitdumps of a process is bounded, because each look-up searches all.
func TestManyJitdumps(t *testing.T) {
	const count = 1000
	m := newMade()
	for i := range uint64(count) {
		m.mmap2(1, 0x10000, "/nosuch/jit-1.dump", i+1, 0)
	}
	for i := range uint64(count) {
		m.sample(1, 0x20000+i, i+1)
	}
	b := m.build(t, Options{})
	if n := len(b.processes[1].space.code.dumps); n != maxJitdumps || len(b.dumps) != maxJitdumps {
		t.Errorf("%d jitdumps of the process, %d in all", n, len(b.dumps))
	}
	if b.rec.Samples != count || b.rec.Complete || !noted(b, "more than 64 jitdumps") {
		t.Errorf("%d samples; %q", b.rec.Samples, b.rec.Notes)
	}
}

// writeJitdump writes a jitdump of functions of a page with one name, and returns its inode. Their times are 1, 2
// and so on.
func writeJitdump(t testing.TB, path, name string, addresses ...uint64) (number uint64) {
	t.Helper()
	e := perf.Encoder{Order: binary.LittleEndian}
	e.Header(&perf.Header{Order: binary.LittleEndian, Machine: elf.EM_X86_64, PID: 1, Time: 1})
	for i, address := range addresses {
		if err := e.Load(uint64(i+1), &perf.Load{PID: 1, TID: 1, Address: address, Name: name, Code: make([]byte, 0x1000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, e.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return untrusted.IdentityOf(info).Inode
}

// A jitdump is read once, even if the recording has several keys for it.
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
	b := m.build(t, Options{})
	files := make(map[*codefile.Jitdump]bool)
	for _, d := range b.dumps {
		files[d.code] = true
	}
	if len(b.dumps) != records || len(files) != 1 || files[nil] {
		t.Errorf("%d jitdumps, %d were read", len(b.dumps), len(files))
	}
	for key := range b.dumps { // the content is in memory as long as one key is
		if _, held := b.held(-1, nil); held < 0x1000 {
			t.Errorf("%d bytes with %d keys", held, len(b.dumps))
		}
		delete(b.dumps, key)
	}
	for i := range b.rec.Places() {
		if f := &b.rec.Places()[i]; f.Symbol.Name != "generated" {
			t.Errorf("%q at %#x", f.Symbol.Name, f.Address)
		}
	}
}

// Changes of a space move a bounded number of mappings for each record. If there are too many,
// older mappings are dropped, which is reported.
func TestManyMappings(t *testing.T) {
	const top = 0x7f0000000000
	for _, test := range []struct {
		name    string
		records uint64
		record  func(m *made, i uint64)
		want    string // that a note says; "" for nothing
	}{
		{"ascending", maxMappings, func(m *made, i uint64) { m.mmap(1, 0x10000+0x2000*i, "//anon") }, ""},
		{"descending", 10000, func(m *made, i uint64) { m.mmap(1, top-0x2000*i, "//anon") }, ""},
		{"far too many", maxMappings + 10, func(m *made, i uint64) { m.mmap(1, 0x10000+0x2000*i, "//anon") }, "more than 65536 mappings"},
		{"descending for long", 40000, func(m *made, i uint64) { m.mmap(1, top-0x2000*i, "//anon") }, "change too often"},
		{"samples between", 10000, func(m *made, i uint64) { m.mmap(1, top-0x2000*i, "//anon"); m.sample(1, top, i+1) }, ""},
		{"forks between", 20000, func(m *made, i uint64) {
			if i >= 10000 {
				m.fork(2, 1, i)
				m.mmap(2, 0x1000, "//anon")
				return
			}
			m.mmap(1, 0x10000+0x2000*i, "//anon")
		}, "change too often"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMade()
			for i := range test.records {
				test.record(m, i)
			}
			m.sample(1, 0x10000, test.records+1)
			r, err := perfdata.NewReader(&m.Buffer)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			b := newBuilder(r, Options{})
			records, moved := 0, 0
			for {
				record, err := r.Next()
				if err != nil {
					break
				}
				before := b.moves + movesWithRecord
				if err := b.record(record); err != nil {
					t.Fatal(err)
				}
				records++
				moved += before - b.moves
				if n := b.process(1).space.size(); n > maxMappings {
					t.Fatalf("%d mappings", n)
				}
			}
			if moved > firstMoves+records*movesWithRecord {
				t.Errorf("%d records moved %d mappings", records, moved)
			}
			b.finish()
			if b.rec.Complete != (test.want == "") || !noted(b, test.want) {
				t.Errorf("complete %t: %q", b.rec.Complete, b.rec.Notes)
			}
		})
	}
}

// A process that uses up the moves of mappings does not cost others theirs.
func TestMappingsOfOthers(t *testing.T) {
	const top, modules = 0x7f0000000000, 300
	m := newMade()
	for i := range uint64(modules) {
		m.mmap(2, 0x10000+0x2000*i, "//anon")
	}
	for i := range uint64(40000) {
		m.mmap(1, top-0x2000*i, "//anon")
		if i >= 39900 {
			m.fork(3, 2, i)
			m.mmap(3, 0x1000, "//anon")
		}
	}
	m.sample(3, 0x10000, 40001)
	b := m.build(t, Options{})
	if n := b.process(3).space.size(); n != modules+1 {
		t.Errorf("%d mappings, expected %d", n, modules+1)
	}
	if !noted(b, "process 1: its mappings change too often") || noted(b, "process 3") {
		t.Errorf("%q", b.rec.Notes)
	}
}

// The number of places is bounded. Those above the limit are one place, which has no name.
func TestManyPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jit-1.dump")
	number := writeJitdump(t, path, "generated", 0x10000)
	m := newMade()
	m.mmap(1, 0x10000, "//anon")
	m.mmap2(1, 0x20000, path, number, 0)
	m.sample(1, 0x10004, 1)
	r, err := perfdata.NewReader(&m.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := newBuilder(r, Options{})
	for i := range uint64(maxPlaces) {
		b.place(placeKey{address: 0x100000 + i})
	}
	first := b.place(placeKey{address: 0x100000})
	if err := b.read(); err != nil {
		t.Fatal(err)
	}
	other := b.place(placeKey{address: 1})
	b.finish()
	if n := len(b.rec.Places()); n != maxPlaces+1 || first != 0 || other != maxPlaces {
		t.Errorf("%d places, the first is %d, that of others %d", n, first, other)
	}
	if c := &b.rec.Places()[maxPlaces].Code; c.Object != nil || c.Address != 0 || c.Symbol.Name != "" {
		t.Errorf("%+v", c)
	}
	if b.rec.Complete || !noted(b, "more than 1048576 different addresses") {
		t.Errorf("complete %t: %q", b.rec.Complete, b.rec.Notes)
	}
}

// Adjacent mappings become one when they are mapped again as one.
func TestMappedAgain(t *testing.T) {
	s := newSpace()
	const pages = 1000
	for i := range uint64(pages) {
		s.modules.Add(i, i+1, new(unwind.Module))
	}
	if s.holds(0, pages, nil, 0) {
		t.Error("all mappings are looked at")
	}
	s.modules.Add(0, pages, new(unwind.Module))
	if s.size() != 1 || !s.holds(0, pages, nil, 0) {
		t.Errorf("%d mappings", s.size())
	}
}
