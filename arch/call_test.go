// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch_test

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
)

// The addresses that follow a call are those that follow one in objdump's text, and
// direct calls lead where it says.
func TestCallsAgreeWithObjdump(t *testing.T) {
	const most = 1 << 18 // bytes of code
	for _, test := range []struct {
		tool, file string
		calls      string // what objdump writes for calls
		slot       uint64 // bytes between a call and its return address
	}{
		{"objdump", "/lib/x86_64-linux-gnu/libc.so.6", `^(bnd |notrack |addr32 |rex.W )*call`, 0},
		{"i686-linux-gnu-objdump", "/usr/i686-linux-gnu/lib/libc.so.6", `^(notrack )?call`, 0},
		{"aarch64-linux-gnu-objdump", "/usr/aarch64-linux-gnu/lib/libc.so.6", `^blr? `, 0},
		{"riscv64-linux-gnu-objdump", "/usr/riscv64-linux-gnu/lib/libc.so.6", `^jalr? ([^,]*$|ra,|[0-9-]+\(|[0-9a-f]+ <)`, 0},
		{"s390x-linux-gnu-objdump", "/usr/s390x-linux-gnu/lib/libc.so.6", `^(brasl|bras|basr|bas) %r14`, 0},
		{"powerpc64le-linux-gnu-objdump", "/usr/powerpc64le-linux-gnu/lib/libc.so.6", `^(bl|b[a-z]*ctrl|b[a-z]*lrl)( |$)`, 0},
		{"powerpc-linux-gnu-objdump", "/usr/powerpc-linux-gnu/lib/libc.so.6", `^(bl|b[a-z]*ctrl|b[a-z]*lrl)( |$)`, 0},
		{"mips-linux-gnu-objdump", "/usr/mips-linux-gnu/lib/libc.so.6", `^(jal|bal|jalr [^,]*$)`, 4},
		{"mips64el-linux-gnuabi64-objdump", "/usr/mips64el-linux-gnuabi64/lib/libc.so.6", `^(jal|bal|jalr [^,]*$)`, 4},
		{"arm-linux-gnueabihf-objdump", "/usr/arm-linux-gnueabihf/lib/libc.so.6", `^blx?(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)? `, 0},
	} {
		t.Run(test.file, func(t *testing.T) {
			if _, err := exec.LookPath(test.tool); err != nil {
				t.Skip("skipped: " + test.tool + " is not installed")
			}
			f, err := elf.Open(test.file)
			if err != nil {
				t.Skip("skipped: " + test.file + " is not installed")
			}
			defer f.Close()
			section := f.Section(".text")
			code, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(test.tool, "-d", "-j.text",
				fmt.Sprintf("--stop-address=%#x", section.Addr+most), test.file).Output()
			if err != nil {
				t.Fatal(err)
			}
			m := arch.Lookup(f.Machine, f.Class, f.Data)
			isCall := regexp.MustCompile(test.calls)
			calls, others, wrong := 0, 0, 0
			for line := range strings.Lines(string(out)) {
				// 26908:	782410ef          	jal	6808a <name>
				fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
				pc, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(fields[0]), ":"), 16, 64)
				if len(fields) < 3 || err != nil || pc > section.Addr+most-32 || strings.HasPrefix(fields[2], ".") {
					continue
				}
				fields[2] = strings.Join(strings.Fields(fields[2]), " ")
				returns := pc + uint64(len(strings.ReplaceAll(strings.TrimSpace(fields[1]), " ", ""))/2) + test.slot
				thumb := f.Machine == elf.EM_ARM && (len(strings.TrimSpace(fields[1])) == 4 || strings.Contains(strings.TrimSpace(fields[1]), " "))
				at := returns
				if thumb {
					returns |= 1
				}
				end := at - section.Addr
				varies := thumb || f.Machine == elf.EM_X86_64 || f.Machine == elf.EM_386 || f.Machine == elf.EM_RISCV || f.Machine == elf.EM_S390
				call, ok := m.CallBefore(code[end-min(end, arch.MaxCallSize):end], returns)
				want := isCall.MatchString(fields[2])
				switch {
				case want:
					calls++
				default:
					others++
				}
				if ok != want {
					// Where instructions have several lengths the end of one can look like a call.
					if wrong++; want || !varies {
						t.Errorf("%x: %q: a call %v", pc, fields[2], ok)
					}
					continue
				}
				if operand := regexp.MustCompile(`([0-9a-f]+) <`).FindStringSubmatch(fields[2]); want && operand != nil && !strings.ContainsAny(fields[2], "*(") {
					if target := call.Target &^ map[bool]uint64{true: 1}[f.Machine == elf.EM_ARM]; !call.Direct || strconv.FormatUint(target, 16) != operand[1] {
						t.Errorf("%x: %q: target %x, direct %v", pc, fields[2], call.Target, call.Direct)
					}
				}
			}
			if t.Logf("%d calls, %d others, %d of them look like calls", calls, others, wrong); calls < 500 || wrong > others/100 {
				t.Errorf("%d calls, %d others, %d of them look like calls", calls, others, wrong)
			}
		})
	}
}
