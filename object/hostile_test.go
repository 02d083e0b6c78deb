// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/sample"
)

// exercise calls all methods of a file.
func exercise(t testing.TB, f *File) {
	t.Helper()
	f.Machine()
	f.BuildID()
	f.Entry()
	for _, s := range f.Sections() {
		f.SectionData(s.Index)
	}
	sections, _ := f.CFISections()
	for _, s := range sections {
		if s.Machine == nil {
			t.Error("a section without machine")
		}
	}
	f.EHFrame()
	f.DebugFrame()
	f.EHFrameHdr()
	f.Go()
	f.DebugLink()
	f.DebugAltLink()
	f.HasDebugInfo()
	readEntries(f)
	f.Symbol("malloc")
	f.Bias(0x7f0000001000, 0x1000, true)
	addrs := []uint64{f.Entry(), 0, 1, 0x1000, 0x401000, ^uint64(0)}
	n := 0
	for s := range f.Symbols() {
		if n++; n > 64 {
			break
		}
		addrs = append(addrs, s.Address, s.Address+s.Size-1)
		f.Symbol(s.Name)
	}
	for _, p := range f.Segments() {
		addrs = append(addrs, p.Vaddr, p.Vaddr+p.Filesz)
	}
	symbols, _ := f.FindSymbols(addrs)
	if len(symbols) != len(addrs) {
		t.Errorf("%d symbols for %d addresses", len(symbols), len(addrs))
	}
	var word [8]byte
	for _, a := range addrs {
		f.ReadMemory(word[:], a)
		f.Locate(a)
		if r, _ := f.LineRange(a); r.Line < 0 || r.Line > 0 && r.Start > a {
			t.Errorf("%#x is in the row %+v", a, r)
		}
		functions, _ := f.FunctionsAt(a)
		for _, function := range functions {
			if len(function.Ranges) == 0 || function.Ranges[0].Low != function.Entry {
				t.Errorf("%#x is in the function %+v", a, function)
			}
		}
		f.AfterPrologue(nil, a)
		f.StepTarget(nil, a)
		if site, ok, _ := f.CallSite(a); ok && (site.PC != a || site.At) {
			t.Errorf("the call that returns to %#x is %+v", a, site)
		}
		if sites, ok, _ := f.TailCalls(a); len(sites) > 0 && !ok {
			t.Errorf("no function at %#x has the tail calls %+v", a, sites)
		}
	}
	for _, name := range []string{"main", "outer", "first"} {
		f.Functions(name)
	}
	for line := range 4 {
		f.FindLine(nil, "inline.c", 8*line)
	}
	f.Damage()
}

// small returns a small dynamic program with debugging information, as bytes.
func small(t testing.TB, flags ...string) []byte {
	t.Helper()
	tool(t, "gcc")
	source := write(t, "inline.c", inlineSource)
	run(t, "gcc", append([]string{"-O2", "-g", "-o", source + ".out", source}, flags...)...)
	data, err := os.ReadFile(source + ".out")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// allocated returns the number of bytes that fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// check opens and exercises damaged data, and checks the bound of all allocations.
func check(t *testing.T, data []byte) {
	t.Helper()
	if n := allocated(func() {
		if f, err := NewFile(data, "damaged"); err == nil {
			exercise(t, f)
		}
	}); n > 16*uint64(len(data))+64<<20 {
		t.Errorf("%d bytes allocated for a file of %d", n, len(data))
	}
}

func TestTruncatedFiles(t *testing.T) {
	data := small(t)
	for n := 0; n < len(data); n += 64 {
		check(t, data[:n])
	}
}

// With truncated debugging information a function has the same results as before, or an error
// that names the file and the section.
func TestCutSections(t *testing.T) {
	data := small(t, "-gdwarf-5")
	whole, err := NewFile(data, "cut")
	if err != nil {
		t.Fatal(err)
	}
	main, ok := whole.Symbol("main")
	if !ok {
		t.Fatal("no main")
	}
	want, err := whole.Locate(main.Address)
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	for k, s := range whole.Sections() {
		switch s.Name {
		case ".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".debug_str", ".debug_line_str":
		default:
			continue
		}
		for size := range s.Size {
			cut := bytes.Clone(data)
			header := cut[binary.LittleEndian.Uint64(cut[40:])+uint64(shdr64*k):]
			binary.LittleEndian.PutUint64(header[32:], size)
			f, err := NewFile(cut, "cut")
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Locate(main.Address)
			complete := slices.Equal(got, want) || size == 0 && s.Name == ".debug_info" // without any information
			if !complete && (err == nil || !strings.HasPrefix(err.Error(), "cut: ") || !strings.Contains(err.Error(), ".debug_")) {
				t.Errorf("%s of %#x bytes: %+v, %v", s.Name, size, got, err)
			}
		}
	}
}

func TestMutatedFiles(t *testing.T) {
	mutants := 300
	if sample.Full() {
		mutants = 1500
	}
	for _, flags := range [][]string{nil, {"-c"}, {"-gz"}, {"-gdwarf-4"}} {
		data := small(t, flags...)
		random := sample.Rand(t)
		for range mutants {
			mutated := append([]byte(nil), data...)
			for range 1 + random.IntN(8) {
				at := random.IntN(len(mutated))
				switch random.IntN(4) {
				case 0: // the headers matter most
					at = random.IntN(64)
				case 1:
					at = len(mutated) - 1 - random.IntN(min(len(mutated), 64*40))
				}
				mutated[at] = [...]byte{0, 1, 0x7f, 0x80, 0xff, byte(random.Uint32())}[random.IntN(6)]
			}
			check(t, mutated)
		}
	}
}

func TestTruncatedWhileMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, small(t), 0o644); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	section, err := f.EHFrame()
	if err != nil || section == nil {
		t.Fatal(section, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.FindSymbols([]uint64{f.Entry()}); !errors.Is(err, ErrFault) {
		t.Errorf("FindSymbols: %v", err)
	}
	if _, err := f.EHFrame(); !errors.Is(err, ErrFault) {
		t.Errorf("EHFrame: %v", err)
	}
	if err := f.ReadMemory(make([]byte, 8), f.Entry()); !errors.Is(err, ErrFault) {
		t.Errorf("ReadMemory: %v", err)
	}
	if _, err := f.Locate(f.Entry()); !errors.Is(err, ErrFault) {
		t.Errorf("Locate: %v", err)
	}
	sum := 0
	err = Guard(func() error {
		for _, b := range section.Data {
			sum += int(b)
		}
		return nil
	})
	if !errors.Is(err, ErrFault) {
		t.Errorf("Guard: %v", err)
	}
	exercise(t, f)
	if !errors.Is(f.Damage(), ErrFault) {
		t.Errorf("Damage: %v", f.Damage())
	}
}

func FuzzFile(f *testing.F) {
	for _, name := range []string{"small.elf", "relocatable.elf", "riscv.elf", "big-endian.elf", "compressed.elf", "minidebug.elf"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := NewFile(data, "fuzz")
		if (err == nil) == (file == nil) {
			t.Fatalf("%v and %v", file, err)
		}
		if file != nil {
			exercise(t, file)
		}
	})
}

// overlapping returns a file with count sections of one name and type, each with the whole
// file as content.
func overlapping(name string, typ elf.SectionType, count int) []byte {
	strings := "\x00.shstrtab\x00" + name + "\x00"
	size := shdr64 * (count + 2)
	b := make([]byte, ehdr64+size+len(strings))
	o := binary.LittleEndian
	copy(b, elf.ELFMAG)
	b[elf.EI_CLASS], b[elf.EI_DATA], b[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	o.PutUint16(b[16:], uint16(elf.ET_DYN))
	o.PutUint16(b[18:], uint16(elf.EM_X86_64))
	o.PutUint64(b[40:], ehdr64)
	o.PutUint16(b[58:], shdr64)
	o.PutUint16(b[60:], uint16(count+2))
	o.PutUint16(b[62:], 1)
	section := func(i int, name uint32, typ elf.SectionType, off, size int) {
		s := b[ehdr64+shdr64*i:]
		o.PutUint32(s, name)
		o.PutUint32(s[4:], uint32(typ))
		o.PutUint64(s[24:], uint64(off))
		o.PutUint64(s[32:], uint64(size))
	}
	section(1, 1, elf.SHT_STRTAB, ehdr64+size, len(strings))
	copy(b[ehdr64+size:], strings)
	for i := range count {
		section(2+i, 11, typ, 0, len(b))
	}
	return b
}

// Sections with the same bytes must not multiply the work and the memory for the file.
func TestOverlappingSections(t *testing.T) {
	const count = 2000
	t.Run("call frame information", func(t *testing.T) {
		data := overlapping(".eh_frame", elf.SHT_PROGBITS, count)
		f, err := NewFile(data, "overlapping")
		if err != nil {
			t.Fatal(err)
		}
		sections, err := f.CFISections()
		if err == nil {
			t.Error("no error")
		}
		total := 0
		for _, s := range sections {
			total += len(s.Data)
		}
		if total == 0 || total > len(data) {
			t.Errorf("%d sections with %d bytes in a file of %d", len(sections), total, len(data))
		}
	})
	t.Run("symbols", func(t *testing.T) {
		f, err := NewFile(overlapping(".symtab", elf.SHT_SYMTAB, count), "overlapping")
		if err != nil {
			t.Fatal(err)
		}
		tables := 0
		f.symbolTables(func(symbolTable, error) bool { tables++; return true })
		if tables > 2*maxSymbolTables+1 {
			t.Errorf("%d tables are searched", tables)
		}
		if _, err := f.FindSymbols([]uint64{1}); err == nil {
			t.Error("no error")
		}
	})
}
