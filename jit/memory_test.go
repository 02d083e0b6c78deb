// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package jit_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/jit"
)

// numbers are functions that return 42 and 43 where Go's ABIInternal has a result.
var numbers = map[string][2][]byte{
	"amd64": {{0xb8, 42, 0, 0, 0, 0xc3}, {0xb8, 43, 0, 0, 0, 0xc3}}, // mov eax, 42; ret
	"arm64": { // mov x0, #42; ret
		{0x40, 0x05, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6},
		{0x60, 0x05, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6},
	},
}

// function makes a Go function of the code at an address: a func value points to
// the address of the code. The code touches neither the stack nor Go's registers.
func function(address uint64) func() uint64 {
	closure := &struct{ code uint64 }{address}
	return *(*func() uint64)(unsafe.Pointer(&closure))
}

func TestMemory(t *testing.T) {
	page := os.Getpagesize()
	m, err := jit.NewMemory(page + 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := len(m.Bytes()); got != 2*page || cap(m.Bytes()) != got {
		t.Fatalf("%d bytes with a capacity of %d, want %d", got, cap(m.Bytes()), 2*page)
	}
	if m.Address()%uint64(page) != 0 {
		t.Errorf("at %#x, not a page's start", m.Address())
	}
	first, last := m.Address(), m.Address()+uint64(2*page)
	wantPermissions(t, first-1, "---p")
	wantPermissions(t, first, "rw-p")
	wantPermissions(t, last-1, "rw-p")
	wantPermissions(t, last, "---p")

	for round, code := range numbers[runtime.GOARCH] {
		// At the end, so that an incomplete flush fails the test.
		at := len(m.Bytes()) - len(code)
		copy(m.Bytes()[at:], code)
		if err := m.Seal(); err != nil {
			t.Fatal(err)
		}
		if err := m.Seal(); err != nil || !m.Sealed() {
			t.Fatalf("sealed again: sealed %v, %v", m.Sealed(), err)
		}
		wantPermissions(t, first-1, "---p")
		wantPermissions(t, first, "r-xp")
		wantPermissions(t, last-1, "r-xp")
		wantPermissions(t, last, "---p")
		if got, want := function(m.Address()+uint64(at))(), uint64(42+round); got != want {
			t.Fatalf("round %d: the code returned %d, want %d", round, got, want)
		}
		if err := m.Unseal(); err != nil || m.Sealed() {
			t.Fatalf("unsealed: sealed %v, %v", m.Sealed(), err)
		}
		wantPermissions(t, first, "rw-p")
		wantPermissions(t, last-1, "rw-p")
	}

	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m.Address() != 0 || m.Bytes() != nil || m.Sealed() {
		t.Errorf("closed: %d bytes at %#x, sealed %v", len(m.Bytes()), m.Address(), m.Sealed())
	}
	if err := m.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if err := m.Seal(); !errors.Is(err, jit.ErrMemory) {
		t.Errorf("sealed after Close: %v", err)
	}
}

// wantPermissions fails the test if the mapping of an address has other permissions, or
// belongs to a file, because perf's maps are not used for files.
func wantPermissions(t *testing.T, address uint64, want string) {
	t.Helper()
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uint64
		fields := strings.Fields(lines.Text())
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if from <= address && address < to {
			if fields[1] != want || fields[4] != "0" {
				t.Errorf("%#x is in %q, want %s and no file", address, lines.Text(), want)
			}
			return
		}
	}
	t.Errorf("%#x is not mapped, want %s", address, want)
}

func TestMemoryFaults(t *testing.T) {
	m, err := jit.NewMemory(1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Seal(); err != nil {
		t.Fatal(err)
	}
	start := unsafe.Pointer(unsafe.SliceData(m.Bytes()))
	size := len(m.Bytes())
	var sum byte
	for name, access := range map[string]func(){
		"write while it is sealed": func() { m.Bytes()[0] = 1 },
		"read before it":           func() { sum += *(*byte)(unsafe.Add(start, -1)) },
		"read after it":            func() { sum += *(*byte)(unsafe.Add(start, size)) },
	} {
		if !faults(access) {
			t.Errorf("no fault: %s", name)
		}
	}
	if faults(func() { sum += m.Bytes()[0] + m.Bytes()[size-1] }) {
		t.Error("sealed memory cannot be read")
	}
}

func faults(access func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() != nil }()
	access()
	return false
}

func TestMemorySizes(t *testing.T) {
	for _, size := range []int{0, -1, int(^uint(0) >> 1), 1 << 62} {
		if m, err := jit.NewMemory(size); !errors.Is(err, jit.ErrMemory) {
			t.Errorf("%d bytes: %v, %v, want ErrMemory", size, m, err)
		}
	}
}

// TestMemoryForbidden runs on a thread with a seccomp filter that forbids mprotect to make memory
// executable, like systemd's MemoryDenyWriteExecute=.
func TestMemoryForbidden(t *testing.T) {
	failed := make(chan error)
	go func() {
		// Never unlocked, so that the thread and its filter end with the goroutine.
		runtime.LockOSThread()
		failed <- func() error {
			if err := forbidExecutable(); err != nil {
				return err
			}
			m, err := jit.NewMemory(1)
			if err != nil {
				return err
			}
			defer m.Close()
			err = m.Seal()
			if !errors.Is(err, jit.ErrMemory) || !errors.Is(err, unix.EACCES) || !strings.Contains(err.Error(), "seccomp") {
				return fmt.Errorf("sealed: %v", err)
			}
			if m.Sealed() {
				return errors.New("it calls itself sealed")
			}
			m.Bytes()[0] = 1 // still writable
			return nil
		}()
	}()
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func forbidExecutable() error {
	// struct seccomp_data (include/uapi/linux/seccomp.h): nr at 0, args at 16.
	const nr, protection = 0, 16 + 2*8
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: nr},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_MPROTECT, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: protection},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.PROT_EXEC, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("PR_SET_SECCOMP: %w", err)
	}
	return nil
}
