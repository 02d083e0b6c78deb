// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && arm64

package main

import (
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"
	"unsafe"
)

// Operations of Arm's semihosting (Arm IHI 0050, "Semihosting for AArch32 and
// AArch64", §7), which qemu offers to user space with userspace=on.
const (
	sysOpen   = 0x01
	sysClose  = 0x02
	sysWrite  = 0x05
	sysRead   = 0x06
	sysRemove = 0x0e
	sysRename = 0x0f
	sysTime   = 0x11
	sysExit   = 0x18
)

const (
	openRead  = 1 // as fopen's "rb"
	openWrite = 5 // "wb"
)

const applicationExit = 0x20026 // ADP_Stopped_ApplicationExit

func semihost(operation uintptr, block *[4]uintptr) uintptr

// shared contains all memory that the host reads and writes, at the addresses in the block.
// The collector does not move it. It is written before each call, because the host does not
// fault pages in.
var shared struct {
	sync.Mutex
	block  [4]uintptr
	first  [4096]byte
	second [4096]byte
	data   [256 << 10]byte
}

func call(operation uintptr, block ...uintptr) uintptr {
	shared.block = [4]uintptr{}
	copy(shared.block[:], block)
	return semihost(operation, &shared.block)
}

// text copies a path and a terminating NUL to a buffer that the host can read.
func text(buffer *[4096]byte, path string) (address, length uintptr) {
	n := copy(buffer[:len(buffer)-1], path)
	buffer[n] = 0
	return uintptr(unsafe.Pointer(buffer)), uintptr(n)
}

// A hostFile is a file of the host.
type hostFile struct {
	path   string
	handle uintptr
}

func open(path string, mode uintptr) (*hostFile, error) {
	shared.Lock()
	defer shared.Unlock()
	address, length := text(&shared.first, path)
	handle := call(sysOpen, address, mode, length)
	if int(handle) < 0 {
		return nil, &fs.PathError{Op: "open (host)", Path: path, Err: fs.ErrNotExist}
	}
	return &hostFile{path, handle}, nil
}

func (f *hostFile) Close() error {
	shared.Lock()
	defer shared.Unlock()
	call(sysClose, f.handle)
	return nil
}

func (f *hostFile) Write(p []byte) (int, error) {
	shared.Lock()
	defer shared.Unlock()
	written := 0
	for written < len(p) {
		n := copy(shared.data[:], p[written:])
		left := int(call(sysWrite, f.handle, uintptr(unsafe.Pointer(&shared.data)), uintptr(n)))
		if left < 0 || left >= n {
			return written, fmt.Errorf("write (host) %s: %d of %d bytes left", f.path, left, n)
		}
		written += n - left
	}
	return written, nil
}

// Read reads more of a growing file. io.EOF means that there is no more data yet.
func (f *hostFile) Read(p []byte) (int, error) {
	shared.Lock()
	defer shared.Unlock()
	part := shared.data[:min(len(p), len(shared.data))]
	clear(part)
	left := int(call(sysRead, f.handle, uintptr(unsafe.Pointer(&shared.data)), uintptr(len(part))))
	if left < 0 || left > len(part) {
		return 0, fmt.Errorf("read (host) %s: answer %d", f.path, left)
	}
	if left == len(part) {
		return 0, io.EOF
	}
	return copy(p, part[:len(part)-left]), nil
}

// readHost returns the content of a file of the host.
func readHost(path string) ([]byte, error) {
	f, err := open(path, openRead)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// writeHost writes a file of the host, which appears at its path when it is
// complete.
func writeHost(path string, content []byte) error {
	f, err := open(path+".new", openWrite)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	f.Close()
	if err != nil {
		return err
	}
	shared.Lock()
	defer shared.Unlock()
	from, fromLength := text(&shared.first, path+".new")
	to, toLength := text(&shared.second, path)
	if status := call(sysRename, from, fromLength, to, toLength); status != 0 {
		return fmt.Errorf("rename (host) %s.new to %s: answer %d", path, path, int(status))
	}
	return nil
}

func removeHost(path string) {
	shared.Lock()
	defer shared.Unlock()
	address, length := text(&shared.first, path)
	call(sysRemove, address, length)
}

// hostTime returns the host's time, in whole seconds.
func hostTime() time.Time {
	shared.Lock()
	defer shared.Unlock()
	return time.Unix(int64(call(sysTime)), 0)
}

// exitHost ends the emulator.
func exitHost(status int) {
	shared.Lock()
	defer shared.Unlock()
	call(sysExit, applicationExit, uintptr(status))
}
