// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"debug/elf"
	"os/exec"
	"strings"
	"testing"
)

// Every source assembles to a file with call frame information, and readelf
// finds entries in it.
func TestAssemble(t *testing.T) {
	readelf := RequireTool(t, "readelf")
	for _, source := range append(Sources(t, "asm"), Sources(t, "hostile")...) {
		t.Run(source, func(t *testing.T) {
			path := Assemble(t, source)
			out, err := exec.Command(readelf, "-wf", path).CombinedOutput()
			if err != nil {
				t.Fatalf("readelf: %v\n%s", err, out)
			}
			// readelf 2.40 prints nothing for columns.s, because of its limit of columns.
			if entries := strings.Contains(string(out), " FDE cie="); entries != (source != "asm/columns.s") {
				t.Errorf("readelf -wf prints\n%s", out)
			}
		})
	}
}

// Every source of the asm directory links, and readelf finds as many entries as in the object
// file.
func TestLink(t *testing.T) {
	readelf := RequireTool(t, "readelf")
	entries := func(path string) int {
		out, err := exec.Command(readelf, "-wf", path).CombinedOutput()
		if err != nil {
			t.Fatalf("readelf: %v\n%s", err, out)
		}
		return strings.Count(string(out), " FDE cie=")
	}
	for _, source := range Sources(t, "asm") {
		t.Run(source, func(t *testing.T) {
			if object, linked := entries(Assemble(t, source)), entries(Link(t, source)); object != linked {
				t.Errorf("%d FDEs in the object, %d in the executable", object, linked)
			}
		})
	}
}

// clang writes CIE version 4 for machines for which gas does not.
func TestClangFrames(t *testing.T) {
	for _, target := range []string{
		"x86_64", "i386", "aarch64", "arm", "riscv64", "riscv32", "powerpc64le",
		"powerpc64", "powerpc", "s390x", "mips", "mips64el",
	} {
		t.Run(target, func(t *testing.T) {
			f, err := elf.Open(BuildWith(t, "clang", "freestanding.c", "--target="+target+"-linux-gnu",
				"-c", "-O2", "-g", "-ffreestanding", "-fno-asynchronous-unwind-tables"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			section := f.Section(".debug_frame")
			if section == nil {
				t.Fatal("no .debug_frame")
			}
			data, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			if version := data[8]; version != 4 { // after the length and the CIE id
				t.Errorf("CIE version %d", version)
			}
		})
	}
}
