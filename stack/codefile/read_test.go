// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/snapshot"
)

// dumpOf makes a jitdump of functions of 32 bytes, each at the time of its number.
func dumpOf(t testing.TB, functions ...perf.Load) []byte {
	t.Helper()
	e := perf.Encoder{Order: binary.LittleEndian}
	e.Header(&perf.Header{Order: binary.LittleEndian, Machine: elf.EM_X86_64, PID: 9, Time: 1})
	for i := range functions {
		l := &functions[i]
		l.Index, l.Code = uint64(i+1), make([]byte, 32)
		lines := []perf.DebugEntry{{Address: l.Address, Line: 7, File: "/a.js"}, {Address: l.Address + 8, Line: 9, File: "/a.js"},
			{Address: l.Address + 16, Line: 0, File: "/a.js"}}
		if err := errors.Join(e.DebugInfo(l.Index, l.Address, lines), e.Load(l.Index, l)); err != nil {
			t.Fatal(err)
		}
	}
	return e.Data
}

// write writes files below a new root directory.
func write(t testing.TB, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for path, data := range files {
		path = filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A jitdump describes an address at a time: the function then, its line, and its rules
// if it has any.
func TestJitdump(t *testing.T) {
	root := write(t, map[string]string{"jit-9.dump": string(dumpOf(t, perf.Load{Address: 0x1000, Name: "old"}, perf.Load{Address: 0x1000, Name: "new"},
		perf.Load{Address: 0x2000, Name: "other"}))})
	d, err := NewReader().Jitdump(&snapshot.Process{Root: root}, Marker{Path: "/jit-9.dump"})
	if err != nil || d.Err != nil || d.Machine == nil || d.Counter || d.Unwinds() || len(d.Functions()) != 3 {
		t.Fatalf("%+v, %v", d, err)
	}
	// An address is looked up again when its function has changed, and for an earlier time.
	for range 2 {
		for _, test := range []struct {
			pc, time uint64
			name     string
			line     int
		}{
			{0x1004, 1, "old", 7}, {0x1004, 2, "new", 7}, {0x1008, End, "new", 9}, {0x1004, 1, "old", 7}, {0x1014, End, "new", 0},
			{0x1004, 0, "", 0}, {0x1020, End, "", 0}, {0x2000, 2, "", 0}, {0x2000, 3, "other", 7},
		} {
			f := d.Find(test.pc, test.time)
			name, line := "", 0
			if f != nil {
				name = d.Symbol(f).Name
			}
			if l := d.Locate(f, test.pc); l != nil {
				line = l[0].Line
			}
			if name != test.name || line != test.line {
				t.Errorf("%#x at %d: %q, line %d; expected %q, %d", test.pc, test.time, name, line, test.name, test.line)
			}
			if rules, err := d.Rules(f, test.pc); rules != nil || !errors.Is(err, cfi.ErrNoFDE) || d.Covers(f, test.pc) {
				t.Errorf("%#x: rules %v, %v", test.pc, rules, err)
			}
			if n := len(d.Code(f)); (n == 32) != (f != nil) {
				t.Errorf("%#x: %d bytes of code", test.pc, n)
			}
		}
	}
	last := ""
	for f := range d.Last() {
		last += d.Symbol(f).Name + " "
	}
	if last != "new other " {
		t.Errorf("at the end there are %q", last)
	}
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	for from, want := range map[uint64]error{0: nil, 0x1800: snapshot.ErrOtherProcess} {
		if err := d.Fits(amd64, func(address uint64) bool { return address >= from }); !errors.Is(err, want) {
			t.Errorf("where there is code from %#x on: %v", from, err)
		}
	}
	if err := d.Fits(arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB), nil); err == nil {
		t.Error("it is for arm64 too")
	}
}

// A jitdump is read once, whatever its name. The inode of a marker decides.
func TestMarkers(t *testing.T) {
	root := write(t, map[string]string{"jit-9.dump": string(dumpOf(t, perf.Load{Address: 0x1000, Name: "f"})), "jit-8.dump": "no jitdump"})
	if err := os.Link(filepath.Join(root, "jit-9.dump"), filepath.Join(root, "jit-10.dump")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(root, "jit-9.dump"))
	if err != nil {
		t.Fatal(err)
	}
	inode := untrusted.IdentityOf(info).Inode
	open := func() (*os.File, error) { return os.Open(filepath.Join(root, "jit-10.dump")) }
	p, users := &snapshot.Process{Root: root}, &snapshot.Process{Root: root, Users: []uint32{}}
	r := NewReader()
	first, err := r.Jitdump(p, Marker{Path: "/jit-9.dump"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		p      *snapshot.Process
		marker Marker
		want   string // of the error
	}{
		{p, Marker{Path: "/jit-10.dump"}, ""},
		{p, Marker{Path: "/jit-9.dump", Inode: inode + 1}, ""}, // which may have been copied there
		{users, Marker{Path: "/jit-9.dump", Inode: inode}, ""},
		{users, Marker{Path: "/jit-9.dump", Inode: inode + 1}, "not the file that was mapped"},
		{p, Marker{Path: "/gone/jit-9.dump", Open: open}, ""},
		{nil, Marker{Path: "/gone/jit-9.dump", Open: open}, ""},
		{nil, Marker{Path: "/jit-9.dump"}, "are not available"},
		{p, Marker{Path: "/jit-8.dump"}, "not a jitdump"},
		{p, Marker{Path: "/jit-8.dump"}, "not a jitdump"},
	} {
		left := r.left
		d, err := r.Jitdump(test.p, test.marker)
		switch {
		case test.want == "" && (err != nil || d != first || r.left != left):
			t.Errorf("%+v: %p, %v; the first is %p", test.marker, d, err, first)
		case test.want != "" && (d != nil || err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%+v: %p, %v", test.marker, d, err)
		}
	}
}

// The perf map is that of the process's likeliest ID. Errors say why a file was refused.
func TestMap(t *testing.T) {
	root := write(t, map[string]string{"tmp/perf-1.map": "1000 10 first\n1000 10 again\nx y z\n2000 10 cut", "tmp/perf-2.map": "3000 10 second\n"})
	if err := os.Mkdir(filepath.Join(root, "tmp/perf-3.map"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		ids     []int
		path    string // "" for no map
		symbols string
		err     bool
	}{
		{[]int{1, 2}, "/tmp/perf-1.map", "again ", true},
		{[]int{4, 2}, "/tmp/perf-2.map", "second ", false},
		{[]int{3, 2}, "/tmp/perf-2.map", "second ", false},
		{[]int{3}, "/tmp/perf-3.map", "", true},
		{[]int{4}, "", "", false},
		{nil, "", "", false},
	} {
		m := NewReader().Map(&snapshot.Process{Root: root, IDs: test.ids})
		if m == nil {
			m = new(Map)
		}
		symbols := ""
		if m.symbols != nil {
			for s := range m.Symbols() {
				symbols += s.Name + " "
			}
		}
		if m.Path != test.path || symbols != test.symbols || (m.Err != nil) != test.err {
			t.Errorf("%v: %q of %s, %v", test.ids, symbols, m.Path, m.Err)
		}
	}
	if NewReader().Map(nil) != nil {
		t.Error("nobody has a map")
	}
}

// If a perf map is too large, or more than may still be read, its last complete lines are read, because they
// replace earlier ones.
func TestLargeMap(t *testing.T) {
	const text = "1000 10 old\n2000 10 gone\n1000 10 new\n3000 10 last\n"
	root := write(t, map[string]string{"tmp/perf-1.map": text})
	for _, test := range []struct {
		mapLimit, left int64
		names, err     string
	}{
		{30, MaxBytes, "new last ", "only the last 30 of its 50 bytes were read: the limit for such a file"},
		{40, 30, "new last ", "only the last 30 of its 50 bytes were read: the limit for all files of the program"},
		{MaxBytes, 15, "last ", "only the last 15 of its 50 bytes were read: the limit for all files of the program"},
	} {
		r := NewReaderBeside(MaxBytes - test.left)
		r.mapLimit = test.mapLimit
		m := r.Map(&snapshot.Process{Root: root, IDs: []int{1}})
		names := ""
		for s := range m.Symbols() {
			names += s.Name + " "
		}
		if names != test.names || m.Err == nil || !strings.Contains(m.Err.Error(), test.err) {
			t.Errorf("%q, %v", names, m.Err)
		}
	}
}

// No more is read than the Reader's limit, and the error reports the omitted part.
func TestBudget(t *testing.T) {
	const text = "1000 10 first\n2000 10 second\n"
	root := write(t, map[string]string{"map": text})
	for _, test := range []struct {
		left  untrusted.Budget
		lines int
		err   string // of the map, or why there is none
	}{
		{2 * untrusted.Budget(len(text)), 2, ""},
		{14, 1, "only the first 14 of its 29 bytes were read"},
		{0, 0, "only the first 0 of its 29 bytes were read"},
	} {
		r := NewReader()
		r.left = test.left
		_, m, err := r.Read(filepath.Join(root, "map"))
		lines := 0
		if m != nil {
			lines, err = m.Lines(), m.Err
		}
		if lines != test.lines || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("of %d bytes: %d lines, %v", test.left, lines, err)
		}
		if left := max(test.left-untrusted.Budget(len(text)), 0); r.left != left {
			t.Errorf("of %d bytes %d are left, want %d", test.left, r.left, left)
		}
	}
}

// AtMost bounds one read, and what it does not read is left for others.
func TestAtMost(t *testing.T) {
	const text = "1000 10 first\n2000 10 second\n"
	root := write(t, map[string]string{"map": text})
	for most, left := range map[int64]int64{14: 100 - 14, 1000: 100 - int64(len(text)), -1: 100} {
		r := NewReader()
		r.left = 100
		r.AtMost(most, func() { r.Read(filepath.Join(root, "map")) })
		if r.Left() != left {
			t.Errorf("after at most %d bytes %d are left, expected %d", most, r.Left(), left)
		}
	}
}

// Errors name the file, also with the root directory of a process.
func TestReadNamed(t *testing.T) {
	if _, err := os.Stat("/proc/self/root"); err != nil {
		t.Skip("skipped: ", err)
	}
	root := write(t, map[string]string{"map": "1000 10 first\n"})
	path := filepath.Join("/proc/self/root", root, "map")
	if _, m, err := NewReader().Read(path); err != nil || m.Lines() != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

// A file that ends in the middle of a record is damaged, unless a process may still be
// writing it.
func TestParse(t *testing.T) {
	dump := dumpOf(t, perf.Load{Address: 0x1000, Name: "f"}, perf.Load{Address: 0x2000, Name: "g"})
	const symbols = "1000 10 f\n2000 10 g\n"
	for _, test := range []struct {
		data      []byte
		functions int
		err       error // of a part; without functions, of the file
	}{
		{dump, 2, nil},
		{dump[:len(dump)-1], 1, perf.ErrTruncated},
		{dump[:40], 0, nil},
		{dump[:41], 0, perf.ErrTruncated},
		{dump[:39], 0, perf.ErrTruncated},
		{[]byte(symbols), 2, nil},
		{[]byte(symbols[:15]), 1, perf.ErrTruncated},
		{[]byte("x\n" + symbols), 2, perf.ErrMap},
		{[]byte("a text"), 0, perf.ErrHeader},
		{nil, 0, perf.ErrTruncated},
	} {
		d, m, err := Parse("file", test.data, nil)
		functions := 0
		switch {
		case d != nil && m == nil && err == nil:
			functions, err = len(d.Functions()), d.Err
		case m != nil && d == nil && err == nil:
			functions, err = m.Lines(), m.Err
		case d != nil || m != nil:
			t.Errorf("%q: %v, %v, %v", test.data, d, m, err)
		}
		if functions != test.functions || !errors.Is(err, test.err) || test.err == nil && err != nil {
			t.Errorf("%q: %d functions, %v; expected %d, %v", test.data, functions, err, test.functions, test.err)
		}
	}
}
