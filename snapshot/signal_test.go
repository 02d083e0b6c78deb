// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/snapshot"
)

func TestSignalString(t *testing.T) {
	for _, test := range []struct {
		signal snapshot.Signal
		want   string
	}{
		{snapshot.Signal{Number: 11, Code: 1, Address: 8, HasAddress: true}, "SIGSEGV at 0x8: no memory is mapped there"},
		{snapshot.Signal{Number: 7, Code: 1, Address: 8, HasAddress: true}, "SIGBUS at 0x8: misaligned"},
		{snapshot.Signal{Number: 7, Code: 1, Address: 8, HasAddress: true, Machine: arch.Lookup(elf.EM_MIPS, 0, 0)}, "SIGEMT at 0x8"},
		{snapshot.Signal{Number: 10, Code: 1, Address: 8, HasAddress: true, Machine: arch.Lookup(elf.EM_MIPS, 0, 0)}, "SIGBUS at 0x8: misaligned"},
		{snapshot.Signal{Number: 31, Machine: arch.Lookup(elf.EM_SPARCV9, 0, 0), Sender: 3}, "SIGUSR2 from process 3"},
		{snapshot.Signal{Number: 11, Machine: arch.Lookup(elf.EM_ALPHA, 0, 0)}, "signal 11"},
		{snapshot.Signal{Number: 40, Machine: arch.Lookup(elf.EM_PPC, 0, 0)}, "signal 40"},
	} {
		if got := test.signal.String(); got != test.want {
			t.Errorf("%+v: %s, expected %s", test.signal, got, test.want)
		}
	}
}

// The names equal those of each machine's C library.
func TestSignalNames(t *testing.T) {
	for name, machine := range map[string]elf.Machine{"mips": elf.EM_MIPS, "mips64": elf.EM_MIPS, "sparc64": elf.EM_SPARCV9,
		"m68k": elf.EM_68K, "ppc": elf.EM_PPC, "s390x": elf.EM_S390, "arm64": elf.EM_AARCH64} {
		e := testprogram.Emulations[name]
		source := t.TempDir() + "/signals.c"
		if err := os.WriteFile(source, []byte("#include <signal.h>\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(testprogram.RequireTool(t, e.Triplet+"-gcc"), "-E", "-dM", source).Output()
		if err != nil {
			t.Fatal(err)
		}
		defined := make(map[string]bool)
		for _, m := range regexp.MustCompile(`(?m)^#define (SIG[A-Z0-9]+) +(\d+)$`).FindAllSubmatch(out, -1) {
			name := string(m[1])
			if name == "SIGPOLL" {
				name = "SIGIO" // which is defined as that
			}
			defined[name+" "+string(m[2])] = true
		}
		for n := 1; n < 32; n++ {
			s := snapshot.Signal{Number: n, Machine: arch.Lookup(machine, 0, 0)}
			if got := s.Name() + " " + strconv.Itoa(n); !defined[got] {
				t.Errorf("%s: %s is not in signal.h", name, got)
			}
		}
	}
}
