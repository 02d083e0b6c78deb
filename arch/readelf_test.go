// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// elfWithUndefined returns an ELF file with one CIE in .eh_frame, which sets each column
// undefined, in order.
func elfWithUndefined(m *Machine, columns []uint64) []byte {
	cie := []byte{
		3, 0, // version, no augmentation
		1, 0x7c, 0, // alignment factors 1 and -4, return-address column 0
	}
	for _, c := range columns {
		cie = binary.AppendUvarint(append(cie, 0x07), c) // DW_CFA_undefined
	}
	for (len(cie)+8)%8 != 0 {
		cie = append(cie, 0) // DW_CFA_nop
	}
	frame := make([]byte, 8) // length and CIE id
	m.Order.PutUint32(frame, uint32(len(cie)+4))
	frame = append(frame, cie...)

	const names = "\x00.eh_frame\x00.shstrtab\x00"
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(m.Class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	if m.Order == binary.BigEndian {
		ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	var out bytes.Buffer
	put := func(v any) { binary.Write(&out, m.Order, v) }
	frameAt := uint64(64)
	namesAt := frameAt + uint64(len(frame))
	sectionsAt := (namesAt + uint64(len(names)) + 7) &^ 7
	type section struct {
		name, kind, flags uint32
		offset, size      uint64
	}
	sections := []section{
		{},
		{1, uint32(elf.SHT_PROGBITS), uint32(elf.SHF_ALLOC), frameAt, uint64(len(frame))},
		{11, uint32(elf.SHT_STRTAB), 0, namesAt, uint64(len(names))},
	}
	if m.Class == elf.ELFCLASS64 {
		put(elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(m.ELF), Version: 1, Shoff: sectionsAt,
			Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2})
	} else {
		put(elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(m.ELF), Version: 1, Shoff: uint32(sectionsAt),
			Ehsize: 52, Shentsize: 40, Shnum: 3, Shstrndx: 2})
	}
	out.Write(make([]byte, int(frameAt)-out.Len()))
	out.Write(frame)
	out.WriteString(names)
	out.Write(make([]byte, int(sectionsAt)-out.Len()))
	for _, s := range sections {
		if m.Class == elf.ELFCLASS64 {
			put(elf.Section64{Name: s.name, Type: s.kind, Flags: uint64(s.flags), Off: s.offset, Size: s.size, Addralign: 1})
		} else {
			put(elf.Section32{Name: s.name, Type: s.kind, Flags: s.flags, Off: uint32(s.offset), Size: uint32(s.size), Addralign: 1})
		}
	}
	return out.Bytes()
}

func runReadelf(t *testing.T, m *Machine, option string, columns []uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.so")
	if err := os.WriteFile(path, elfWithUndefined(m, columns), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("readelf", option, path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("readelf %s: %v", option, err)
	}
	return string(out)
}

func needReadelf(t *testing.T) {
	t.Helper()
	out, err := exec.Command("readelf", "--version").Output()
	if err != nil {
		t.Skip("skipped: readelf is not installed")
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if !strings.HasPrefix(first, "GNU readelf") || !strings.HasSuffix(strings.TrimSpace(first), " 2.40") {
		t.Skip("skipped: GNU readelf 2.40 is not installed")
	}
}

// readelfColumns are columns of a machine around everything it has a name for
// and around readelf's limit.
func readelfColumns(m *Machine) []uint64 {
	var out []uint64
	for c := range uint64(400) {
		out = append(out, c)
	}
	if m.csr {
		for c := uint64(4090); c < 8200; c++ {
			out = append(out, c)
		}
	} else if len(m.readelf) == 0 {
		return append(out, 999, 1022, 1023)
	}
	return append(out, 8191, 8192, 8193, 1<<31-1, 1<<31, 1<<32-1, 1<<32, 1<<32+7, 1<<63)
}

var undefined = regexp.MustCompile(`(?m)^  DW_CFA_undefined: (bad register: )?(\S+)(?: \((.*)\))?$`)

// The names and limits are those in readelf's list of instructions.
func TestReadelfInstructions(t *testing.T) {
	needReadelf(t)
	for name, m := range all() {
		t.Run(name, func(t *testing.T) {
			columns := readelfColumns(m)
			matches := undefined.FindAllStringSubmatch(runReadelf(t, m, "-wf", columns), -1)
			if len(matches) != len(columns) {
				t.Fatalf("readelf prints %d instructions of %d", len(matches), len(columns))
			}
			last := m.readelfLimit
			for i, c := range columns {
				match := matches[i]
				c32 := uint64(uint32(c))
				if bad := match[1] != ""; bad != (c32 > last) {
					t.Errorf("column %d: bad register %v; the limit is %d", c, bad, last)
				}
				if number := "r" + strconv.Itoa(int(int32(c32))); match[2] != number {
					t.Errorf("column %d: readelf numbers it %s, not %s", c, match[2], number)
				}
				if named := match[3] != ""; named != m.ReadelfNamed(c) {
					t.Errorf("column %d: readelf %q, ReadelfNamed %v", c, match[0], m.ReadelfNamed(c))
				}
				want := match[3]
				if want == "" {
					want = match[2]
				}
				if got := string(m.AppendReadelfName(nil, c)); got != want {
					t.Errorf("column %d: %q, readelf %q", c, got, want)
				}
			}
		})
	}
}

// The same names stand over the columns of readelf's rows.
func TestReadelfRows(t *testing.T) {
	needReadelf(t)
	for name, m := range all() {
		t.Run(name, func(t *testing.T) {
			last := m.readelfLimit
			if len(m.readelf) == 0 {
				last = 150
			} else if m.csr {
				last = 0x1c20
			}
			var columns []uint64
			want := "CFA"
			for c := uint64(1); c <= last; c++ { // 0 is the return address: "ra"
				columns = append(columns, c)
				want += " " + string(m.AppendReadelfName(nil, c))
			}
			var got string
			for line := range strings.Lines(runReadelf(t, m, "-wF", columns)) {
				if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "LOC" {
					got = strings.Join(fields[1:], " ")
				}
			}
			if got != want {
				t.Errorf("readelf's columns: %s\nwant: %s", got, want)
			}
		})
	}
}

// Without names for the machine, a column above the limit makes readelf
// forget those it saw before.
func TestReadelfForgets(t *testing.T) {
	needReadelf(t)
	m := Lookup(elf.EM_MIPS, elf.ELFCLASS64, elf.ELFDATA2MSB)
	for _, test := range []struct {
		columns []uint64
		want    string
	}{
		{[]uint64{1, 1023}, "[r1 r1023]"},
		{[]uint64{1, 1024}, "[bad r1 bad r1024]"},
		{[]uint64{1, 1024, 3}, "[r1 bad r1024 r3]"},
		{[]uint64{5, 1024, 3}, "[bad r5 bad r1024 r3]"},
		{[]uint64{6, 1<<32 - 1}, "[r6 bad r-1]"},
	} {
		var got []string
		for _, match := range undefined.FindAllStringSubmatch(runReadelf(t, m, "-wf", test.columns), -1) {
			if match[1] != "" {
				match[2] = "bad " + match[2]
			}
			got = append(got, match[2])
		}
		if s := fmt.Sprint(got); s != test.want {
			t.Errorf("%v: readelf prints %s, want %s", test.columns, s, test.want)
		}
	}
}

// readelf names the registers of no other machine.
func TestReadelfNamesNoOtherMachine(t *testing.T) {
	needReadelf(t)
	for machine := range elf.Machine(0x108) {
		if familyOf(machine) != nil {
			continue
		}
		m := Lookup(machine, elf.ELFCLASS32, elf.ELFDATA2LSB)
		for _, match := range undefined.FindAllStringSubmatch(runReadelf(t, m, "-wf", []uint64{0, 1, 7, 31, 64, 1000}), -1) {
			if match[3] != "" {
				t.Errorf("%v: readelf prints %q", machine, match[0])
			}
		}
	}
}
