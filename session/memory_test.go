// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fence returns pages with the given protections, filled with a pattern.
func fence(t testing.TB, protections ...int) (p []byte, address uint64) {
	t.Helper()
	size := os.Getpagesize()
	p, err := unix.Mmap(-1, 0, size*len(protections), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(p) })
	for n := range p {
		p[n] = byte(n)
	}
	for n, protection := range protections {
		if err := unix.Mprotect(p[n*size:(n+1)*size], protection); err != nil {
			t.Fatal(err)
		}
	}
	return p, uint64(uintptr(unsafe.Pointer(&p[0])))
}

// The errors of reads and writes have the first inaccessible address; the bytes before it are
// read or written.
func TestGuardedMemory(t *testing.T) {
	s := newSession(t, newFunction(t, "ret"))
	page := uint64(os.Getpagesize())
	const rw = unix.PROT_READ | unix.PROT_WRITE
	memory, at := fence(t, rw, rw, unix.PROT_READ, unix.PROT_NONE, rw)
	for _, tt := range []struct {
		name         string
		offset, size uint64
		read, write  uint64 // of the first bad address; ok for none
	}{
		{"all good", 0, 2 * page, ok, ok},
		{"nothing", 3 * page, 0, ok, ok},
		{"over a page's end", page - 1, 2, ok, ok},
		{"into what is read only", 2*page - 5, 100, ok, 2 * page},
		{"into none", page + 7, 3 * page, 3 * page, 2 * page},
		{"read only", 2*page + 3, 9, ok, 2*page + 3},
		{"none", 3*page + 5, 9, 3*page + 5, 3*page + 5},
		{"from none on", 3 * page, 2 * page, 3 * page, 3 * page},
		{"huge", 17, 64 << 20, 3 * page, 2 * page},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := make([]byte, tt.size)
			verify := func(err error, bad uint64, write bool) (done uint64) {
				t.Helper()
				if bad == ok {
					if err != nil {
						t.Error(err)
					}
					return tt.size
				}
				var e *MemoryError
				if !errors.As(err, &e) || e.Address != at+bad || e.Write != write || !errors.Is(err, unix.EFAULT) {
					t.Errorf("%v, want %#x", err, at+bad)
				}
				return bad - tt.offset
			}
			n := verify(s.ReadMemory(p, at+tt.offset), tt.read, false)
			for k := range n {
				if p[k] != byte(tt.offset+k) {
					t.Fatalf("byte %d is %#x", k, p[k])
				}
			}
			for k := range p {
				p[k] = ^byte(tt.offset + uint64(k))
			}
			n = verify(s.WriteMemory(p, at+tt.offset), tt.write, true)
			if !bytes.Equal(memory[tt.offset:tt.offset+n], p[:n]) {
				t.Error("not written")
			}
			for k := range n {
				memory[tt.offset+k] = byte(tt.offset + k)
			}
		})
	}
	for _, address := range []uint64{0, 1<<47 - 8, 1 << 47, 1 << 63, 1<<64 - 4096, 1<<64 - 4} {
		var e *MemoryError
		if err := s.ReadMemory(make([]byte, 16), address); !errors.As(err, &e) || e.Address != address {
			t.Errorf("%#x: %v", address, err)
		}
		if err := s.WriteMemory(make([]byte, 16), address); !errors.As(err, &e) || e.Address != address {
			t.Errorf("%#x: %v", address, err)
		}
	}
}

const ok = ^uint64(0) // no address is bad

// Next to code and across its bounds. Code is written although it is not writable.
func TestMemoryAroundCode(t *testing.T) {
	i, other := newFunction(t, "sum"), newFunction(t, "load")
	s := newSession(t, i, other)
	for _, image := range []*Image{i, other} {
		r := image.Ranges()[0]
		p := make([]byte, 2*os.Getpagesize())
		var e *MemoryError
		from := r.Start &^ uint64(os.Getpagesize()-1)
		err := s.ReadMemory(p, from)
		if err != nil && (!errors.As(err, &e) || e.Address < r.End) {
			t.Error(err)
		}
		was := bytes.Clone(p[r.Start-from : r.End-from])
		if _, err := s.Break(r.Start, nil); err != nil {
			t.Fatal(err)
		}
		s.ReadMemory(p, from)
		if !bytes.Equal(was, p[r.Start-from:r.End-from]) {
			t.Errorf("%x, before %x", p[r.Start-from:r.End-from], was)
		}
		if err := s.WriteMemory(was, r.Start); err != nil {
			t.Error(err)
		}
	}
	stop, err := s.Call(start(i), 4)
	check(t, stop, err, AtBreakpoint)
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != 10 {
		t.Error(stop)
	}
}

func TestReadString(t *testing.T) {
	var got string
	var failed error
	host := newHost(t, HostFunction{Name: "text", Call: func(c *HostCall) error {
		got, failed = c.ReadString(c.Word(0), int(c.Word(1)))
		return nil
	}})
	s := newSession(t, host)
	memory, at := fence(t, unix.PROT_READ|unix.PROT_WRITE, unix.PROT_READ|unix.PROT_WRITE, unix.PROT_NONE)
	size := len(memory) / 3 * 2
	for n := range memory[:size] {
		memory[n] = 'a'
	}
	memory[5] = 0
	for _, tt := range []struct {
		offset, limit int
		want          string
		fails         bool
	}{
		{0, 100, "aaaaa", false},
		{0, 3, "aaa", false},
		{5, 3, "", false},
		{6, 0, "", false},
		{6, size - 6, strings.Repeat("a", size-6), false},
		{size - 3, 100, "aaa", true},
	} {
		stop := call(t, s, "text", at+uint64(tt.offset), uint64(tt.limit))
		check(t, stop, nil, Returned)
		if got != tt.want || (failed != nil) != tt.fails {
			t.Errorf("%d, %d: %d bytes, %v", tt.offset, tt.limit, len(got), failed)
		}
	}
}

// The substitutes for refused system calls have the same effect.
func TestMemoryOtherwise(t *testing.T) {
	memory, at := fence(t, unix.PROT_READ|unix.PROT_WRITE, unix.PROT_READ|unix.PROT_WRITE)
	p := make([]byte, 2*os.Getpagesize())
	if n, err := transferFile(unix.SYS_PROCESS_VM_READV, p, at); n != len(p) || err != nil || !bytes.Equal(p, memory) {
		t.Error(n, err)
	}
	copy(p, "changed")
	if n, err := transferFile(unix.SYS_PROCESS_VM_WRITEV, p, at); n != len(p) || err != nil || !bytes.Equal(p, memory) {
		t.Error(n, err)
	}
	for _, address := range []uint64{8, 1 << 47, 1 << 63, 1<<64 - 8} {
		if n, err := transferFile(unix.SYS_PROCESS_VM_READV, p, address); n != 0 || err != unix.EFAULT {
			t.Errorf("%#x: %d, %v", address, n, err)
		}
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	i := newFunction(t, "sum")
	s := newSession(t, i)
	code := functionOf("ret").text
	if err := writeUnprotected(code, start(i)); err != nil {
		t.Fatal(err)
	}
	stop, err := s.Call(start(i), 4)
	if check(t, stop, err, Returned).Result != 0 {
		t.Error(stop)
	}
	if err := writeUnprotected(code, 1<<40+5); err == nil {
		t.Error("written where nothing is")
	}
	maps, err := os.ReadFile(filepath.Join("/proc", "self", "maps"))
	if err != nil || bytes.Contains(maps, []byte(" rwxp ")) {
		t.Errorf("code is left writable: %v", err)
	}
}
