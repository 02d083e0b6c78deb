// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// Nearly everything is decided in the libraries of C and C++, and hardly a function has a
// finding: those of libgcc, libc and ld.so that replace their frame, and _dl_runtime_profile,
// with an adjustment of the CFA that should have the other sign.
// The printf functions of libc, with jump tables of unknown length, are 2% of its instructions.
func TestLibraries(t *testing.T) {
	arm64 := testprogram.Emulations["arm64"]
	for _, directory := range []string{"/usr/lib/x86_64-linux-gnu", arm64.Root() + "/lib"} {
		t.Run(directory, func(t *testing.T) {
			var all Counters
			for _, name := range []string{"libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1"} {
				f, err := object.Open(directory + "/" + name)
				if err != nil {
					t.Skipf("skipped: %s is not installed", name)
				}
				r, err := File(f, Options{})
				f.Close()
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: %d of %d functions defective, %d of %d instructions undecided", name, r.Defective, r.Functions, r.Undecided, r.Instructions)
				all.Add(&r.Counters)
			}
			if all.Defective*1000 > all.Functions*3 {
				t.Errorf("%d of %d functions have findings", all.Defective, all.Functions)
			}
			// What does not rest on a guess.
			other := all.Undecided - all.Reasons[Guessed] - all.Reasons[MayNotReturn] - all.Reasons[OpenJump]
			if other*1000 > all.Instructions*15 || all.Undecided*1000 > all.Instructions*20 || (all.Functions-all.Decided)*1000 > all.Functions*15 {
				t.Errorf("%+v", all)
			}
		})
	}
}

// At least 98.5% of the FDEs and instructions of a system's programs and libraries are decided, and under
// 0.3% of the functions have findings, which docs/findings.md counts. A sample of files can have more.
func TestSystem(t *testing.T) {
	arm64 := testprogram.Emulations["arm64"]
	files := elfFiles(t, "/usr/bin", "/usr/sbin", "/usr/lib", arm64.Root()+"/lib")
	decided, defective := 0.985, 0.003
	if !sample.Full() {
		files, decided, defective = sample.Of(t, files, 60), 0.93, 0.03
	}
	var all Counters
	checked := 0
	for _, path := range files {
		f, err := object.Open(path)
		if err != nil {
			continue
		}
		r, err := File(f, Options{})
		f.Close()
		switch {
		case errors.Is(err, ErrMachine), errors.Is(err, ErrRelocatable):
			continue
		case err != nil:
			t.Errorf("%s: %v", path, err)
			continue
		}
		checked++
		all.Add(&r.Counters)
	}
	if all.Functions == 0 {
		t.Skip("skipped: no file has unwind tables")
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	functions, instructions, found := share(all.Decided, all.Functions), 1-share(all.Undecided, all.Instructions), share(all.Defective, all.Functions)
	t.Logf("%d files: %d FDEs, %.2f%% decided; %d instructions, %.2f%% decided; %.3f%% of functions have findings",
		checked, all.Functions, 100*functions, all.Instructions, 100*instructions, 100*found)
	if functions < decided || instructions < decided || found > defective {
		t.Errorf("%+v", all)
	}
}

// elfFiles returns the programs and shared libraries for the machines that can be checked, each once, in
// directories, without separate debug files.
func elfFiles(t *testing.T, directories ...string) (list []string) {
	t.Helper()
	var known []os.FileInfo
	seen := map[int64][]int{} // by size: indexes in known
	for _, directory := range directories {
		_ = filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case d.IsDir() && path == "/usr/lib/debug":
				return fs.SkipDir
			case !d.Type().IsRegular() || !isELF(path):
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			for _, i := range seen[info.Size()] {
				if os.SameFile(known[i], info) {
					return nil
				}
			}
			seen[info.Size()] = append(seen[info.Size()], len(known))
			known, list = append(known, info), append(list, path)
			return nil
		})
	}
	return list
}

func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var header [20]byte
	if _, err := io.ReadFull(f, header[:]); err != nil || string(header[:4]) != elf.ELFMAG || header[elf.EI_DATA] != byte(elf.ELFDATA2LSB) {
		return false
	}
	typ, machine := elf.Type(binary.LittleEndian.Uint16(header[16:])), elf.Machine(binary.LittleEndian.Uint16(header[18:]))
	return (typ == elf.ET_EXEC || typ == elf.ET_DYN) && (machine == elf.EM_X86_64 || machine == elf.EM_AARCH64)
}
