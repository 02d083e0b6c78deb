// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"encoding/binary"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Addresses of the tracee's memory. The pages of code and slots are writable. All but the far
// slot are within reach of the others.
const (
	codeBase  = 0x10_0000_0000
	dataBase  = codeBase + 0x1000_0000
	stackBase = codeBase + 0x1800_0000
	slotBase  = codeBase + 0x3000_0000

	farSlotBase = codeBase + 0x10_0000_0000 // out of reach of them

	pageSize = 0x1000
	areaSize = 4 * pageSize // of data, and of the stack

	memorySize = 2*areaSize + pageSize
)

// A tracee is a process that runs only the code of a test. It is this test's program, stopped
// before its first instruction.
type tracee struct {
	t      *testing.T
	pid    int
	xstate int // bytes of the processor's extended state
}

// A state is everything that an instruction can change.
type state struct {
	registers unix.PtraceRegs
	xstate    []byte
	memory    []byte // data, stack, code
}

// A stop is a state and the reason of the stop.
type stop struct {
	state
	signal  unix.Signal
	code    int32
	address uint64 // si_addr of a fault
}

func startTracee(t *testing.T) *tracee {
	t.Helper()
	runtime.LockOSThread() // to the end of the test: ptrace requires the thread that began
	cmd := exec.Command("/proc/self/exe", "-test.run=^$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("skipped: no process can be traced: %v", err)
	}
	p := &tracee{t: t, pid: cmd.Process.Pid}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	p.wait()
	p.must(unix.PtraceSetOptions(p.pid, unix.PTRACE_O_EXITKILL))
	buffer := make([]byte, maxState)
	p.xstate = p.regset(unix.PTRACE_GETREGSET, buffer)
	var r unix.PtraceRegs
	p.must(unix.PtraceGetRegs(p.pid, &r))
	_, err := unix.PtracePokeText(p.pid, uintptr(r.Rip), []byte{0x0f, 0x05})
	p.must(err)
	p.mmap(r, codeBase, pageSize, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
	p.mmap(r, slotBase, pageSize, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
	p.mmap(r, farSlotBase, pageSize, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
	p.mmap(r, dataBase, areaSize, unix.PROT_READ|unix.PROT_WRITE)
	p.mmap(r, stackBase, areaSize, unix.PROT_READ|unix.PROT_WRITE)
	return p
}

func (p *tracee) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *tracee) mmap(r unix.PtraceRegs, address, size uint64, protection int) {
	p.t.Helper()
	r.Rax, r.Rdi, r.Rsi, r.Rdx = unix.SYS_MMAP, address, size, uint64(protection)
	r.R10, r.R8, r.R9 = unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, ^uint64(0), 0
	p.must(unix.PtraceSetRegs(p.pid, &r))
	p.must(unix.PtraceSingleStep(p.pid))
	p.wait()
	p.must(unix.PtraceGetRegs(p.pid, &r))
	if r.Rax != address {
		p.t.Fatalf("mmap at %#x: %#x", address, r.Rax)
	}
}

func (p *tracee) wait() unix.Signal {
	p.t.Helper()
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(p.pid, &status, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		p.must(err)
		break
	}
	if !status.Stopped() {
		p.t.Fatalf("the process ended: %#x", status)
	}
	return status.StopSignal()
}

// maxState is larger than the extended state of any processor, which has 11 KB with AMX. The
// kernel accepts only the whole state.
const maxState = 1 << 14

// regset copies the extended state, and returns its size.
func (p *tracee) regset(request int, buffer []byte) int {
	p.t.Helper()
	const NT_X86_XSTATE = 0x202
	iov := unix.Iovec{Base: &buffer[0], Len: uint64(len(buffer))}
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(p.pid), NT_X86_XSTATE, uintptr(unsafe.Pointer(&iov)), 0, 0)
	if errno != 0 {
		p.t.Fatal(errno)
	}
	return int(iov.Len)
}

func (p *tracee) write(address uint64, b []byte) {
	p.t.Helper()
	local := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	n, err := unix.ProcessVMWritev(p.pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(address), Len: len(b)}}, 0)
	p.must(err)
	if n != len(b) {
		p.t.Fatalf("%d of %d bytes written", n, len(b))
	}
}

// set sets the tracee's state, with another program counter.
func (p *tracee) set(s *state, pc uint64) {
	p.t.Helper()
	r := s.registers
	r.Rip = pc
	r.Orig_rax = ^uint64(0) // no system call is to be restarted
	p.must(unix.PtraceSetRegs(p.pid, &r))
	p.regset(unix.PTRACE_SETREGSET, s.xstate)
	p.write(dataBase, s.memory[:areaSize])
	p.write(stackBase, s.memory[areaSize:2*areaSize])
	p.write(codeBase, s.memory[2*areaSize:])
}

// run resumes the tracee with PTRACE_SINGLESTEP or PTRACE_CONT.
func (p *tracee) run(request int) stop {
	p.t.Helper()
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(p.pid), 0, 0, 0, 0)
	if errno != 0 {
		p.t.Fatal(errno)
	}
	s := stop{signal: p.wait()}
	var info [128]byte
	_, _, errno = unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(p.pid), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		p.t.Fatal(errno)
	}
	s.code = int32(binary.LittleEndian.Uint32(info[8:]))
	s.address = binary.LittleEndian.Uint64(info[16:])
	p.must(unix.PtraceGetRegs(p.pid, &s.registers))
	// After a step over popf or iret, TF is visible (is_setting_trap_flag in the kernel's
	// arch/x86/kernel/step.c), also after the next step.
	// SETREGS does not clear ID, which popf can set.
	s.registers.Eflags &^= 0x100 | 0x200000
	s.xstate = make([]byte, p.xstate)
	p.regset(unix.PTRACE_GETREGSET, s.xstate)
	s.memory = make([]byte, memorySize)
	remote := []unix.RemoteIovec{{Base: dataBase, Len: areaSize}, {Base: stackBase, Len: areaSize}, {Base: codeBase, Len: pageSize}}
	n, err := unix.ProcessVMReadv(p.pid, []unix.Iovec{{Base: &s.memory[0], Len: memorySize}}, remote, 0)
	p.must(err)
	if n != memorySize {
		p.t.Fatalf("%d bytes read", n)
	}
	return s
}
