// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package stacktest

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Stepped is a process that the test traces, at its main function.
type Stepped struct {
	Memory  *process.Memory
	Objects *stack.Objects
	Main    uint64 // its address

	t      testing.TB
	pid    int
	regs   registers
	status unix.WaitStatus
}

// Step runs a program that was linked with -no-pie up to main. The goroutine stays on its
// thread, which the kernel takes for the tracer.
func Step(t testing.TB, path string) *Stepped {
	t.Helper()
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
	cmd.Env = append(os.Environ(), environment)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Stepped{t: t, pid: cmd.Process.Pid, Main: main}
	t.Cleanup(func() {
		syscall.Kill(p.pid, syscall.SIGKILL)
		unix.Wait4(p.pid, nil, 0, nil)
	})
	p.wait()
	code := make([]byte, len(breakpoint))
	if _, err := unix.PtracePeekText(p.pid, uintptr(main), code); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.PtracePokeText(p.pid, uintptr(main), []byte(breakpoint)); err != nil {
		t.Fatal(err)
	}
	if err := unix.PtraceCont(p.pid, 0); err != nil {
		t.Fatal(err)
	}
	p.wait()
	if _, err := unix.PtracePokeText(p.pid, uintptr(main), code); err != nil {
		t.Fatal(err)
	}
	if err := p.regs.jump(p.pid, main); err != nil {
		t.Fatal(err)
	}

	if p.Memory, err = process.OpenMemory(p.pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Memory.Close() })
	mappings, err := process.Mappings(p.pid)
	if err != nil {
		t.Fatal(err)
	}
	p.Objects = stack.NewObjects(&snapshot.Snapshot{
		PID: p.pid, Machine: f.Machine(), Mappings: mappings, Memory: p.Memory,
		Open: func(m *snapshot.Mapping) (*os.File, error) { return process.OpenMapping(p.pid, m) },
	})
	t.Cleanup(func() { p.Objects.Close() })
	return p
}

// wait waits for the next stop, and reads the registers.
func (p *Stepped) wait() {
	p.t.Helper()
	if _, err := unix.Wait4(p.pid, &p.status, 0, nil); err != nil {
		p.t.Fatal(err)
	}
	if p.status.Stopped() {
		if err := p.regs.read(p.pid); err != nil {
			p.t.Fatal(err)
		}
	}
}

// States yields the registers of the process before each of its instructions, until it exits.
func (p *Stepped) States(yield func(*unwind.Registers) bool) {
	var r unwind.Registers
	for signal := 0; ; {
		if signal == 0 {
			r.PC = p.regs.pc()
			for column, v := range p.regs.columns() {
				r.Set(uint64(column), v)
			}
			if !yield(&r) {
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
