// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// elfWith returns an ELF file with one section of call frame information and no code,
// for readelf and llvm-dwarfdump.
func elfWith(m *arch.Machine, s *cfi.Section) []byte {
	name := ".eh_frame"
	if s.Kind == cfi.DebugFrame {
		name = ".debug_frame"
	}
	names := "\x00" + name + "\x00.shstrtab\x00"
	var b bytes.Buffer
	put := func(v any) { binary.Write(&b, m.Order, v) }
	var ident [16]byte
	copy(ident[:], "\x7fELF")
	ident[4], ident[5], ident[6] = byte(m.Class), byte(dataOf(m)), 1
	size, entry := uint64(64), uint16(64)
	if m.Class == elf.ELFCLASS32 {
		size, entry = 52, 40
	}
	put(ident)
	tables := (size + uint64(len(s.Data)) + uint64(len(names)) + 7) &^ 7
	type sect struct {
		name, typ                   uint32
		flags, address, offset, len uint64
	}
	sections := []sect{{}, {1, uint32(elf.SHT_PROGBITS), uint64(elf.SHF_ALLOC), s.Address, size, uint64(len(s.Data))},
		{uint32(len(name)) + 2, uint32(elf.SHT_STRTAB), 0, 0, size + uint64(len(s.Data)), uint64(len(names))}}
	if m.Class == elf.ELFCLASS32 {
		put([]uint16{uint16(elf.ET_EXEC), uint16(m.ELF)})
		put([]uint32{1, 0, 0, uint32(tables), 0})
		put([]uint16{uint16(size), 32, 0, entry, 3, 2})
	} else {
		put([]uint16{uint16(elf.ET_EXEC), uint16(m.ELF)})
		put(uint32(1))
		put([]uint64{0, 0, tables})
		put(uint32(0))
		put([]uint16{uint16(size), 56, 0, entry, 3, 2})
	}
	b.Write(s.Data)
	b.WriteString(names)
	b.Write(make([]byte, int(tables)-b.Len()))
	for _, h := range sections {
		put([]uint32{h.name, h.typ})
		if m.Class == elf.ELFCLASS32 {
			put([]uint32{uint32(h.flags), uint32(h.address), uint32(h.offset), uint32(h.len), 0, 0, 1, 0})
		} else {
			put([]uint64{h.flags, h.address, h.offset, h.len})
			put([]uint32{0, 0})
			put([]uint64{1, 0})
		}
	}
	return b.Bytes()
}

// fewFDEs is the number of FDEs of a library that the readers print.
const fewFDEs = 60

// convertedTo writes the first FDEs of a section in another layout.
func convertedTo(t *testing.T, s *cfi.Section, to conversion) *cfi.Section {
	t.Helper()
	e := cfi.Encoder{Kind: to.kind, Machine: to.machine, Address: s.Address}
	cies := make(map[*cfi.CIE]*cfi.CIE)
	n := 0
	for f := range s.FDEs() {
		if n++; n > fewFDEs {
			break
		}
		g := *f
		if to.dwarf64 {
			if cies[f.CIE] == nil {
				c := *f.CIE
				c.DWARF64 = true
				cies[f.CIE] = &c
			}
			g.CIE, g.DWARF64 = cies[f.CIE], true
		}
		if err := e.FDE(&g); err != nil {
			t.Fatal(err)
		}
	}
	return &cfi.Section{Name: "converted", Kind: to.kind, Machine: to.machine, Address: s.Address, Data: e.Data}
}

// readelf and llvm-dwarfdump print the same for a section in another layout, or for a
// .debug_frame made of an .eh_frame, as for the original, for the C library of every
// installed machine.
func TestReadersReadConversions(t *testing.T) {
	readers := map[string]func(path string, kind cfi.Kind) []string{
		"readelf": func(path string, kind cfi.Kind) []string { return []string{"readelf", "-wf", path} },
		"llvm-dwarfdump": func(path string, kind cfi.Kind) []string {
			if kind == cfi.DebugFrame {
				return []string{"llvm-dwarfdump", "--debug-frame", path}
			}
			return []string{"llvm-dwarfdump", "--eh-frame", path}
		},
	}
	seen := make(map[string]bool)
	for _, s := range realSections(t) {
		m := s.Machine
		if s.Kind != cfi.EHFrame || seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		other := arch.Lookup(m.ELF, m.Class, elf.ELFDATA2LSB+elf.ELFDATA2MSB-dataOf(m))
		for reader, command := range readers {
			t.Run(m.Name+"/"+reader, func(t *testing.T) {
				testprogram.RequireTool(t, reader)
				read := func(to conversion) []string {
					path := filepath.Join(t.TempDir(), "converted.o")
					c := convertedTo(t, s, to)
					if err := os.WriteFile(path, elfWith(to.machine, c), 0o644); err != nil {
						t.Fatal(err)
					}
					args := command(path, to.kind)
					out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
					if err != nil {
						t.Fatalf("%v: %v\n%s", args, err, out)
					}
					return frameLines(out)
				}
				want := read(conversion{kind: cfi.EHFrame, machine: m})
				if len(want) < 10 {
					t.Fatalf("%q", want)
				}
				for _, to := range []conversion{
					{kind: cfi.DebugFrame, machine: m},
					{kind: cfi.DebugFrame, machine: m, dwarf64: true},
					{kind: cfi.EHFrame, machine: other},
				} {
					if reader == "llvm-dwarfdump" && to.machine == other {
						continue // it has no register names for most of these machines
					}
					if got := read(to); !slices.Equal(got, want) {
						i := 0
						for i < min(len(got), len(want)) && got[i] == want[i] {
							i++
						}
						t.Errorf("%+v: %d lines, want %d; from line %d on\n%s\nwant\n%s", to, len(got), len(want), i,
							strings.Join(got[i:min(i+3, len(got))], "\n"), strings.Join(want[i:min(i+3, len(want))], "\n"))
					}
				}
			})
		}
	}
	if len(seen) == 0 {
		t.Error("no section")
	}
}

var fdeLine = regexp.MustCompile(`FDE cie=[0-9a-f]+ pc=0*([0-9a-f]+)\.\.\.?0*([0-9a-f]+)`)

// frameLines returns the lines of a reader's output about FDEs, with normalized
// addresses, and its warnings.
func frameLines(out []byte) []string {
	var lines []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch match := fdeLine.FindStringSubmatch(line); {
		case match != nil:
			lines = append(lines, "FDE "+match[1]+" "+match[2])
		case strings.Contains(line, "DW_CFA_nop"): // padding differs
		case strings.Contains(line, "DW_CFA_"):
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		case strings.Contains(line, "unsupported CIE version"): // llvm, of version 3 in .eh_frame: the RISC-V library's
		case strings.Contains(strings.ToLower(line), "warning"), strings.Contains(line, "error"):
			lines = append(lines, line)
		}
	}
	return lines
}

const throwing = `
#include <cstdio>
#include <stdexcept>
#include <string>
struct Guard { const char *s; ~Guard() { std::printf("~%s ", s); } };
extern "C" __attribute__((noinline)) void stop() { __asm__ volatile(""); }
extern "C" __attribute__((noinline)) int thrower(int n) {
	Guard g{"g"};
	if (n == 0) { stop(); throw std::runtime_error(std::string(40, 'x')); }
	return thrower(n - 1) + 1;
}
extern "C" __attribute__((noinline)) int catcher(int n) {
	try { return thrower(n); } catch (const std::exception &e) { std::printf("caught %s\n", e.what()); return 1; }
}
int main() { return catcher(3) + catcher(0) - 2; }
`

// A program with an .eh_frame and .eh_frame_hdr written by Clew, with the FDEs in another
// order, runs: libgcc throws through it, and gdb prints the same frames and saved
// registers as before.
func TestProgramsRunWithRewrittenTables(t *testing.T) {
	testprogram.RequireTool(t, "g++")
	testprogram.RequireTool(t, "objcopy")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("throwing.cc"), []byte(throwing), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("g++", "-O1", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-o", at("before"), at("throwing.cc"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, out)
	}
	f, err := object.Open(at("before"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sections, err := f.CFISections()
	if err != nil || len(sections) != 1 {
		t.Fatalf("%d sections, %v", len(sections), err)
	}
	s := sections[0]
	var fdes []cfi.FDE
	for f := range s.FDEs() {
		fdes = append(fdes, *f)
	}
	slices.Reverse(fdes)
	e := cfi.Encoder{Machine: s.Machine, Address: s.Address}
	for i := range fdes {
		if err := e.FDE(&fdes[i]); err != nil {
			t.Fatal(err)
		}
	}
	e.Terminator()
	_, headerAddress, ok := f.EHFrameHdr()
	if !ok || len(e.Data) > len(s.Data) || bytes.Equal(e.Data, s.Data) {
		t.Fatalf("%d bytes, before %d; .eh_frame_hdr: %v", len(e.Data), len(s.Data), ok)
	}
	header, err := e.AppendHeader(nil, headerAddress)
	if err != nil {
		t.Fatal(err)
	}
	// A section keeps its size: zeros follow the terminator.
	for name, data := range map[string][]byte{"eh_frame": append(e.Data, make([]byte, len(s.Data)-len(e.Data))...), "eh_frame_hdr": header} {
		if err := os.WriteFile(at(name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--update-section", ".eh_frame=" + at("eh_frame"), "--update-section", ".eh_frame_hdr=" + at("eh_frame_hdr"), at("before"), at("after")}
	if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	const said = "~g ~g ~g ~g caught xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n~g caught xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
	if out, err := exec.Command(at("after")).CombinedOutput(); err != nil || string(out) != said {
		t.Errorf("%v: %q", err, out)
	}
	testprogram.RequireTool(t, "gdb")
	backtrace := func(program string) string {
		out, err := exec.Command("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "break stop", "-ex", "run",
			"-ex", "bt", "-ex", "up 3", "-ex", "info frame", "-ex", "kill", program).CombinedOutput()
		if err != nil {
			t.Fatalf("gdb: %v\n%s", err, out)
		}
		var lines []string
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "#") || strings.Contains(line, "saved") || strings.Contains(line, " at 0x") {
				lines = append(lines, strings.TrimSpace(regexp.MustCompile(`0x[0-9a-f]+`).ReplaceAllString(line, "0x")))
			}
		}
		return strings.Join(lines, "\n")
	}
	got, want := backtrace(at("after")), backtrace(at("before"))
	if strings.Count(got, " thrower ") < 4 || !strings.Contains(got, "in main ") || !strings.Contains(got, "saved rip") || got != want {
		t.Errorf("gdb prints\n%s\nbefore\n%s", got, want)
	}
}
