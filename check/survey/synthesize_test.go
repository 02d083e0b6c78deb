// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"debug/elf"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// Object files that compilers write without tables get tables of which no row is wrong, for all
// functions and their cold parts, but for what only a jump table without a visible length leads to,
// as in code for amd64 that is not optimized.
func TestSynthesize(t *testing.T) {
	source, err := os.ReadFile("../testdata/functions.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		for _, flags := range []string{"-O0", "-O2 -fomit-frame-pointer", "-O2 -fno-omit-frame-pointer"} {
			t.Run(compiler+" "+flags, func(t *testing.T) {
				p, err := ELF(compiled(t, compiler, "functions.c", string(source), append(strings.Fields(flags), "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-w")...))
				if err != nil {
					t.Fatal(err)
				}
				made, err := p.Synthesize(nil)
				if err != nil {
					t.Fatal(err)
				}
				cold := 0
				for i := range made.Functions {
					f := &made.Functions[i]
					for _, g := range f.Gaps {
						if g.Reason != check.Guessed || f.Name != "switched" {
							t.Errorf("%s: %v", f.Name, g)
						}
					}
					if _, ok := partOf(f.Name); ok {
						cold++
					}
				}
				r, err := check.Section(made.Section, check.Code{Memory: made.File}, check.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d functions, %+v", len(made.Functions), r.Counters)
				if compiler == "gcc" && flags != "-O0" && cold == 0 {
					t.Error("no cold parts")
				}
				if r.Functions < 18 || len(r.Findings) > 0 || r.Disagree > 0 {
					t.Errorf("%v", r.Findings)
				}
				only, err := p.Synthesize(func(symbol string) bool { return symbol == "leaf" })
				if err != nil || len(only.Functions) != 1 || only.Functions[0].Name != "leaf" {
					t.Errorf("%+v, %v", only, err)
				}
			})
		}
	}
}

// crosscall1, through which a thread of C enters Go, saves all registers that C preserves. Its assembly
// has no directives on amd64, no type and no size.
func TestSynthesizeCgo(t *testing.T) {
	f, err := object.Open(testprogram.BuildCgo(t, "callbacks"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := ELF(f)
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Synthesize(func(symbol string) bool { return symbol == "crosscall1" })
	if err != nil || len(made.Functions) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	if got := made.Functions[0]; got.Undecided > 0 || got.Described != (runtime.GOARCH == "arm64") {
		t.Errorf("%+v", got)
	}
	r, err := check.Section(made.Section, check.Code{Memory: f}, check.Options{})
	if err != nil || r.Agree != r.Instructions || r.Agree < 15 {
		t.Errorf("%+v, %v", r, err)
	}
	// The frame at the call has a slot for each register.
	var x cfi.Interpreter
	slots := 0
	for fde := range made.Section.FDEs() {
		for row := range x.Rows(fde) {
			n := 0
			for _, r := range row.Registers {
				if r.Rule.Kind == cfi.Offset {
					n++
				}
			}
			slots = max(slots, n)
		}
	}
	if want := map[string]int{"amd64": 7, "arm64": 20}[runtime.GOARCH]; slots != want {
		t.Errorf("%d slots, want %d", slots, want)
	}
}

func TestSynthesizeCode(t *testing.T) {
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	made, err := SynthesizeCode([]byte{0x53, 0x90, 0x5b, 0xc3}, amd64)
	if err != nil || len(made.Functions) != 1 || made.Functions[0].Undecided != 0 || made.Section.Index().Ranges()[0].End != 4 {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := SynthesizeCode(nil, amd64); !errors.Is(err, check.ErrCode) {
		t.Error(err)
	}
	if _, err := SynthesizeCode([]byte{0}, arch.Lookup(elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB)); !errors.Is(err, check.ErrMachine) {
		t.Error(err)
	}
}

func TestPartOf(t *testing.T) {
	for symbol, want := range map[string]string{"f.cold": "f", "f.cold.3": "f", "f.part.0.cold": "f.part.0", "f": "", "f.colder": "", "f.part.0": ""} {
		if got, ok := partOf(symbol); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", symbol, got, ok)
		}
	}
}

// The landing pads and cold parts of described functions get the rows of the compiler.
func TestSynthesizeExceptions(t *testing.T) {
	source, err := os.ReadFile("../testdata/frames.cc")
	if err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"g++", "aarch64-linux-gnu-g++"} {
		for _, flags := range []string{"-O2", "-O0"} {
			p, err := ELF(compiled(t, compiler, "frames.cc", string(source), flags, "-w"))
			if err != nil {
				t.Fatal(err)
			}
			made, err := p.Synthesize(func(symbol string) bool {
				return strings.Contains(symbol, "caught") || strings.Contains(symbol, "cleanup")
			})
			if err != nil || len(made.Functions) < 2 {
				t.Fatalf("%+v, %v", made, err)
			}
			for i := range made.Functions {
				f := &made.Functions[i]
				t.Logf("%s %s: %s: %d of %d instructions undecided %v", compiler, flags, f.Name, f.Undecided, f.Instructions, f.Gaps)
				if f.Undecided > 0 {
					t.Error("not all is decided")
				}
			}
		}
	}
}
