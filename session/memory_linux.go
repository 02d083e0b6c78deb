// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package session

import (
	"fmt"
	"iter"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/snapshot/process"
)

// memoryAt returns memory of this process. It must be mapped.
func memoryAt(address, size uint64) []byte {
	p := uintptr(address)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), size)
}

// readProcess reads memory of this process, which need not be mapped. It returns the number of
// bytes that it has read.
func readProcess(p []byte, address uint64) (int, error) {
	return transfer(unix.SYS_PROCESS_VM_READV, p, address)
}

// writeProcess writes memory of this process, which need not be mapped or writable. It returns the
// number of bytes that it has written.
func writeProcess(p []byte, address uint64) (int, error) {
	return transfer(unix.SYS_PROCESS_VM_WRITEV, p, address)
}

var processID = os.Getpid()

func transfer(call uintptr, p []byte, address uint64) (int, error) {
	done := 0
	for done < len(p) {
		local := unix.Iovec{Base: &p[done], Len: uint64(len(p) - done)}
		remote := unix.RemoteIovec{Base: uintptr(address) + uintptr(done), Len: len(p) - done}
		n, _, errno := unix.Syscall6(call, uintptr(processID), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		switch errno {
		case 0:
		case unix.EPERM, unix.ENOSYS:
			m, err := transferFile(call, p[done:], address+uint64(done))
			return done + m, err
		default:
			return done, errno
		}
		if n == 0 {
			return done, unix.EFAULT
		}
		done += int(n)
	}
	return done, nil
}

// transferFile does the same if a seccomp filter forbids these calls. It ignores the protection of
// pages.
func transferFile(call uintptr, p []byte, address uint64) (n int, err error) {
	f, err := processMemory()
	if err != nil {
		return 0, err
	}
	if address >= 1<<63 {
		return 0, unix.EFAULT
	}
	if call == unix.SYS_PROCESS_VM_READV {
		n, err = f.ReadAt(p, int64(address))
	} else {
		n, err = f.WriteAt(p, int64(address))
	}
	if err != nil {
		err = unix.EFAULT // files return EIO and others
	}
	return n, err
}

// processMemory is /proc/self/mem. Writes to it reach code that is mapped without write permission.
var processMemory = sync.OnceValues(func() (*os.File, error) {
	return os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
})

// writeText writes to code of this process.
func writeText(p []byte, address uint64) error {
	if len(p) == 0 {
		return nil
	}
	f, err := processMemory()
	if err == nil {
		_, err = f.WriteAt(p, int64(address))
	}
	if err != nil && jit.Host().Processor.CoherentCode && writeUnprotected(p, address) == nil {
		return nil // the kernel has the option proc_mem.force_override=never
	}
	if err != nil {
		return fmt.Errorf("writing code at %#x: %w", address, err)
	}
	return nil
}

var unprotected sync.Mutex

// writeUnprotected makes code writable and writes to it. Other threads may run the code
// at the same time. It does not flush the instruction cache, so the processor must not need that
// (CoherentCode of package arch).
func writeUnprotected(p []byte, address uint64) error {
	unprotected.Lock()
	defer unprotected.Unlock()
	page := uint64(os.Getpagesize())
	start := address &^ (page - 1)
	size := address + uint64(len(p)) - start
	const access = unix.PROT_READ | unix.PROT_EXEC
	if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, uintptr(start), uintptr(size), access|unix.PROT_WRITE); errno != 0 {
		return errno
	}
	copy(memoryAt(address, uint64(len(p))), p)
	if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, uintptr(start), uintptr(size), access); errno != 0 {
		return errno
	}
	return nil
}

// executable is executable memory, which writeText writes.
type executable struct {
	address, size uint64
}

// newExecutable maps executable memory at most reach bytes from an address.
func newExecutable(near, size, reach uint64) (executable, error) {
	for hint := range hints(near, size, reach) {
		// The kernel uses the hint if it can.
		p := uintptr(hint)
		mapped, err := unix.MmapPtr(-1, 0, *(*unsafe.Pointer)(unsafe.Pointer(&p)), uintptr(size), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return executable{}, fmt.Errorf("memory for code: %w", err)
		}
		e := executable{uint64(uintptr(mapped)), size}
		if max(e.address, near)-min(e.address, near) <= reach {
			return e, nil
		}
		e.close()
	}
	return executable{}, fmt.Errorf("no free memory within %d bytes of %#x", reach, near)
}

// hints yields addresses at most reach bytes from an address where memory may be free: first at
// some distances, because that is fast, and then between the mappings of this process.
func hints(near, size, reach uint64) iter.Seq[uint64] {
	page := uint64(os.Getpagesize())
	end := uint64(1) << jit.Host().AddressBits // a hint above it asks the kernel for larger addresses
	return func(yield func(uint64) bool) {
		for distance := size; distance < reach; distance *= 2 {
			for _, hint := range []uint64{near + distance, near - distance} {
				if hint &^= page - 1; hint >= 1<<16 && hint < end && !yield(hint) {
					return
				}
			}
		}
		mappings, _ := process.Mappings(os.Getpid())
		free := uint64(1 << 16)
		for i := range mappings {
			m := &mappings[i]
			if m.Start >= free+size {
				for _, hint := range []uint64{free, m.Start - size} {
					if hint = hint &^ (page - 1); max(hint, near)-min(hint, near) <= reach && !yield(hint) {
						return
					}
				}
			}
			free = m.End
		}
	}
}

func (e *executable) close() error {
	if e.size == 0 {
		return nil
	}
	p := uintptr(e.address)
	err := unix.MunmapPtr(*(*unsafe.Pointer)(unsafe.Pointer(&p)), uintptr(e.size))
	e.size = 0
	return err
}

// dumpable reports whether other processes of the same user may inspect this one (prctl(2),
// PR_GET_DUMPABLE).
func dumpable() bool {
	v, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_DUMPABLE, 0, 0)
	return errno != 0 || v == 1
}

// thisThread returns the ID of the calling thread.
func thisThread() int { return unix.Gettid() }

func yieldThread() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
