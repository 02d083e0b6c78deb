// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgainstLd links the same files with GNU ld, with sections at the same addresses, and
// compares every byte. If the program has slots, ld may have others, or none: the values in them
// are compared.
func TestAgainstLd(t *testing.T) {
	type compiler struct {
		m        *machine
		compiler string
		ld       string
		flags    []string
	}
	for _, tt := range []compiler{
		{&amd64, "gcc", "ld", append(smallFlags, "-O2 -mcmodel=medium", "-O2 -mcmodel=large -fno-pic")},
		{&amd64, "clang", "ld", append(fewFlags, "-O2 -mcmodel=large -fno-pic")},
		{&arm64, "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ld", append(smallFlags, "-O2 -fpic", "-O2 -mcmodel=tiny -fno-pic", "-O2 -mcmodel=large -fno-pic")},
		{&arm64, "clang --target=aarch64-linux-gnu", "aarch64-linux-gnu-ld", append(fewFlags, "-O2 -mcmodel=large -fno-pic")},
	} {
		if !compiled(tt.m) {
			continue
		}
		for _, flags := range few(t, tt.flags, 6) {
			t.Run(tt.compiler+" "+flags, func(t *testing.T) {
				path := compile(t, tt.compiler, "small.c", strings.Fields(flags)...)
				add := compile(t, tt.compiler, addSource, strings.Fields(flags)...)
				againstLd(t, tt.m, tt.ld, path, add)
			})
		}
		for _, flags := range few(t, []string{
			"-O2 -fno-pic", "-O2 -fPIE", "-O2 -fPIC", "-O0 -fPIC", "-O2 -fPIC -ftls-model=local-dynamic", "-O2 -fPIC -ftls-model=initial-exec",
			"-O2 -fPIC -fno-plt", "-O2 -fPIC -g",
		}, 3) {
			t.Run(tt.compiler+" tls "+flags, func(t *testing.T) {
				path := compile(t, tt.compiler, "tls.c", strings.Fields(flags)...)
				other := compile(t, tt.compiler, elsewhereSource, strings.Fields(flags)...)
				againstLd(t, tt.m, tt.ld, path, other)
			})
		}
	}
}

// TestEveryRelocation is TestAgainstLd for relocations that compilers do not write.
func TestEveryRelocation(t *testing.T) {
	for _, tt := range []struct {
		m      *machine
		as, ld string
		source string
	}{
		{&amd64, "as", "ld", "relocations-amd64.s"},
		{&arm64, "aarch64-linux-gnu-as", "aarch64-linux-gnu-ld", "relocations-arm64.s"},
	} {
		if !compiled(tt.m) {
			continue
		}
		t.Run(tt.m.elf.String(), func(t *testing.T) { againstLd(t, tt.m, tt.ld, compile(t, tt.as, tt.source)) })
	}
}

const elsewhereSource = `elsewhere.c
__thread int elsewhere = 4;
`

func againstLd(t *testing.T, m *machine, ld string, paths ...string) {
	t.Helper()
	const near = 0x10000000
	a, err := at(t, m, near, nil, paths...)
	if err != nil {
		t.Fatal(err)
	}
	path, script := runLd(t, a, ld, paths...)
	theirs, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	compared := 0
	for k, in := range a.l.inputs {
		for i := range in.sections {
			s := &in.sections[i]
			if s.data == nil || s.dropped() || s.size == 0 || !s.mapped && !strings.HasPrefix(s.name, ".debug_") && !strings.HasPrefix(s.name, ".zdebug_") {
				continue
			}
			name := ldName(k, s)
			if !s.mapped {
				name = s.name
			}
			section := theirs.Section(name)
			if strings.HasPrefix(s.name, ".eh_frame") || strings.HasPrefix(s.name, ".note") || section == nil && !s.mapped {
				continue // ld rewrites them
			}
			if section == nil {
				t.Errorf("ld has no %s\n%s", name, script)
				continue
			}
			want, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			if !s.mapped {
				// The section has the bytes of all files; the offset is that of this file.
				continue
			}
			got := bytes.Clone(s.data)
			compareSlots(t, a.l, in, s, got, want, theirs)
			if !bytes.Equal(got, want) {
				for j := range got {
					if j < len(want) && got[j] != want[j] {
						t.Errorf("%s differs at %#x: % x, ld has % x", s.place(uint64(j)), j, got[j&^3:min(j&^3+8, len(got))], want[j&^3:min(j&^3+8, len(want))])
						break
					}
				}
				if len(got) != len(want) {
					t.Errorf("%s: %d bytes, ld has %d", s.place(0), len(got), len(want))
				}
			}
			compared++
		}
	}
	if compared < 2 {
		t.Errorf("%d sections compared", compared)
	}
}

// ldName returns the section of ld's program for a section of file k.
func ldName(k int, s *section) string { return fmt.Sprintf(".f%d.s%d", k, s.index) }

// runLd links the files with the same options as a.
func runLd(t *testing.T, a linked, ld string, paths ...string) (out, text string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("SECTIONS {\n")
	for i := range a.l.regions {
		for _, s := range a.l.regions[i].sections {
			switch {
			case s == &a.l.got:
				fmt.Fprintf(&script, ".got %#x : { *(.got.plt) *(.got) }\n", s.address)
			case s.owner == nil || s.size == 0:
			case strings.HasPrefix(s.name, ".eh_frame"):
			default:
				name := s.name
				k := 0
				for a.l.inputs[k] != s.owner {
					k++
				}
				fmt.Fprintf(&script, "%s %#x : { %s(%s) }\n", ldName(k, s), s.address, paths[k], name)
			}
		}
	}
	fmt.Fprintf(&script, ".eh_frame %#x : { *(.eh_frame) }\n", a.l.base+a.l.size)
	script.WriteString("/DISCARD/ : { *(.comment) *(.note*) }\n}\n")
	dir := t.TempDir()
	path := filepath.Join(dir, "script")
	out = filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-static", "--no-relax", "--no-check-sections", "-e", "test", "-T", path, "-o", out}
	run(t, ld, append(args, paths...)...)
	return out, script.String()
}

// compareSlots compares the slots of a section's relocations, and replaces the bytes with the
// slots' addresses with those of ld.
func compareSlots(t *testing.T, l *linker, in *input, s *section, got, want []byte, theirs *elf.File) {
	t.Helper()
	for i := range in.tables {
		table := &in.tables[i]
		if table.Section != s.index {
			continue
		}
		for k := 0; k < table.Len(); k++ {
			r := table.At(k)
			h := l.machine.howto(r.Type)
			if h.value == rewriteValue && l.machine.callsResolver(r.Type) {
				k++
			}
			if g := in.refs[r.Symbol]; h.value == branchValue && g.kind == missing && l.machine == &amd64 {
				// The loaded program has a stub that jumps to 0.
				if v := s.address + r.Offset + 4 + uint64(int64(int32(order.Uint32(want[r.Offset:])))); v != 0 {
					t.Errorf("%s: ld's branch leads to %#x", s.place(r.Offset), v)
				}
				copy(got[r.Offset:r.Offset+4], want[r.Offset:])
			}
			slot, thread := h.value.slotUse()
			if !slot || len(want) < int(r.Offset)+int(h.field.size) {
				continue
			}
			symbol := in.symbolName(r.Symbol)
			g := in.refs[r.Symbol]
			at, _ := l.slotAddress(g, h, &r)
			ours := order.Uint64(l.got.data[at-l.got.address:])
			check := func(v uint64, what string) {
				t.Helper()
				if v != ours {
					t.Errorf("%s: %s of %s: the slot has %#x, ld %#x (%s)", s.place(r.Offset), l.machine.name(r.Type), symbol, ours, v, what)
				}
			}
			switch {
			case l.machine == &amd64 && h.field.size == 4 && h.value != slotFromGOT:
				disp := uint64(int64(int32(order.Uint32(want[r.Offset:]))))
				if thread {
					// ld makes mov x@gottpoff(%rip), %reg into mov $x@tpoff, %reg.
					check(disp, "immediate")
					copy(got[r.Offset-3:r.Offset+4], want[r.Offset-3:])
					continue
				}
				if g.kind == missing && want[r.Offset-2] == 0xc7 {
					// mov x@GOTPCREL(%rip), %reg became mov $0, %reg.
					check(disp, "immediate")
					copy(got[r.Offset-3:r.Offset], want[r.Offset-3:])
				} else {
					check(word(t, theirs, s.address+r.Offset+disp-uint64(r.Addend)), "slot")
				}
				copy(got[r.Offset:r.Offset+4], want[r.Offset:])
			case l.machine == &arm64 && thread:
				// ld makes adrp, ldr into movz, movk.
				w := order.Uint32(want[r.Offset:])
				v, mine := uint64(w>>5&0xffff), ours&0xffff
				if w&0xffe00000 == 0xd2a00000 {
					mine = ours >> 16
				} else if w&0xffe00000 != 0xf2800000 {
					t.Errorf("%s: ld has %08x", s.place(r.Offset), w)
				}
				if v != mine {
					t.Errorf("%s: offset %#x, ld has the part %#x", s.place(r.Offset), ours, v)
				}
				copy(got[r.Offset:r.Offset+4], want[r.Offset:])
			case l.machine == &arm64 && h.value == slotAddress:
				imm := uint64(order.Uint32(want[r.Offset:])>>10&0xfff) * 8
				check(word(t, theirs, l.got.address&^0xfff+imm), "slot")
				copy(got[r.Offset:r.Offset+4], want[r.Offset:])
			case h.value == slotFromPage:
				imm := uint64(order.Uint32(want[r.Offset:])>>10&0xfff) * 8
				check(word(t, theirs, l.got.address&^0xfff+imm), "slot")
				copy(got[r.Offset:r.Offset+4], want[r.Offset:])
			case l.machine == &arm64 && h.value == slotRelative && h.field == branch19:
				imm := uint64(int64(int32(order.Uint32(want[r.Offset:])<<8)>>13) * 4)
				check(word(t, theirs, s.address+r.Offset+imm), "slot")
				copy(got[r.Offset:r.Offset+4], want[r.Offset:])
			}
		}
	}
}

// word reads eight bytes of a linked file.
func word(t *testing.T, f *elf.File, address uint64) uint64 {
	t.Helper()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS && address >= s.Addr && address+8 <= s.Addr+s.Size {
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			return order.Uint64(data[address-s.Addr:])
		}
	}
	t.Errorf("ld's program has nothing at %#x", address)
	return 0
}
