// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package symfile_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

var le = binary.LittleEndian

func mustAppend(tb testing.TB, c *jit.Code) []byte {
	tb.Helper()
	image, err := symfile.Append(nil, c)
	if err != nil {
		tb.Fatal(err)
	}
	return image
}

// section returns a section header as debug/elf reads it.
func section(tb testing.TB, image []byte, name string) *elf.Section {
	tb.Helper()
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		tb.Fatal(err)
	}
	s := f.Section(name)
	if s == nil {
		tb.Fatalf("no section %s", name)
	}
	return s
}

// TestGolden compares the layout with a golden text: two functions with lines on each machine.
func TestGolden(t *testing.T) {
	for _, m := range []*arch.Machine{amd64, arm64} {
		path := filepath.Join("testdata", m.Name+".elf")
		got := mustAppend(t, callers(t, m, 2, 5, true))
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the image is not the %d bytes of %s", m.Name, len(want), path)
		}
	}
}

// TestSections checks the sections of an image, and that no two with SHF_ALLOC
// overlap.
func TestSections(t *testing.T) {
	const base = ".text .symtab"
	const debug = " .debug_abbrev .debug_rnglists .debug_info .debug_line .strtab .debug_str .debug_line_str"
	plain := func(c *jit.Code) {
		for i := range c.Functions {
			c.Functions[i].Unwind = nil
		}
	}
	for _, test := range []struct {
		name   string
		n      int
		lines  bool
		change func(*jit.Code)
		want   string
	}{
		{"one", 1, false, nil, base + " .eh_frame .eh_frame_hdr .strtab"},
		{"many", 1000, false, nil, base + " .eh_frame .eh_frame_hdr .strtab"},
		{"lines", 2, true, nil, base + " .eh_frame .eh_frame_hdr" + debug},
		{"names alone", 2, false, plain, base + " .strtab"},
		{"no unwind", 2, true, plain, base + debug},
		{"lines without source", 1, true, func(c *jit.Code) {
			for i := range c.Functions[0].Lines {
				c.Functions[0].Lines[i].Line = 0
			}
		}, base + " .eh_frame .eh_frame_hdr .strtab"},
	} {
		c := callers(t, amd64, test.n, 0, test.lines)
		if test.change != nil {
			test.change(c)
		}
		f, err := elf.NewFile(bytes.NewReader(mustAppend(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range f.Sections[1:] {
			names = append(names, s.Name)
			if s.Flags&elf.SHF_ALLOC != 0 && (s.Addr != c.Address || s.Size != uint64(len(c.Text)) || s.Type != elf.SHT_NOBITS) {
				t.Errorf("%s: %+v is allocated", test.name, s.SectionHeader)
			}
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: sections\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestAgainstStandardLibrary reads images with debug/elf and debug/dwarf.
func TestAgainstStandardLibrary(t *testing.T) {
	for _, m := range []*arch.Machine{amd64, arm64} {
		c := callers(t, m, 300, 4, true)
		c.Functions[7].Lines = nil                                               // has a name only
		c.Functions[8].Lines[1].File = "/src/other.w"                            // inlined
		c.Functions[9].Lines = []jit.Line{{Offset: 4, File: "rel.w", Line: 1e6}} // starts late, far down, relative
		c.Functions[10].Lines[1] = jit.Line{Offset: 4}                           // in the middle no source
		c.Functions[11].Name, c.Functions[12].Name = "same", "same"              // one string
		c.Functions[299].Size = uint64(len(c.Text)) - c.Functions[299].Offset    // to the end
		c.Functions[299].Lines[2].Offset = c.Functions[299].Size - 1
		image := append([]byte("prefix"), mustAppend(t, c)...)
		withPrefix, err := symfile.Append([]byte("prefix"), c)
		if err != nil || !bytes.Equal(image, withPrefix) {
			t.Fatalf("%s: Append after other bytes makes another image (%v)", m.Name, err)
		}
		f, err := elf.NewFile(bytes.NewReader(image[6:]))
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != m.ELF || f.Type != elf.ET_EXEC {
			t.Errorf("%v %v", f.Machine, f.Type)
		}
		symbols, err := f.Symbols()
		if err != nil || len(symbols) != len(c.Functions) {
			t.Fatalf("%d symbols, %v", len(symbols), err)
		}
		for i, s := range symbols {
			fn := &c.Functions[i]
			if s.Name != fn.Name || s.Value != c.Start(fn) || s.Size != fn.Size || s.Section != 1 ||
				s.Info != elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC) {
				t.Errorf("symbol %d is %+v, want %q at %#x+%#x", i, s, fn.Name, c.Start(fn), fn.Size)
			}
		}
		if got, want := dumpDWARF(t, f), wantDWARF(c); got != want {
			t.Errorf("%s: debugging information\n got %s\nwant %s", m.Name, got, want)
		}
		sections := section(t, image[6:], ".eh_frame_hdr")
		data, _ := sections.Data()
		h, err := cfi.ParseHeader(data, sections.Addr, m)
		if err != nil || h.Count != uint64(len(c.Functions)) {
			t.Errorf(".eh_frame_hdr: %d entries, %v", h.Count, err)
		}
		frames, err := open(t, image[6:]).Frames()
		if err != nil {
			t.Fatal(err)
		}
		for err := range h.Check(frames[0]) {
			t.Error(err)
		}
	}
}

// dumpDWARF lists the functions and the rows of a file with debug/dwarf.
func dumpDWARF(tb testing.TB, f *elf.File) string {
	tb.Helper()
	d, err := f.DWARF()
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	r := d.Reader()
	unit, err := r.Next()
	if err != nil {
		tb.Fatal(err)
	}
	fmt.Fprintf(&b, "unit %v by %v\n", unit.Val(dwarf.AttrName), unit.Val(dwarf.AttrProducer))
	lines, err := d.LineReader(unit)
	if err != nil {
		tb.Fatal(err)
	}
	files := lines.Files()
	for {
		e, err := r.Next()
		if err != nil {
			tb.Fatal(err)
		}
		if e.Tag == 0 {
			break
		}
		fmt.Fprintf(&b, "%v %#x+%#x %s:%v\n", e.Val(dwarf.AttrName), e.Val(dwarf.AttrLowpc), e.Val(dwarf.AttrHighpc),
			files[e.Val(dwarf.AttrDeclFile).(int64)].Name, e.Val(dwarf.AttrDeclLine))
		if _, err := d.Ranges(e); err != nil {
			tb.Error(err)
		}
	}
	var row dwarf.LineEntry
	for {
		if err := lines.Next(&row); err == io.EOF {
			return b.String()
		} else if err != nil {
			tb.Fatal(err)
		}
		if row.EndSequence {
			fmt.Fprintf(&b, "%#x end\n", row.Address)
		} else if row.Line == 0 {
			fmt.Fprintf(&b, "%#x no source\n", row.Address)
		} else {
			fmt.Fprintf(&b, "%#x %s:%d:%d\n", row.Address, row.File.Name, row.Line, row.Column)
		}
	}
}

// wantDWARF is the expected output of dumpDWARF for a batch.
func wantDWARF(c *jit.Code) string {
	var b, rows strings.Builder
	fmt.Fprintf(&b, "unit %s by Clew\n", c.Name)
	for i := range c.Functions {
		f := &c.Functions[i]
		if len(f.Lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s %#x+%#x %s:%d\n", f.Name, c.Start(f), f.Size, f.Lines[0].File, f.Lines[0].Line)
		for _, l := range f.Lines {
			if l.Line == 0 {
				fmt.Fprintf(&rows, "%#x no source\n", c.Start(f)+l.Offset)
			} else {
				fmt.Fprintf(&rows, "%#x %s:%d:%d\n", c.Start(f)+l.Offset, l.File, l.Line, l.Column)
			}
		}
		fmt.Fprintf(&rows, "%#x end\n", c.Start(f)+f.Size)
	}
	return b.String() + rows.String()
}

func TestAppendErrors(t *testing.T) {
	dst := []byte("kept")
	i386 := arch.Lookup(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB)
	s390 := arch.Lookup(elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB)
	for name, test := range map[string]struct {
		change func(*jit.Code)
		want   error
	}{
		"no functions": {func(c *jit.Code) { c.Functions = nil }, jit.ErrCode},
		"NUL":          {func(c *jit.Code) { c.Functions[0].Name = "a\x00b" }, jit.ErrCode},
		"32 bits":      {func(c *jit.Code) { c.Machine = i386; c.Functions[0].Unwind = nil }, errors.ErrUnsupported},
		"big-endian":   {func(c *jit.Code) { c.Machine = s390; c.Functions[0].Unwind = nil }, errors.ErrUnsupported},
		"unwind table": {func(c *jit.Code) { c.Functions[0].Unwind = &cfi.Program{CIE: cfi.EntryCIE(amd64), End: 100} }, jit.ErrCode},
	} {
		c := callers(t, amd64, 1, 0, false)
		test.change(c)
		got, err := symfile.Append(dst, c)
		if !errors.Is(err, test.want) || string(got) != "kept" {
			t.Errorf("%s: Append = %q, %v; want %v", name, got, err, test.want)
		}
	}
}

// TestAppendHugeFunction checks that the size of a function with lines fits four bytes.
// The code is never touched.
func TestAppendHugeFunction(t *testing.T) {
	if strconv.IntSize < 64 || testing.Short() {
		t.Skip("skipped: it takes 4 GiB of address space")
	}
	size := uint64(1) << 32
	c := &jit.Code{Machine: amd64, Address: 0x1000, Text: make([]byte, size), Functions: []jit.Function{
		{Name: "huge", Size: size, Lines: []jit.Line{{File: "huge.c", Line: 1}}}}}
	if got, err := symfile.Append([]byte("kept"), c); !errors.Is(err, symfile.ErrTooLarge) || string(got) != "kept" {
		t.Errorf("Append = %q, %v; want %v", got, err, symfile.ErrTooLarge)
	}
}

// TestCIEs checks that images keep the parts of CIEs that debuggers use, and that equal
// CIEs are shared.
func TestCIEs(t *testing.T) {
	c := callers(t, amd64, 6, 0, false)
	entry := cfi.EntryCIE(amd64)
	with := func(change func(*cfi.CIE)) *cfi.Program {
		cie := cfi.NewCIE(amd64)
		cie.Instructions = entry.Instructions
		change(cie)
		return &cfi.Program{CIE: cie, Instructions: c.Functions[0].Unwind.Instructions}
	}
	c.Functions[1].Unwind = with(func(c *cfi.CIE) {}) // equal to that of 0
	c.Functions[2].Unwind = with(func(c *cfi.CIE) {
		c.PersonalityEnc, c.Personality = cfi.EncPCRel|cfi.EncSdata4, cfi.Pointer{Address: 0x400000} // out of reach
		c.LSDAEncoding = cfi.EncPCRel | cfi.EncSdata4
	})
	c.Functions[2].Unwind.LSDA = cfi.Pointer{Address: 0x400100}
	c.Functions[3].Unwind = with(func(c *cfi.CIE) { c.PointerEncoding = cfi.EncAbsptr })
	c.Functions[4].Unwind = with(func(c *cfi.CIE) { c.SignalFrame = true })
	c.Functions[5].Unwind = nil
	image := open(t, mustAppend(t, c))
	sections, err := image.Frames()
	if err != nil {
		t.Fatal(err)
	}
	cies, fdes := 0, 0
	for e, err := range sections[0].Entries() {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.FDE != nil:
			if f := &c.Functions[fdes]; e.FDE.Start != c.Start(f) || e.FDE.CIE.SignalFrame != (fdes == 4) {
				t.Errorf("FDE %d is %v of %v", fdes, e.FDE, e.FDE.CIE)
			}
			fdes++
		case e.CIE != nil:
			if e.CIE.Augmentation != "zR" && e.CIE.Augmentation != "zRS" {
				t.Errorf("%v", e.CIE)
			}
			cies++
		}
	}
	if fdes != 5 || cies > 4 {
		t.Errorf("%d FDEs, %d CIEs", fdes, cies)
	}
	for i := range 5 {
		if got, want := describeRow(t, image, c.Start(&c.Functions[i])+5), "CFA=r7+32 r16=-8"; got != want {
			t.Errorf("function %d: row %s, want %s", i, got, want)
		}
	}
}

// TestLines checks rows at every distance.
func TestLines(t *testing.T) {
	for _, step := range []struct {
		bytes uint64
		lines int
	}{
		{0, 0}, {0, 1}, {1, 0}, {1, 8}, {1, 9}, {1, -3}, {1, -4}, {16, 8}, {19, 1}, {20, 1}, {21, 1}, {39, 1}, {40, 1}, {41, -3},
		{64, 100}, {1000, -100}, {1 << 20, 1 << 20}, {200, -(1 << 19)},
	} {
		c := &jit.Code{Name: "lines", Machine: amd64, Address: address, Text: make([]byte, 1<<22)}
		f := jit.Function{Name: "f", Size: 1 << 22, Lines: []jit.Line{{File: "/f", Line: 1 << 21, Column: 1}}}
		last := f.Lines[0]
		last.Offset += step.bytes
		last.Line += step.lines
		f.Lines = append(f.Lines, last)
		c.Functions = []jit.Function{f}
		file, err := elf.NewFile(bytes.NewReader(mustAppend(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := dumpDWARF(t, file), wantDWARF(c); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", step, got, want)
		}
	}
}
