// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package session

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryAt returns memory of this process that is known to be mapped.
func memoryAt(address, size uint64) []byte {
	p := uintptr(address)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), size)
}

// readProcess reads memory of this process that may not be mapped, and returns
// how many bytes it could read.
func readProcess(p []byte, address uint64) (int, error) {
	return transfer(unix.SYS_PROCESS_VM_READV, p, address)
}

// writeProcess writes memory of this process that may not be mapped or writable,
// and returns how many bytes it could write.
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
		if errno != 0 {
			return done, errno
		}
		if n == 0 {
			return done, unix.EFAULT
		}
		done += int(n)
	}
	return done, nil
}

// processMemory is /proc/self/mem: through it, code can be written that is mapped
// without that right, so that it is never writable to those that run it.
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
	if err != nil {
		return fmt.Errorf("writing code at %#x: %w", address, err)
	}
	return nil
}

// executable is memory for code that is written through writeText.
type executable struct {
	address, size uint64
}

// highest is where the addresses end that every process has: hints from there on
// ask for more (Documentation/arch/x86/x86_64/5level-paging.rst; arm64/memory.rst).
var highest = map[string]uint64{"amd64": 1 << 47, "arm64": 1 << 48}[runtime.GOARCH]

// newExecutable maps executable memory at most reach bytes from an address.
func newExecutable(near, size, reach uint64) (executable, error) {
	// The kernel takes the address as a hint and keeps to it where it can.
	for distance := size; distance < reach; distance *= 2 {
		for _, hint := range []uint64{near + distance, near - distance} {
			hint &^= uint64(os.Getpagesize()) - 1
			if hint < 1<<16 || hint >= highest {
				continue
			}
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
	}
	return executable{}, fmt.Errorf("no free memory within %d bytes of %#x", reach, near)
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

// dumpable reports whether other processes of the same user may look into this one
// (prctl(2), PR_GET_DUMPABLE).
func dumpable() bool {
	v, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_DUMPABLE, 0, 0)
	return errno != 0 || v == 1
}

// thisThread returns the number of the thread that calls it.
func thisThread() int { return unix.Gettid() }
