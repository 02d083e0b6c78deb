// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
)

// If a debug file is installed, readelf prints the file of each section.
var contentsOf = regexp.MustCompile(`(?m)^Contents of the (\S+) section(?: \(loaded from .*\))?:`)

// TestCFISectionsAgreeWithReadelf compares the sections, their order, and the code ranges of
// their FDEs.
func TestCFISectionsAgreeWithReadelf(t *testing.T) {
	tool(t, "readelf")
	files, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/*.o")
	files = append(append(files, cross(t)...), libc, command(t, "ls"), goProgram(t))
	files = append(files, assembled(t)...)
	pc := regexp.MustCompile(`FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	for _, path := range files {
		t.Run(path, func(t *testing.T) {
			f := open(t, path)
			sections, err := f.CFISections()
			if err != nil {
				t.Fatal(err)
			}
			out, _ := exec.Command("readelf", "-wfN", path).Output()
			var want, got []string
			for _, m := range contentsOf.FindAllStringSubmatch(string(out), -1) {
				want = append(want, m[1])
			}
			var wantFDEs, gotFDEs []string
			for _, m := range pc.FindAllStringSubmatch(string(out), -1) {
				wantFDEs = append(wantFDEs, m[1]+".."+m[2])
			}
			digits := addressDigits(f)
			for _, s := range sections {
				got = append(got, s.Name)
				for fde := range s.FDEs() {
					gotFDEs = append(gotFDEs, fmt.Sprintf("%0*x..%0*x", digits, fde.Start, digits, fde.End))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("sections %q, readelf has %q", got, want)
			}
			if !slices.Equal(gotFDEs, wantFDEs) {
				t.Errorf("%d FDEs, readelf has %d; they differ", len(gotFDEs), len(wantFDEs))
			}
			if f.Damage() != nil {
				t.Error(f.Damage())
			}
		})
	}
}

// addressDigits returns the number of digits that readelf prints for an address.
func addressDigits(f *File) int {
	if f.class == elf.ELFCLASS64 {
		return 16
	}
	return 8
}

// assembled returns objects with section groups and so several .eh_frame sections, with
// .debug_frame, and with compressed .debug_frame.
func assembled(t *testing.T) (files []string) {
	t.Helper()
	tool(t, "gcc")
	tool(t, "objcopy")
	source := write(t, "groups.s", `
	.section .text.one,"axG",@progbits,one,comdat
one:	.skip	16
	.section .text.two,"axG",@progbits,two,comdat
	.skip	4
two:	.skip	16
	.section .eh_frame,"aG",@progbits,one,comdat
	.long	0x10, 0
	.byte	1, 0x7a, 0x52, 0, 1, 0x78, 0x10, 1, 0x1b, 0, 0, 0
	.long	0x10, 0x18
	.long	one-., 16, 0
	.section .eh_frame,"aG",@progbits,two,comdat
	.long	0x10, 0
	.byte	1, 0x7a, 0x52, 0, 1, 0x78, 0x10, 1, 0x1b, 0, 0, 0
	.long	0x10, 0x18
	.long	two-., 16, 0
`)
	run(t, "as", "-o", source+".o", source)
	files = append(files, source+".o")
	both := write(t, "frame.s", frameSource)
	run(t, "as", "-o", both+".o", both)
	files = append(files, both+".o")
	for _, method := range []string{"zlib", "zlib-gnu", "zstd"} {
		run(t, "objcopy", "--compress-debug-sections="+method, both+".o", both+"."+method)
		files = append(files, both+"."+method)
	}
	return files
}

func TestUnwindSectionByType(t *testing.T) {
	tool(t, "gcc")
	tool(t, "objcopy")
	source := write(t, "inline.c", inlineSource)
	run(t, "gcc", "-O2", "-c", "-o", source+".o", source)
	run(t, "objcopy", "--rename-section", ".eh_frame=.unwind", source+".o")
	f := open(t, source+".o")
	i, ok := f.find(".unwind")
	if !ok {
		t.Fatal("no section .unwind")
	}
	if section, err := f.EHFrame(); section != nil || err != nil {
		t.Errorf("a section of another name: %v, %v", section, err)
	}
	// A section of type SHT_X86_64_UNWIND (psABI amd64 Table 4.11) may have any name.
	data := append([]byte(nil), f.data...)
	f.order.PutUint32(data[f.shoff+uint64(i)*f.shentsize+4:], uint32(f.arch.UnwindSection))
	typed, err := NewFile(data, "typed")
	if err != nil {
		t.Fatal(err)
	}
	section, err := typed.EHFrame()
	if err != nil || section == nil || section.Name != ".unwind" || section.Kind != cfi.EHFrame {
		t.Fatalf("%+v, %v", section, err)
	}
	n := 0
	for range section.FDEs() {
		n++
	}
	if n < 3 {
		t.Errorf("%d FDEs", n)
	}
}

func TestEHFrameHdr(t *testing.T) {
	f := open(t, libc)
	data, addr, ok := f.EHFrameHdr()
	if !ok || len(data) < 12 || data[0] != 1 {
		t.Fatalf("%d bytes, %v", len(data), ok)
	}
	i, _ := f.find(".eh_frame_hdr")
	if s := f.section(i); s.addr != addr || s.size != uint64(len(data)) {
		t.Errorf("%d bytes at %#x, the section has %d at %#x", len(data), addr, s.size, s.addr)
	}
}

func TestDamagedSectionTable(t *testing.T) {
	want := open(t, libc)
	section, err := want.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte){
		"entry size": func(b []byte) { b[58] = 3 },
		"offset":     func(b []byte) { b[47] = 0x7f },
		"names":      func(b []byte) { b[62], b[63] = 0xf0, 0xf0 },
		"count":      func(b []byte) { b[60], b[61] = 0xff, 0xfe },
	} {
		t.Run(name, func(t *testing.T) {
			data := append([]byte(nil), want.data...)
			damage(data)
			f, err := NewFile(data, name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.EHFrame()
			if err != nil || got == nil || got.Address != section.Address || len(got.Data) < len(section.Data)-64 {
				t.Errorf("EHFrame: %v, %v", got, err)
			}
			if f.Damage() == nil || !strings.Contains(f.Damage().Error(), "section") {
				t.Errorf("Damage: %v", f.Damage())
			}
			if s, ok := f.Symbol("malloc"); !ok || s.Source != DynamicSymbols {
				t.Errorf("Symbol: %+v, %v", s, ok)
			}
		})
	}
}

func TestBias(t *testing.T) {
	load := func(flags elf.ProgFlag, off, vaddr, size, align uint64) elf.ProgHeader {
		return elf.ProgHeader{Type: elf.PT_LOAD, Flags: flags, Off: off, Vaddr: vaddr, Filesz: size, Memsz: size, Align: align}
	}
	const base = 0x7f12_3456_7000
	gnu := []elf.ProgHeader{
		load(elf.PF_R, 0, 0, 0x6f0, 0x1000), load(elf.PF_R|elf.PF_X, 0x1000, 0x1000, 0x4c5, 0x1000),
		load(elf.PF_R, 0x2000, 0x2000, 0xdb0, 0x1000), load(elf.PF_R|elf.PF_W, 0x2db8, 0x3db8, 0x258, 0x1000),
	}
	lld := []elf.ProgHeader{ // segments at their own distances, sharing pages of the file
		load(elf.PF_R, 0, 0x200000, 0x5c4, 0x1000), load(elf.PF_R|elf.PF_X, 0x5d0, 0x2015d0, 0x1b0, 0x1000),
		load(elf.PF_R|elf.PF_W, 0x780, 0x202780, 0x80, 0x1000),
	}
	arm64 := []elf.ProgHeader{load(elf.PF_R|elf.PF_X, 0, 0, 0x9000, 0x10000), load(elf.PF_R|elf.PF_W, 0xfd98, 0x1fd98, 0x290, 0x10000)}
	for _, tt := range []struct {
		name       string
		segments   []elf.ProgHeader
		start      uint64 // minus the bias
		offset     uint64
		executable bool
		ok         bool
	}{
		{"gnu, headers", gnu, 0, 0, false, true},
		{"gnu, code", gnu, 0x1000, 0x1000, true, true},
		{"gnu, read-only", gnu, 0x2000, 0x2000, false, true},
		{"lld, code", lld, 0x201000, 0, true, true},
		{"arm64, code", arm64, 0, 0, true, true},
		{"arm64, second page of code", arm64, 0x1000, 0x1000, true, true},
		{"arm64, data, pages of 4 KiB", arm64, 0x1f000, 0xf000, false, true},
		{"not of the file", gnu, 0x100000, 0x100000, true, false},
		{"no segments", nil, 0, 0, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &File{segments: tt.segments}
			bias, ok := f.Bias(base+tt.start, tt.offset, tt.executable)
			if ok != tt.ok || ok && bias != base {
				t.Errorf("%#x, %v", bias, ok)
			}
		})
	}
}

var tlsDescriptor = regexp.MustCompile(`R_AARCH64_TLSDESC +[0-9a-f]+ (\w+)`)

// TestStubsAgreeWithObjdump compares the names of stubs.
func TestStubsAgreeWithObjdump(t *testing.T) {
	tool(t, "objdump")
	label := regexp.MustCompile(`(?m)^([0-9a-f]+) <([^>]+)@plt>:`)
	for _, path := range []string{command(t, "gdb"), command(t, "readelf"), command(t, "bash"), "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/aarch64-linux-gnu/lib/libstdc++.so.6", "/usr/aarch64-linux-gnu/lib/libm.so.6", "/usr/riscv64-linux-gnu/lib/libm.so.6", "/usr/i686-linux-gnu/lib/libm.so.6"} {
		t.Run(path, func(t *testing.T) {
			f := open(t, path)
			objdump := "objdump"
			switch f.header.machine {
			case elf.EM_AARCH64:
				objdump = "aarch64-linux-gnu-objdump"
			case elf.EM_RISCV:
				objdump = "riscv64-linux-gnu-objdump"
			}
			out := run(t, objdump, "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path)
			// objdump splits the trampoline of TLS descriptors into stubs for variables.
			descriptors := map[string]bool{}
			for _, m := range tlsDescriptor.FindAllStringSubmatch(run(t, "readelf", "-rW", path), -1) {
				descriptors[m[1]] = true
			}
			var addrs []uint64
			var names []string
			for _, m := range label.FindAllStringSubmatch(out, -1) {
				var a uint64
				fmt.Sscanf(m[1], "%x", &a)
				name, _, _ := strings.Cut(m[2], "@")
				if strings.HasPrefix(name, "*ABS*") || descriptors[name] {
					continue // the target of an IFUNC has no name
				}
				addrs, names = append(addrs, a, a+7), append(names, name, name)
			}
			if len(addrs) == 0 {
				t.Fatal("objdump names no stub")
			}
			symbols, err := f.FindSymbols(addrs)
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, s := range symbols {
				if s.Name != names[i]+"@plt" && s.Name != names[i] {
					if wrong++; wrong < 4 {
						t.Errorf("%#x: %q, objdump has %q", addrs[i], s.Name, names[i])
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d differ", wrong, len(addrs))
			}
		})
	}
}

// Some runtimes register an .eh_frame without setting its address. The error says how many
// entries have wrong addresses because of that. The other entries are unchanged.
func TestUnplacedEHFrame(t *testing.T) {
	original, err := os.ReadFile("../jit/symfile/testdata/runtimes/cpython_x86_64.elf")
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	header := le.Uint64(original[40:]) + 2*64 // of .eh_frame: 56 bytes with absolute pointers
	absolute := original[le.Uint64(original[header+24:]):][:56]
	// The entries that CPython makes for perf: pcrel, 0x140 bytes before their FDE, and 0x40.
	far, _ := hex.DecodeString("1400000000000000017a5200017810011b0c0708900100001c0000001c000000c0feffff4000000000410e108602430d06430c0708000000")
	near := bytes.Clone(far)
	le.PutUint32(near[32:], 0xffffffa0)
	for _, tt := range []struct {
		name    string
		address uint64
		data    []byte
		want    string // of the error
		fdes    int    // that can be read
	}{
		{"absolute", 0, absolute, "", 1},
		{"relative", 0, far, "1 of 1 FDEs", 1},
		{"past the end", 0, near, "1 of 1 FDEs", 0},
		{"both", 0, append(bytes.Clone(far), absolute...), "1 of 2 FDEs", 2},
		{"placed", 0x7f0012340140, append(bytes.Clone(far), absolute...), "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := append(bytes.Clone(original), tt.data...)
			le.PutUint64(data[header+16:], tt.address)
			le.PutUint64(data[header+24:], uint64(len(original)))
			le.PutUint64(data[header+32:], uint64(len(tt.data)))
			f, err := NewFile(data, "symbol file")
			if err != nil {
				t.Fatal(err)
			}
			sections, err := f.CFISections()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), "symbol file: section .eh_frame: its address was never set (sh_addr is 0): "+tt.want) {
				t.Errorf("%v, expected %q", err, tt.want)
			}
			fdes := 0
			for range sections[0].FDEs() {
				fdes++
			}
			var fde cfi.FDE
			if fdes != tt.fdes {
				t.Errorf("%d FDEs, expected %d", fdes, tt.fdes)
			}
			if err := sections[0].Find(0x7f0012340010, &fde); (err == nil) != (tt.fdes == 2 || tt.name == "absolute") {
				t.Errorf("the code has an FDE: %v", err)
			}
		})
	}
}
