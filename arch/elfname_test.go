// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestELFName(t *testing.T) {
	for machine, want := range map[elf.Machine]string{
		0: "EM_NONE", 62: "EM_X86_64", 83: "EM_AVR", 200: "EM_56800EX", 252: "EM_CSKY", 256: "EM_KVX", 267: "EM_LOONGGPU",
		0x9026: "EM_ALPHA", 0xfeba: "EM_IQ2000", 12: "e_machine 12", 150: "e_machine 150", 230: "e_machine 230", 4000: "e_machine 4000",
	} {
		if got := ELFName(machine); got != want {
			t.Errorf("%d: %s, expected %s", machine, got, want)
		}
		if m := Lookup(machine, elf.ELFCLASS32, elf.ELFDATA2LSB); m.names == nil && m.Name != want {
			t.Errorf("%d: machine %s, expected %s", machine, m.Name, want)
		}
	}
}

// readelf and ELFName name the same values, except for values that are newer than readelf.
func TestELFNamesAgainstReadelf(t *testing.T) {
	readelf, err := exec.LookPath("readelf")
	if err != nil {
		t.Skip("skipped: readelf is not installed")
	}
	dir := t.TempDir()
	header := make([]byte, 64)
	copy(header, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(header[16:], uint16(elf.ET_EXEC))
	binary.LittleEndian.PutUint32(header[20:], 1)
	binary.LittleEndian.PutUint16(header[52:], 64)
	var machines []int
	args := []string{"-h"}
	for n := range 300 {
		machines = append(machines, n)
	}
	for n := range elfNames {
		if n >= 300 {
			machines = append(machines, int(n))
		}
	}
	for _, n := range machines {
		binary.LittleEndian.PutUint16(header[18:], uint16(n))
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, header, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, _ := exec.Command(readelf, args...).Output()
	known := 0
	n := -1
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if path, ok := strings.CutPrefix(line, "File: "); ok {
			fmt.Sscan(filepath.Base(path), &n)
		}
		theirs, ok := strings.CutPrefix(line, "Machine:")
		if !ok {
			continue
		}
		ours := ELFName(elf.Machine(n))
		if strings.Contains(theirs, "<unknown>") {
			continue // of those that came after its version
		}
		if known++; strings.HasPrefix(ours, "e_machine") {
			t.Errorf("%d: %s, readelf has %s", n, ours, strings.TrimSpace(theirs))
		}
	}
	if known < 200 {
		t.Errorf("readelf has names for %d machines", known)
	}
}
