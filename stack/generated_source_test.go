// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack_test

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
)

var amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)

// dumpOf makes a jitdump of functions of 32 bytes, with unwind tables.
func dumpOf(t testing.TB, machine elf.Machine, functions map[string]uint64) []byte {
	t.Helper()
	cie := *cfi.EntryCIE(amd64)
	cie.PointerEncoding = cfi.EncPCRel | cfi.EncSdata4
	program, err := cfi.NewBuilder(&cie).Program()
	if err != nil {
		t.Fatal(err)
	}
	tables := cfi.Encoder{Machine: amd64, Address: 1 << 31}
	if err := tables.Program(program, 1<<31-32, 32); err != nil {
		t.Fatal(err)
	}
	e := perf.Encoder{Order: binary.LittleEndian}
	// Records of another process ID: a fork continues its parent's file.
	e.Header(&perf.Header{Order: binary.LittleEndian, Machine: machine, PID: 99, Time: 1})
	for name, at := range functions {
		err := errors.Join(e.DebugInfo(1, at, []perf.DebugEntry{{Address: at, Line: 7, File: "/src/a.js"}}),
			e.UnwindingInfo(1, &perf.UnwindingInfo{EHFrame: tables.Data, Header: make([]byte, 20)}),
			e.Load(1, &perf.Load{PID: 99, TID: 99, Address: at, Name: name, Code: make([]byte, 32)}))
		if err != nil {
			t.Fatal(err)
		}
	}
	return e.Data
}

// snapshotOf returns a snapshot of a process with code at 0x10000, with a mapped jitdump and a
// perf map if they are not nil.
func snapshotOf(t testing.TB, dump, perfMap []byte) *snapshot.Snapshot {
	t.Helper()
	root := t.TempDir()
	for path, data := range map[string][]byte{"x/jit-99.dump": dump, "tmp/perf-12.map": perfMap} {
		path = filepath.Join(root, path)
		if data == nil {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := &snapshot.Snapshot{PID: 4711, Machine: amd64, Live: true, Mappings: []snapshot.Mapping{
		{Start: 0x10000, End: 0x20000, Readable: true, Executable: true},
	}}
	if dump != nil {
		s.Mappings = append(s.Mappings, snapshot.Mapping{Start: 0x30000, End: 0x31000, Readable: true, Executable: true, Path: "/x/jit-99.dump"})
	}
	s.Open = func(m *snapshot.Mapping) (*os.File, error) { return os.Open(filepath.Join(root, m.Path)) }
	s.Process = &snapshot.Process{Root: root, IDs: []int{12}}
	return s
}

// Sources that disagree are combined. Those of another process are refused and reported.
func TestCodeSources(t *testing.T) {
	perfMap := []byte("10000 20 of the map\n10100 20 only there\n")
	dump := dumpOf(t, elf.EM_X86_64, map[string]uint64{"of the dump": 0x10000})
	for _, test := range []struct {
		name    string
		dump    []byte
		perfMap []byte
		change  func(*snapshot.Snapshot)
		sources int
		names   map[uint64]string
		unwinds map[uint64]bool
		failed  bool
		err     error // what the failure wraps
	}{
		{name: "both", dump: dump, perfMap: perfMap, sources: 2,
			names:   map[uint64]string{0x10004: "of the dump", 0x10104: "only there", 0x10200: ""},
			unwinds: map[uint64]bool{0x10004: true, 0x10104: false}},
		{name: "none", names: map[uint64]string{0x10004: ""}},
		{name: "an older process's map", perfMap: perfMap, sources: 1, failed: true, err: snapshot.ErrOtherProcess,
			change: func(s *snapshot.Snapshot) { s.Process.Began = time.Now().Add(time.Minute) }, names: map[uint64]string{0x10004: ""}},
		{name: "the map of a core", perfMap: perfMap, sources: 1,
			change: func(s *snapshot.Snapshot) { s.Live = false }, names: map[uint64]string{0x10004: "of the map"}},
		{name: "another core's map", perfMap: []byte("90000 20 elsewhere\n"), sources: 1, failed: true, err: snapshot.ErrOtherProcess,
			change: func(s *snapshot.Snapshot) { s.Live = false }, names: map[uint64]string{0x10004: ""}},
		{name: "another core's jitdump", dump: dumpOf(t, elf.EM_X86_64, map[string]uint64{"f": 0x90000}), sources: 1, failed: true,
			err: snapshot.ErrOtherProcess, change: func(s *snapshot.Snapshot) { s.Live = false }},
		{name: "a jitdump of another machine", dump: dumpOf(t, elf.EM_AARCH64, map[string]uint64{"f": 0x10000}), sources: 1, failed: true,
			names: map[uint64]string{0x10004: ""}},
		{name: "a jitdump that is being written", dump: append(dump[:len(dump):len(dump)], dump[40:60]...), sources: 1,
			names: map[uint64]string{0x10004: "of the dump"}},
		{name: "no jitdump", dump: []byte("\x7fELF, say, or anything else that is long enough"), sources: 1, failed: true, err: perf.ErrHeader},
		{name: "an invalid line", perfMap: []byte("x y z\n10000 20 good\n"), sources: 1, failed: true, err: perf.ErrMap,
			names: map[uint64]string{0x10004: "good"}},
		{name: "a deleted file", dump: dump, sources: 1, failed: true, err: fs.ErrNotExist,
			change: func(s *snapshot.Snapshot) {
				s.Open = func(*snapshot.Mapping) (*os.File, error) { return nil, fs.ErrNotExist }
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.dump, test.perfMap)
			if test.change != nil {
				test.change(s)
			}
			objects := stack.NewObjects(s)
			defer objects.Close()
			for address, want := range test.names {
				module, _ := objects.Modules.Find(address)
				name := ""
				stacks := []stack.Stack{{Frames: []stack.Frame{{Code: stack.Code{Object: objects.Find(module, address), Address: address}}}}}
				objects.Name(stacks, stack.NameOptions{Lines: true})
				if name = stacks[0].Frames[0].Symbol.Name; name != want {
					t.Errorf("%#x is in %q, expected %q", address, name, want)
				}
				if l := stacks[0].Frames[0].Location(); want == "of the dump" && (l == nil || l.Line != 7) {
					t.Errorf("%#x is at %+v", address, l)
				}
			}
			for address, want := range test.unwinds {
				module, _ := objects.Modules.Find(address)
				if rules, err := module.Source.Rules(address); (rules != nil) != want || !want && !errors.Is(err, cfi.ErrNoFDE) {
					t.Errorf("%#x: rules %v, %v", address, rules, err)
				}
			}
			sources, err := objects.GeneratedCode()
			if len(sources) != test.sources || (err != nil) != test.failed || test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("%d sources, %v", len(sources), err)
			}
			for _, source := range sources {
				for f := range source.Functions() {
					if file, err := source.SymbolFile(nil, []generated.Function{f}); len(file) == 0 || err != nil {
						t.Errorf("no symbol file of %s: %v", f.Name, err)
					}
				}
			}
		})
	}
}

// A file that a runtime writes for perf is read without a process.
func TestReadCodeSource(t *testing.T) {
	for name, want := range map[string]generated.Kind{"10000 20 f\n": generated.PerfMap, "nothing": 0, "": 0,
		string(dumpOf(t, elf.EM_X86_64, map[string]uint64{"f": 0x10000})): generated.Jitdump} {
		s, err := generated.Read("file", []byte(name))
		if want == 0 {
			if err == nil {
				t.Errorf("%q was read", name)
			}
			continue
		}
		if err != nil || s.Kind != want || s.Entries != 1 {
			t.Errorf("%.20q: %+v, %v", name, s, err)
		}
	}
}

func FuzzCodeSource(f *testing.F) {
	f.Add([]byte("10000 20 f\n0x10000 0 g\n"))
	f.Add(dumpOf(f, elf.EM_X86_64, map[string]uint64{"f": 0x10000, "g": 0x10020}))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := generated.Read("fuzz", data)
		if err != nil {
			return
		}
		var some []generated.Function
		for f := range s.Functions() {
			f.Unwinds()
			f.Locate(f.Start)
			if len(some) < 100 {
				some = append(some, f)
			}
		}
		s.SymbolFile(amd64, some)
	})
}

// Files that claim more than they contain are read up to there, which is reported.
func TestSparseSources(t *testing.T) {
	dump := dumpOf(t, elf.EM_X86_64, map[string]uint64{"f": 0x10000})
	s := snapshotOf(t, append(dump, make([]byte, 1<<16)...), []byte("10100 20 g\n"))
	open := s.Open
	s.Open = func(m *snapshot.Mapping) (*os.File, error) {
		f, err := open(m)
		if err != nil {
			return nil, err
		}
		return f, os.Truncate(f.Name(), 1<<40)
	}
	objects := stack.NewObjects(s)
	defer objects.Close()
	sources, err := objects.GeneratedCode()
	if len(sources) != 2 || sources[0].Entries != 1 || sources[0].Err == nil || sources[1].Err != nil || err == nil ||
		!strings.Contains(err.Error(), "nothing was written after") {
		t.Errorf("%d sources, %v", len(sources), err)
	}
}
