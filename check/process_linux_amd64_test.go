// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// stepped is a process that the test traces, at its main function.
type stepped struct {
	t       testing.TB
	pid     int
	regs    unix.PtraceRegs
	memory  *process.Memory
	objects *stack.Objects
	status  unix.WaitStatus
}

// stepProgram builds a program and runs it up to main. The goroutine stays on its thread,
// which the kernel takes for the tracer.
func stepProgram(t testing.TB, compiler, source string, flags ...string) *stepped {
	t.Helper()
	testprogram.RequireTool(t, compiler)
	path := filepath.Join(t.TempDir(), "program")
	build := exec.Command(compiler, append(flags, "-no-pie", "-o", path, source)...)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, text)
	}
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var main uint64
	for s := range f.Symbols() {
		if s.Name == "main" {
			main = s.Address
		}
	}

	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &stepped{t: t, pid: cmd.Process.Pid}
	t.Cleanup(func() {
		syscall.Kill(p.pid, syscall.SIGKILL)
		unix.Wait4(p.pid, nil, 0, nil)
	})
	p.wait()
	var code [1]byte
	if _, err := unix.PtracePeekText(p.pid, uintptr(main), code[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.PtracePokeText(p.pid, uintptr(main), []byte{0xcc}); err != nil {
		t.Fatal(err)
	}
	if err := unix.PtraceCont(p.pid, 0); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if _, err := unix.PtracePokeText(p.pid, uintptr(main), code[:]); err != nil {
		t.Fatal(err)
	}
	p.regs.Rip = main
	if err := unix.PtraceSetRegs(p.pid, &p.regs); err != nil {
		t.Fatal(err)
	}

	if p.memory, err = process.OpenMemory(p.pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.memory.Close() })
	mappings, err := process.Mappings(p.pid)
	if err != nil {
		t.Fatal(err)
	}
	p.objects = stack.NewObjects(&snapshot.Snapshot{
		PID: p.pid, Machine: f.Machine(), Mappings: mappings, Memory: p.memory,
		Open: func(m *snapshot.Mapping) (*os.File, error) { return process.OpenMapping(p.pid, m) },
	})
	t.Cleanup(func() { p.objects.Close() })
	return p
}

// wait waits for the next stop, and reads the registers.
func (p *stepped) wait() {
	p.t.Helper()
	if _, err := unix.Wait4(p.pid, &p.status, 0, nil); err != nil {
		p.t.Fatal(err)
	}
	if p.status.Stopped() {
		if err := unix.PtraceGetRegs(p.pid, &p.regs); err != nil {
			p.t.Fatal(err)
		}
	}
}

// states yields the process before each of its instructions, until it exits.
func (p *stepped) states(yield func(check.TraceState) bool) {
	var r unwind.Registers
	for signal := 0; ; {
		if signal == 0 {
			r.PC = p.regs.Rip
			for column, v := range []uint64{p.regs.Rax, p.regs.Rdx, p.regs.Rcx, p.regs.Rbx, p.regs.Rsi, p.regs.Rdi, p.regs.Rbp,
				p.regs.Rsp, p.regs.R8, p.regs.R9, p.regs.R10, p.regs.R11, p.regs.R12, p.regs.R13, p.regs.R14, p.regs.R15} {
				r.Set(uint64(column), v)
			}
			if !yield(check.TraceState{Registers: &r, Memory: p.memory}) {
				return
			}
		}
		if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SINGLESTEP, uintptr(p.pid), 0, uintptr(signal), 0, 0); errno != 0 {
			p.t.Fatal(errno)
		}
		p.wait()
		if !p.status.Stopped() {
			return
		}
		// A signal stops the process before it is delivered: it is passed on.
		if signal = int(p.status.StopSignal()); signal == int(unix.SIGTRAP) {
			signal = 0
		}
	}
}

// The tables of programs and of the C and C++ libraries agree with executions through
// signal handlers, longjmp and exceptions.
func TestTraceProcess(t *testing.T) {
	tests := []struct {
		compiler, source string
		flags            []string
	}{
		{"gcc", "testdata/signals.c", []string{"-O2"}},
		{"gcc", "testdata/signals.c", []string{"-O0", "-fcf-protection=full"}},
		{"g++", "testdata/exceptions.cc", []string{"-O2"}},
		{"g++", "testdata/exceptions.cc", []string{"-O0", "-fno-omit-frame-pointer"}},
	}
	for _, test := range sample.Of(t, tests, 1) {
		t.Run(fmt.Sprint(test.source, test.flags), func(t *testing.T) {
			p := stepProgram(t, test.compiler, test.source, test.flags...)
			result, err := check.Trace(p.objects.Snapshot().Machine, &p.objects.Modules, p.states, nil)
			if err != nil {
				t.Fatal(err)
			}
			// __longjmp says that its caller is where it jumps to: CFA = rdi.
			jump := make(map[uint64]bool)
			if result.Agree < result.Instructions*9/10 {
				t.Errorf("only %d of %d instructions agree", result.Agree, result.Instructions)
			}
			t.Logf("%d instructions: %d agree, %d disagree, %d undecided", result.Instructions, result.Agree, result.Disagree, result.Undecided)
			for i := range result.Mismatches {
				m := &result.Mismatches[i]
				if m.Register == "CFA" && m.Rule == "rdi" {
					jump[m.PC] = true
				}
				module, _ := p.objects.Modules.Find(m.PC)
				// Where the unwinder lands an exception, it writes the registers of the
				// handler to where its own frame saves the caller's, and then describes
				// the handler's frame.
				lands := strings.Contains(module.Name, "libgcc_s.so")
				if !jump[m.PC] && !lands {
					t.Errorf("%s+%#x: %v", module.Name, m.PC-module.Bias, m)
				}
			}
		})
	}
}
