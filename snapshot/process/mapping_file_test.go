// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
)

// code returns the mapping of a process's program with its code.
func code(t testing.TB, pid int) *snapshot.Mapping {
	t.Helper()
	mappings, err := Mappings(pid)
	if err != nil {
		t.Fatal(err)
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	for i := range mappings {
		if m := &mappings[i]; m.Executable && m.Path == strings.TrimSuffix(link, " (deleted)") {
			return m
		}
	}
	t.Fatalf("no code of %s in %+v", link, mappings)
	return nil
}

// checkFile fails unless OpenMapping opens a file with these contents.
func checkFile(t testing.TB, pid int, want []byte) {
	t.Helper()
	f, err := OpenMapping(pid, code(t, pid))
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v, expected %d", f.Name(), len(got), err, len(want))
	}
}

func TestOpenMapping(t *testing.T) {
	original := build(t, "odd")
	want, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(t *testing.T, program string) error
	}{
		{"as it was", func(t *testing.T, program string) error { return nil }},
		{"deleted", func(t *testing.T, program string) error { return os.Remove(program) }},
		{"replaced", func(t *testing.T, program string) error {
			other := program + ".new"
			if err := os.WriteFile(other, []byte("other"), 0o755); err != nil {
				return err
			}
			return os.Rename(other, program)
		}},
		{"replaced by a FIFO", func(t *testing.T, program string) error {
			if err := os.Remove(program); err != nil {
				return err
			}
			return unix.Mkfifo(program, 0o600)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "a program (deleted)")
			copyFile(t, program, original)
			c := start(t, program)
			if err := test.change(t, program); err != nil {
				t.Fatal(err)
			}
			checkFile(t, c.pid, want)
		})
	}
}

// A process with another root directory: its paths are looked up there.
func TestOpenMappingUnderRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can change the root directory")
	}
	program := build(t, "odd", "-static")
	want, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(program)
	cmd := exec.Command("/odd")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	c := startCommand(t, cmd)
	checkFile(t, c.pid, want)

	m := code(t, c.pid)
	f, err := untrusted.Open(fmt.Sprintf("/proc/%d/root", c.pid), "/odd")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := sameFile(c.pid, m, f); err != nil {
		t.Error(err)
	}
	// An absolute link leads to the target's root, not to this process's.
	if err := os.Symlink("/odd", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	g, err := untrusted.Open(fmt.Sprintf("/proc/%d/root", c.pid), "/link")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := sameFile(c.pid, m, g); err != nil {
		t.Error(err)
	}
}

// If the device numbers differ, as on btrfs and overlayfs, the inode number and the contents
// decide.
func TestSameFileOnOtherDevice(t *testing.T) {
	c := start(t, build(t, "odd"))
	m := *code(t, c.pid)
	f, err := os.Open(m.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m.Device++
	if err := sameFile(c.pid, &m, f); err != nil {
		t.Errorf("same contents: %v", err)
	}
	m.Offset += 4096
	if err := sameFile(c.pid, &m, f); !errors.Is(err, debugfile.ErrContents) {
		t.Errorf("other contents: %v", err)
	}
	m.Writable = true
	if err := sameFile(c.pid, &m, f); !errors.Is(err, errWritable) {
		t.Errorf("writable: %v", err)
	}
	m.Inode++
	if err := sameFile(c.pid, &m, f); err == nil || !strings.Contains(err.Error(), "was replaced") {
		t.Errorf("other inode: %v", err)
	}
}

func TestOpenMappingOfNoFile(t *testing.T) {
	for _, m := range []snapshot.Mapping{{Start: 1, End: 2}, {Start: 1, End: 2, Path: "[stack]"}} {
		if f, err := OpenMapping(os.Getpid(), &m); f != nil || !errors.Is(err, ErrNoFile) {
			t.Errorf("%+v: %v, %v", m, f, err)
		}
	}
	m := snapshot.Mapping{Start: 0x1000, End: 0x2000, Path: "/nonexistent/library.so", Inode: 1}
	f, err := OpenMapping(os.Getpid(), &m)
	if f != nil || err == nil {
		t.Fatal(f, err)
	}
	for _, want := range []string{"mapping 0x1000-0x2000", "root/nonexistent/library.so", "map_files/1000-2000"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestMemory(t *testing.T) {
	program := build(t, "odd")
	c := start(t, program)
	m := code(t, c.pid)
	memory, err := OpenMemory(c.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	want, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, m.End-m.Start)
	if err := memory.ReadMemory(got, m.Start); err != nil {
		t.Fatal(err)
	}
	if n := min(len(got), len(want)-int(m.Offset)); !bytes.Equal(got[:n], want[m.Offset:][:n]) {
		t.Error("code differs from the file")
	}
	for _, addr := range []uint64{0, 0x10, 1 << 47, 1<<63 + 8, ^uint64(0)} {
		if err := memory.ReadMemory(got[:8], addr); err == nil {
			t.Errorf("read at %#x", addr)
		} else if !strings.Contains(err.Error(), fmt.Sprintf("%#x", addr)) {
			t.Errorf("error %q does not name %#x", err, addr)
		}
	}
	if err := memory.ReadMemory(nil, m.Start); err != nil {
		t.Errorf("nothing: %v", err)
	}
	// Many places at once. Some are not readable, or not to their end.
	mappings, err := Mappings(c.pid)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(mappings, func(m snapshot.Mapping) bool { return m.Readable && snapshot.FindMapping(mappings, m.End) == nil })
	places := []uint64{m.Start, 0x10, m.Start + 8, 1 << 47, mappings[i].End - 8, ^uint64(0), m.Start + 16}
	for i := range uint64(iovMax) {
		places = append(places, m.Start+i%128)
	}
	batch := func() (all []snapshot.Copy) {
		for _, at := range places {
			all = append(all, snapshot.Copy{Address: at, Bytes: make([]byte, 16)})
		}
		return append(all, snapshot.Copy{Address: m.Start, Bytes: []byte{}})
	}
	all := batch()
	memory.ReadBatch(all)
	for _, b := range all {
		at := b.Address - m.Start
		switch readable := at <= m.End-m.Start-16; {
		case readable != (b.Bytes != nil):
			t.Errorf("%#x of %#x-%#x: %x", b.Address, m.Start, m.End, b.Bytes)
		case readable && !bytes.Equal(b.Bytes, got[at:][:len(b.Bytes)]):
			t.Errorf("%#x: %x, expected %x", b.Address, b.Bytes, got[at:][:len(b.Bytes)])
		}
	}
	memory.ReadBatch(nil)

	// After the end of the process, the memory of other processes is not read.
	c.cmd.Process.Kill()
	c.cmd.Process.Wait()
	if err := memory.ReadMemory(got, m.Start); err == nil || !strings.Contains(err.Error(), "has exited") {
		t.Errorf("after the end: %v", err)
	}
	own := uint64(uintptr(unsafe.Pointer(&got[0])))
	for _, pid := range []int{c.pid, os.Getpid()} { // as if its ID were this program's now
		all = []snapshot.Copy{{Address: own, Bytes: make([]byte, 8)}, {Address: m.Start, Bytes: make([]byte, 8)}}
		(&Memory{pid, memory.mem}).ReadBatch(all)
		if all[0].Bytes != nil || all[1].Bytes != nil {
			t.Errorf("after the end, of process %d: %x", pid, all)
		}
	}
}

func BenchmarkMemory(b *testing.B) {
	c := start(b, build(b, "odd"))
	m := code(b, c.pid)
	memory, err := OpenMemory(c.pid)
	if err != nil {
		b.Fatal(err)
	}
	defer memory.Close()
	for _, n := range []int{8, 4096} {
		p := make([]byte, n)
		b.Run(fmt.Sprintf("mem/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := memory.ReadMemory(p, m.Start); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("process_vm_readv/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			local := unix.Iovec{Base: &p[0]}
			local.SetLen(n)
			s := stackCopier{local: []unix.Iovec{local}, remote: []unix.RemoteIovec{{Base: uintptr(m.Start), Len: n}}}
			for b.Loop() {
				if got, errno := s.read(c.pid); got != n {
					b.Fatal(got, errno)
				}
			}
		})
	}
}

// If neither its path nor the kernel leads to a mapped file, a file with the same build ID is
// used. One with another build ID is refused and reported.
func TestOpenMappingByBuildID(t *testing.T) {
	right, wrong := build(t, "odd", "-Wl,--build-id=0x1234567890"), build(t, "odd", "-Wl,--build-id=0x9876543210")
	want, err := os.ReadFile(right)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, right)
	mappings, err := Mappings(c.pid)
	if err != nil {
		t.Fatal(err)
	}
	// As for a deleted library: no link has this range.
	m := mappings[0]
	if m.Path != right || m.Offset != 0 {
		t.Fatalf("the first mapping is %+v", m)
	}
	m.Path, m.End, m.Deleted = "/nonexistent/library.so", m.End+4096, true
	dir := t.TempDir()
	search := debugfile.Search{Stores: []debugfile.Store{{Dir: dir + "/debug"},
		{Dir: dir + "/perf", Layout: debugfile.PerfCache}, {Dir: dir + "/cache", Layout: debugfile.DebuginfodCache}}}
	for _, name := range []string{"debug/.build-id/12/34567890", "perf/.build-id/12/34567890/elf", "cache/1234567890/executable"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		copyFile(t, name, wrong)
		f, err := openMapping(c.pid, &m, &search)
		if f != nil || err == nil || !strings.Contains(err.Error(), name+" was not used: its build ID is 9876543210, and 1234567890 is expected") {
			t.Errorf("another build ID: %v, %v", f, err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		copyFile(t, name, right)
		if f, err = openMapping(c.pid, &m, &search); err != nil {
			t.Error(err)
		} else {
			if got, err := io.ReadAll(f); f.Name() != name || err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v, expected %d of %s", f.Name(), len(got), err, len(want), name)
			}
			f.Close()
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
