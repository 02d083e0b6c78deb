// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"bufio"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/testprogram"
)

func amd64() *arch.Machine { return arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB) }
func arm64() *arch.Machine { return arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB) }

// A line is an instruction in the output of objdump.
type line struct {
	address uint64
	code    []byte
	text    string // mnemonic and operands
}

// disassemble calls each for the instructions that objdump finds in a file.
func disassemble(t *testing.T, tool, path string, each func(line), flags ...string) {
	t.Helper()
	cmd := exec.Command(tool, append(flags, "-d", "-w", "--insn-width=16", path)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReaderSize(out, 1<<16)
	for {
		text, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		// "  401000:\t55                   \tpush   %rbp"
		fields := strings.SplitN(strings.TrimRight(text, "\n"), "\t", 3)
		if len(fields) != 3 {
			continue
		}
		address, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(fields[0]), ":"), 16, 64)
		if err != nil {
			continue
		}
		code, err := hex.DecodeString(strings.ReplaceAll(fields[1], " ", ""))
		if err != nil {
			continue
		}
		each(line{address, code, fields[2]})
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
}

// x86Files are programs with the number of bytes to check: objdump needs a minute for a whole
// large program.
var x86Files = []struct {
	path string
	size uint64 // bytes of .text
}{
	{"/usr/lib/x86_64-linux-gnu/libc.so.6", 2 << 20},
	{"/usr/lib/x86_64-linux-gnu/libm.so.6", 1 << 20},
	{"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 1 << 20},
	{"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", 1 << 20},
	{"/usr/bin/perf", 1 << 20},
}

// The size of every instruction is that of objdump, and an operand is relative to rip if it is in
// objdump's output.
func TestSizesAgreeWithObjdump(t *testing.T) {
	objdump := testprogram.RequireTool(t, "objdump")
	for _, file := range x86Files {
		t.Run(file.path[strings.LastIndexByte(file.path, '/')+1:], func(t *testing.T) {
			start, end := window(t, file.path, file.size)
			count, differ := 0, 0
			disassemble(t, objdump, file.path, func(l line) {
				if strings.Contains(l.text, "(bad)") || strings.HasPrefix(l.text, ".byte") {
					return
				}
				count++
				if err := agreesX86(l); err != nil && differ < 20 {
					differ++
					t.Errorf("%x: % x %s: %v", l.address, l.code, l.text, err)
				}
			}, "--start-address="+fmt.Sprint(start), "--stop-address="+fmt.Sprint(end))
			t.Logf("%d instructions", count)
			if count < 1000 {
				t.Errorf("objdump printed %d instructions", count)
			}
		})
	}
}

// window returns the start of .text, and its end, or the address size bytes after the start.
func window(t *testing.T, path string, size uint64) (start, end uint64) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is not installed", path)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	if *wholeFiles {
		size = s.Size
	}
	return s.Addr, s.Addr + min(size, s.Size)
}

var x86Prefixes = []byte("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3" +
	"\x40\x41\x42\x43\x44\x45\x46\x47\x48\x49\x4a\x4b\x4c\x4d\x4e\x4f")

func agreesX86(l line) error {
	if !slices.ContainsFunc(l.code, func(b byte) bool { return !slices.Contains(x86Prefixes, b) }) {
		return nil // objdump gives prefixes that do nothing a line of their own
	}
	code := append(append([]byte(nil), l.code...), make([]byte, 16)...)
	if l.code[0] == 0x9b && len(l.code) > 1 {
		code = code[1:] // fwait, and the instruction it waits for, which objdump makes one
		l.code = l.code[1:]
	}
	i, err := decodeX86Parts(code)
	if err != nil {
		return err
	}
	text, _, _ := strings.Cut(l.text, "#")
	out, err := i.instruction(l.address)
	if errors.Is(err, ErrUnsupported) || errors.Is(err, ErrInvalid) && strings.Contains(text, "lock") {
		return nil
	}
	if err != nil {
		return err
	}
	if len(i.Code) != len(l.code) {
		return fmt.Errorf("%d bytes", len(i.Code))
	}
	if rip := strings.Contains(text, "(%rip)") || strings.Contains(text, "(%eip)"); rip != i.RIPRelative {
		return fmt.Errorf("relative to rip: %t", i.RIPRelative)
	}
	return agreesKind(out, text)
}

var isPrefix = regexp.MustCompile("^(repn?z?|bnd|notrack|lock|xacquire|xrelease|data16|addr32|[cdefgs]s|rex[.A-Z]*)$")
var stringInstruction = regexp.MustCompile("^(ins|outs|movs|cmps|stos|lods|scas)[bwlq]?$")

// agreesKind compares with the mnemonic.
func agreesKind(i Instruction, text string) error {
	fields := strings.Fields(text)
	repeated := false
	for len(fields) > 1 && isPrefix.MatchString(fields[0]) {
		repeated = repeated || strings.HasPrefix(fields[0], "rep")
		fields = fields[1:]
	}
	mnemonic := fields[0]
	// Branch hints: "jne,pn".
	mnemonic, _, _ = strings.Cut(mnemonic, ",")
	want := Plain
	switch {
	case repeated && stringInstruction.MatchString(mnemonic):
		want = Repeat
	case strings.HasPrefix(mnemonic, "jmp"), strings.HasPrefix(mnemonic, "ljmp"):
		want = Jump
	case mnemonic[0] == 'j', strings.HasPrefix(mnemonic, "loop"), mnemonic == "xbegin":
		want = Branch
	case strings.HasPrefix(mnemonic, "call"), strings.HasPrefix(mnemonic, "lcall"):
		want = Call
	case strings.HasPrefix(mnemonic, "ret"), strings.HasPrefix(mnemonic, "lret"):
		want = Return
	case strings.HasPrefix(mnemonic, "iret"):
		want = InterruptReturn
	case mnemonic == "syscall", mnemonic == "sysenter":
		want = Syscall
	case strings.HasPrefix(mnemonic, "pushf"):
		want = PushFlags
	case strings.HasPrefix(mnemonic, "popf"):
		want = PopFlags
	case mnemonic == "int3", mnemonic == "int" && fields[1] != "$0x80", mnemonic == "hlt", strings.HasPrefix(mnemonic, "ud"), mnemonic == "icebp", mnemonic == "int1":
		want = Trap
	case mnemonic == "mov" && strings.HasSuffix(strings.TrimSpace(text), ",%ss"):
		want = Inhibit
	case strings.HasPrefix(mnemonic, "sgdt"), strings.HasPrefix(mnemonic, "sidt"), strings.HasPrefix(mnemonic, "sldt"),
		strings.HasPrefix(mnemonic, "smsw"), mnemonic == "str", mnemonic == "strw", mnemonic == "strl", mnemonic == "strq":
		want = Inhibit
	}
	if i.Kind != want {
		return fmt.Errorf("kind %d, expected %d", i.Kind, want)
	}
	if want == Branch || (want == Jump || want == Call) && !strings.Contains(fields[1], "*") {
		target, err := strconv.ParseUint(strings.TrimPrefix(fields[1], "0x"), 16, 64)
		if err != nil {
			return err
		}
		if !i.Direct || i.Target != target {
			return fmt.Errorf("target %#x, known: %t", i.Target, i.Direct)
		}
	} else if i.Direct {
		return errors.New("a target that objdump does not know")
	}
	return nil
}
