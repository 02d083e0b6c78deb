// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/object"
)

// These programs in testdata have debugging information in a second file. They
// are built from small.c with -ffile-prefix-map=$PWD=. -Wl,--build-id=none
// -Wl,-z,noseparate-code,-Ttext=0x401000 -nostdlib -static -no-pie -g -O1:
//
//	split4: -gdwarf-4 -gsplit-dwarf, then dwp -e split4.elf -o split4.dwp
//	split5: -gdwarf-5 -gsplit-dwarf
//	shared: -gdwarf-5, then cp shared.elf copy.elf; dwz -m shared.debug -M shared.debug shared.elf copy.elf
var parted = []struct {
	program, part string
	kind          object.DebugKind
}{
	{"split4.elf", "split4.dwp", object.PackagedDebug},
	{"split5.elf", "split5.dwo", object.SplitDebug},
	{"shared.elf", "shared.debug", object.SupplementaryDebug},
}

// openParted opens a program with the given content of its second file.
func openParted(t testing.TB, program []byte, kind object.DebugKind, part []byte) *object.File {
	path := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(path, part, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := object.NewFile(program, "program")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	_, err = file.OpenDebugFile(object.DebugSearch{Directories: []string{}, Open: func(wanted object.DebugKind, _ string, _ []byte) (*os.File, error) {
		if wanted != kind {
			return nil, nil
		}
		return os.Open(path)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestParted finds a function's variables in the second file, and none without it.
func TestParted(t *testing.T) {
	for _, p := range parted {
		t.Run(p.program, func(t *testing.T) {
			info, err := Open(openParted(t, read(t, p.program), p.kind, read(t, p.part)))
			if err != nil {
				t.Fatal(err)
			}
			fn, err := info.Functions("manhattan")
			if err != nil || len(fn) != 1 {
				t.Fatalf("%v, %v", fn, err)
			}
			scopes, err := info.Scopes(fn[0].Entry)
			if err != nil {
				t.Fatal(err)
			}
			if s := scopes[len(scopes)-1]; len(s.Arguments) != 1 || s.Arguments[0].Type.String() != "const struct point *" {
				t.Errorf("%+v", s.Arguments)
			}
			alone, err := Open(openParted(t, read(t, p.program), p.kind, nil))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := alone.Functions("manhattan"); err == nil {
				t.Error("found without the second file")
			}
		})
	}
}

// TestMutatedParts damages the second file. The result is an error or usable.
func TestMutatedParts(t *testing.T) {
	rounds := 20
	if sample.Full() {
		rounds = 150
	}
	for _, p := range parted {
		program, part := read(t, p.program), read(t, p.part)
		r := sample.Rand(t)
		for range rounds {
			damaged := slices.Clone(part)
			for range 1 + r.IntN(4) {
				at := 64 + r.IntN(len(damaged)-64)
				switch r.IntN(3) {
				case 0:
					damaged[at] ^= 1 << r.IntN(8)
				case 1:
					damaged[at] = byte(r.IntN(256))
				case 2:
					copy(damaged[at:], damaged[64+r.IntN(len(damaged)-64):][:1+r.IntN(16)])
				}
			}
			exercisePart(t, program, p.kind, damaged)
		}
	}
}

func exercisePart(t *testing.T, program []byte, kind object.DebugKind, part []byte) {
	file := openParted(t, program, kind, part)
	exercise(t, file, 17)
	for pc := uint64(0x401000); pc < 0x401100; pc += 17 {
		file.Locate(pc)
		file.FunctionsAt(pc)
	}
}

// FuzzPart reads second files with arbitrary content.
func FuzzPart(f *testing.F) {
	var programs [][]byte
	for k, p := range parted {
		programs = append(programs, read(f, p.program))
		f.Add(uint8(k), read(f, p.part))
	}
	f.Fuzz(func(t *testing.T, k uint8, part []byte) {
		p := parted[int(k)%len(parted)]
		exercisePart(t, programs[int(k)%len(parted)], p.kind, part)
	})
}
