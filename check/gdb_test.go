// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package check_test

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// stepInGDB prints the registers and the stack before each instruction of recursive, in hexadecimal.
const stepInGDB = `
import gdb
gdb.execute("set confirm off")
gdb.execute("break *recursive")
gdb.execute("run", to_string=True)
gdb.execute("delete")
names = NAMES.split()
process = gdb.selected_inferior()
caller = gdb.newest_frame().older().pc()
while True:
    frame = gdb.newest_frame()
    values = [int(frame.read_register(name)) & (1 << 64) - 1 for name in names]
    pc, sp = frame.pc(), values[names.index("SP")]
    stack = process.read_memory(sp - 128, 1024).tobytes()
    print("step", "%x" % pc, "%x" % (sp - 128), stack.hex(), *("%x" % v for v in values))
    if pc == caller:
        break
    gdb.execute("stepi", to_string=True)
gdb.execute("kill")
`

// gdbRegisters are gdb's names of the registers, by column.
var gdbRegisters = map[string]string{
	"amd64": "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15",
	"arm64": "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp",
}

// stackAndCode is the memory of a state: the stack that gdb printed, and the code of the program.
type stackAndCode struct {
	stack code
	file  *object.File
}

func (m stackAndCode) ReadMemory(p []byte, addr uint64) error {
	if m.stack.ReadMemory(p, addr) == nil {
		return nil
	}
	return m.file.ReadMemory(p, addr)
}

// Trace compares an execution that gdb stepped through.
func TestTraceGDB(t *testing.T) {
	gdb := testprogram.RequireTool(t, "gdb")
	gcc := testprogram.RequireTool(t, "gcc")
	dir := t.TempDir()
	path, script, source := filepath.Join(dir, "program"), filepath.Join(dir, "step.py"), filepath.Join(dir, "main.c")
	names := gdbRegisters[runtime.GOARCH]
	sp := map[string]string{"amd64": "rsp", "arm64": "sp"}[runtime.GOARCH]
	text := strings.NewReplacer("NAMES", strconv.Quote(names), `"SP"`, strconv.Quote(sp)).Replace(stepInGDB)
	const main = "unsigned long recursive(unsigned long, unsigned long, unsigned long);\nint main(void) { return recursive(5, 1, 2); }\n"
	for name, content := range map[string]string{script: text, source: main} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(gcc, "-O1", "-no-pie", "-o", path, source, "testdata/functions.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(gdb, "-nx", "-batch", "-x", script, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section, err := f.EHFrame()
	if err != nil {
		t.Fatal(err)
	}
	var modules unwind.Modules
	modules.Add(0, 1<<32, &unwind.Module{Name: path, Source: unwind.Compile(section)})

	steps := 0
	number := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	states := func(yield func(check.TraceState) bool) {
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			if len(fields) == 0 || fields[0] != "step" {
				continue
			}
			steps++
			stack, err := hex.DecodeString(fields[3])
			if err != nil {
				t.Fatal(err)
			}
			r := &unwind.Registers{PC: number(fields[1])}
			for column, value := range fields[4:] {
				r.Set(uint64(column), number(value))
			}
			if !yield(check.TraceState{Registers: r, Memory: stackAndCode{code{number(fields[2]), stack}, f}}) {
				return
			}
		}
	}
	result, err := check.Trace(f.Machine(), &modules, states, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result.Instructions < 30 || result.Agree != result.Instructions || result.Instructions != steps-1 {
		t.Errorf("%d steps, %+v\n%s", steps, result, out[:min(len(out), 1000)])
	}
}
