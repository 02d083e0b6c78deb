// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package recording

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/codefile"
)

// code is a function of a program, where a made process maps it.
type code struct {
	data         []byte // of the program
	start, pc    uint64
	size, offset uint64 // of the mapping
	path         string
}

// programWithCode compiles a program with a function compare.
func programWithCode(t *testing.T) *code {
	t.Helper()
	path := compile(t, "gcc", "sort.c", "-O2", "-g")
	c := &code{path: path}
	var err error
	if c.data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(c.data))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name != "compare" {
			continue
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && s.Value-p.Vaddr < p.Filesz {
				c.start, c.offset, c.size = 0x10000+p.Vaddr&^0xfff, p.Off&^0xfff, (p.Filesz+0x1fff)&^0xfff
				c.pc = 0x10000 + s.Value + 1
				return c
			}
		}
	}
	t.Fatal("no function compare")
	return nil
}

// run adds a process that executes a program, has two samples in its function, and ends.
func (m *made) run(pid uint32, c *code, path string, ends bool) {
	m.fork(pid, 1, m.time+1)
	m.exec(pid, m.time+1)
	time := m.time
	m.record(perfdata.TypeMmap, perfdata.Misc(perfdata.ModeUser), func(m *made) {
		m.halves(pid, pid)
		m.words(c.start, c.size, c.offset)
		m.text(path)
		m.trailer(pid, time)
	})
	m.sample(pid, c.pc, time+1)
	m.sample(pid, c.pc, time+2)
	if ends {
		m.exit(pid)
	}
}

// exit ends a process.
func (m *made) exit(pid uint32) {
	time := m.time + 1
	m.record(perfdata.TypeExit, 0, func(m *made) {
		m.halves(pid, 1, pid, 1)
		m.words(time)
		m.trailer(pid, time)
	})
	m.time = time
}

// A recording keeps the tables of the last files of processes that ended, not those of all. Frames in
// the others get their names at the end, also if the files are gone.
func TestUnusedFiles(t *testing.T) {
	c := programWithCode(t)
	const programs = maxUnused + 3*trimAfter
	dir := t.TempDir()
	m := newMade()
	path := func(n int) string { return filepath.Join(dir, fmt.Sprintf("program%d", n)) }
	for n := range programs {
		data := append(bytes.Clone(c.data), byte(n), byte(n>>8)) // the build ID of all is the same
		if err := os.WriteFile(path(n), data, 0o755); err != nil {
			t.Fatal(err)
		}
		m.run(uint32(100+n), c, path(n), n > 0)
		m.run(uint32(10000+n), c, path(1), true) // starts all the time
	}
	r, err := perfdata.NewReader(bytes.NewReader(m.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := newBuilder(r, Options{Live: &stopped{}})
	defer b.close()
	if err := b.read(); err != nil {
		t.Fatal(err)
	}
	for n := range programs {
		if err := os.Remove(path(n)); err != nil {
			t.Fatal(err)
		}
	}
	full := 0
	for _, f := range b.fileList {
		if f.tables.Source != nil {
			full++
		}
		if f.path == path(0) && f.trimmed {
			t.Error("the tables of a program that runs were dropped")
		}
		if f.path == path(1) && f.trimmed {
			t.Error("the tables of a program that starts all the time were dropped")
		}
	}
	if most := maxUnused + trimAfter + 1; len(b.fileList) != programs || full > most {
		t.Errorf("%d of %d files have tables, expected at most %d of %d", full, len(b.fileList), most, programs)
	}
	b.finish()
	named := make(map[string]bool)
	for i := range b.rec.places {
		if p := &b.rec.places[i]; p.Symbol.Name == "compare" {
			named[p.Object.Name] = true
		}
	}
	if len(named) != programs {
		t.Errorf("frames in %d of %d programs have a name", len(named), programs)
	}
}

// Files without a frame are forgotten once no process maps them.
func TestUnusedFilesWithoutFrames(t *testing.T) {
	m := newMade()
	for n := range uint32(4 * trimAfter) {
		m.fork(100+n, 1, m.time+1)
		m.exec(100+n, m.time+1)
		m.mmap(100+n, 0x1000, fmt.Sprintf("/program%d", n))
		m.exit(100 + n)
	}
	if b := m.build(t, Options{Live: &stopped{}}); len(b.files) > trimAfter+1 || len(b.fileList) > trimAfter+1 {
		t.Errorf("%d files of %d processes that ended", len(b.fileList), 4*trimAfter)
	}
}

// The same file is one object, whatever its name is. A file with the same build ID is another one
// unless its bytes are the same.
func TestSharedObjects(t *testing.T) {
	c := programWithCode(t)
	dir := t.TempDir()
	original, link, copied, other := filepath.Join(dir, "original"), filepath.Join(dir, "link"), filepath.Join(dir, "copied"), filepath.Join(dir, "other")
	changed := append(bytes.Clone(c.data[:len(c.data)-1]), c.data[len(c.data)-1]^1)
	for path, data := range map[string][]byte{original: c.data, copied: c.data, other: changed} {
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(original, link); err != nil {
		t.Fatal(err)
	}
	m := newMade()
	for i, path := range []string{original, link, copied, other, link} {
		m.run(uint32(100+i), c, path, i > 0)
	}
	b := m.build(t, Options{Live: &stopped{}})
	var names []string
	for _, o := range b.rec.Objects {
		names = append(names, filepath.Base(o.Name))
	}
	if got := fmt.Sprint(names); got != "[original other]" {
		t.Errorf("objects %s, expected [original other]", got)
	}
	for i := range b.rec.places {
		if p := &b.rec.places[i]; p.Symbol.Name != "compare" {
			t.Errorf("%v is named %q", p.Object, p.Symbol.Name)
		}
	}
	if len(b.rec.Stacks) != 5 {
		t.Errorf("%d stacks, expected one for each process", len(b.rec.Stacks))
	}
}

// A file gives the same answers after Trim.
func TestTrimmedFile(t *testing.T) {
	c := programWithCode(t)
	f, err := object.Open(c.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	address := c.pc - 0x10000
	answers := func() string {
		symbols, err := f.FindSymbols([]uint64{address})
		lines, lineErr := f.Locate(address)
		start, ok := f.FunctionStart(address)
		return fmt.Sprint(symbols, err, lines, lineErr, start, ok)
	}
	before := answers()
	for range 2 {
		if err := f.Trim(); err != nil {
			t.Fatal(err)
		}
		if after := answers(); after != before {
			t.Errorf("%s after Trim, %s before", after, before)
		}
	}
}

// The content of a jitdump is dropped once no process maps it.
func TestUnusedDumps(t *testing.T) {
	b := newBuilder(new(perfdata.Reader), Options{Live: &stopped{}})
	var dumps []*jitdump
	for n := range int32(2) {
		d := &jitdump{fileKey: fileKey{path: fmt.Sprint(n)}, builder: b, opened: true, code: new(codefile.Jitdump)}
		d.bytes = 1000
		b.dumps[d.fileKey] = d
		b.process(n).space.code.dumps = []*jitdump{d}
		dumps = append(dumps, d)
	}
	gone := b.process(1)
	b.unnamed[b.place(placeKey{address: 1})] = unnamedPlace{lookup: 1, space: gone.space, dumps: dumps[1:], perfMap: gone.perfMap}
	b.leave(gone)
	gone.space = newSpace()
	b.trimDumps()
	if _, held := b.held(-1, nil); dumps[0].code == nil || dumps[1].code != nil || len(b.dumps) != 1 || held != 1000 {
		t.Errorf("%d jitdumps with %d bytes are left", len(b.dumps), held)
	}
	b.retryPlaces() // the place without a name still refers to it
}
