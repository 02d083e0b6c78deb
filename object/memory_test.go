// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/testprogram"
)

// processMemory reads the memory of a process.
type processMemory struct{ file *os.File }

func (m processMemory) ReadMemory(p []byte, addr uint64) error {
	_, err := m.file.ReadAt(p, int64(addr))
	return err
}

func openMemory(t *testing.T, pid string) processMemory {
	t.Helper()
	f, err := os.Open("/proc/" + pid + "/mem")
	if err != nil {
		t.Skipf("skipped: the memory of process %s cannot be read: %v", pid, err)
	}
	t.Cleanup(func() { f.Close() })
	return processMemory{f}
}

type mapped struct {
	start, offset uint64
	executable    bool
}

// mappingsOf returns the mappings of a file of a process.
func mappingsOf(t *testing.T, pid, path string) (list []mapped) {
	t.Helper()
	maps, err := os.ReadFile("/proc/" + pid + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if field := strings.Fields(line); len(field) >= 6 && field[5] == path {
			var m mapped
			if _, err := fmt.Sscanf(field[0]+" "+field[2], "%x-%x %x", &m.start, new(uint64), &m.offset); err != nil {
				t.Fatal(err)
			}
			m.executable = field[1][2] == 'x'
			list = append(list, m)
		}
	}
	return list
}

func TestVDSO(t *testing.T) {
	maps := mappingsOf(t, "self", "[vdso]")
	if len(maps) == 0 {
		t.Skip("skipped: the kernel maps no vDSO")
	}
	f, err := FromMemory(openMemory(t, "self"), maps[0].start, "[vdso]")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.ImageBias() != maps[0].start {
		t.Errorf("bias %#x of an image at %#x", f.ImageBias(), maps[0].start)
	}
	if len(f.BuildID()) == 0 {
		t.Error("no build ID")
	}
	section, err := f.EHFrame()
	if err != nil || section == nil {
		t.Fatalf("EHFrame: %v, %v", section, err)
	}
	fdes := 0
	for fde := range section.FDEs() {
		if _, ok := f.segmentAt(fde.Start); !ok {
			t.Errorf("FDE at %#x: its code at %#x is outside of the image", fde.Offset, fde.Start)
		}
		fdes++
	}
	if fdes == 0 {
		t.Error("no FDE")
	}
	name := "__vdso_clock_gettime"
	if f.header.machine == elf.EM_AARCH64 {
		name = "__kernel_clock_gettime"
	}
	s, ok := f.Symbol(name)
	if !ok {
		t.Fatalf("no symbol %s", name)
	}
	found, err := f.FindSymbols([]uint64{s.Address + 1})
	if err != nil || !strings.HasSuffix(found[0].Name, "clock_gettime") {
		t.Errorf("%+v, %v", found, err)
	}
	if f.Damage() != nil {
		t.Error(f.Damage())
	}
}

// TestReplacedFile reads a program from the memory of a process after its file was replaced.
func TestReplacedFile(t *testing.T) {
	content, err := os.ReadFile(testprogram.Build(t, "chain.c", "-O2", "-g"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "chain")
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
	process := testprogram.Start(t, path) // fully mapped once it writes
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another file"), 0o755); err != nil {
		t.Fatal(err)
	}
	pid := fmt.Sprint(process.PID)
	data, err := os.ReadFile("/proc/" + pid + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	maps := mappingsOf(t, pid, path)
	if len(maps) == 0 {
		t.Fatalf("%s is not mapped:\n%s", path, data)
	}
	f, err := FromMemory(openMemory(t, pid), maps[0].start, path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := NewFile(content, path)
	if err != nil {
		t.Fatal(err)
	}
	sameImage(t, f, want)
	for _, m := range maps {
		if bias, ok := want.Bias(m.start, m.offset, m.executable); !ok || bias != f.ImageBias() && m.executable {
			t.Errorf("Bias(%#x, %#x, %v) = %#x, %v, want %#x", m.start, m.offset, m.executable, bias, ok, f.ImageBias())
		}
	}
}

// sameImage compares an image with its file.
func sameImage(t *testing.T, image, file *File) {
	t.Helper()
	if !bytes.Equal(image.BuildID(), file.BuildID()) {
		t.Errorf("build ID %x, the file has %x", image.BuildID(), file.BuildID())
	}
	got, gotErr := image.EHFrame()
	want, wantErr := file.EHFrame()
	if gotErr != nil || wantErr != nil {
		t.Errorf("EHFrame: %v; %v", gotErr, wantErr)
	}
	if _, ok := file.segmentOf(elf.PT_GNU_EH_FRAME); ok && (got == nil) != (want == nil) {
		t.Errorf("EHFrame: %v, the file has %v", got, want)
	} else if got != nil {
		if got.Address != want.Address {
			t.Errorf(".eh_frame at %#x, the file has it at %#x", got.Address, want.Address)
		}
		if !bytes.HasPrefix(want.Data, got.Data) || len(want.Data)-len(got.Data) >= 64 {
			t.Errorf(".eh_frame has %d bytes, %d in the file", len(got.Data), len(want.Data))
		}
	}
	var addrs []uint64
	for s := range file.Symbols() {
		if s.Source == DynamicSymbols && s.Size > 0 {
			addrs = append(addrs, s.Address+s.Size/2)
		}
	}
	gotSymbols, err := image.FindSymbols(addrs)
	if err != nil {
		t.Error(err)
	}
	wantSymbols, err := file.FindSymbols(addrs)
	if err != nil {
		t.Error(err)
	}
	wrong := 0
	for i, s := range wantSymbols {
		if s.Source == DynamicSymbols && s != gotSymbols[i] {
			if wrong++; wrong < 3 {
				t.Errorf("%#x: %+v, the file has %+v", addrs[i], gotSymbols[i], s)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d symbols differ", wrong, len(addrs))
	}
}

// loaded is the memory of a process with a file loaded at a bias, before its dynamic linker
// has relocated anything.
type loaded struct {
	file *File
	bias uint64
}

func (l loaded) ReadMemory(p []byte, addr uint64) error {
	return l.file.ReadMemory(p, addr-l.bias)
}

var _ cfi.Memory = (*File)(nil)

func TestImagesOfOtherMachines(t *testing.T) {
	for _, path := range append(cross(t), "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1") {
		t.Run(path, func(t *testing.T) {
			file := open(t, path)
			const bias = 0x7000_0000
			image, err := FromMemory(loaded{file, bias}, bias+file.segments[firstLoad(file)].Vaddr, path)
			if err != nil {
				t.Fatal(err)
			}
			if image.ImageBias() != bias {
				t.Errorf("bias %#x", image.ImageBias())
			}
			sameImage(t, image, file)
			// The same for a file without section headers.
			stripped := bytes.Clone(file.data)
			if file.class == elf.ELFCLASS64 {
				clear(stripped[40:48])
			} else {
				clear(stripped[32:36])
			}
			bare, err := NewFile(stripped, path)
			if err != nil {
				t.Fatal(err)
			}
			sameImage(t, bare, file)
		})
	}
}

func firstLoad(f *File) int {
	for i, p := range f.segments {
		if p.Type == elf.PT_LOAD {
			return i
		}
	}
	return 0
}

// endless is unlimited memory with the same value in each word.
type endless byte

func (e endless) ReadMemory(p []byte, addr uint64) error {
	for n := copy(p, []byte{byte(e)}); n > 0 && n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
	if addr == 0 {
		copy(p, "\x7fELF\x02\x01\x01")
	}
	if addr < 56 && len(p) > 0 && addr+uint64(len(p)) > 56 {
		copy(p[54-addr:], []byte{phdr64, 0})
	}
	return nil
}

type failing struct{ loaded }

var errUnreadable = errors.New("unreadable")

func (f failing) ReadMemory(p []byte, addr uint64) error {
	if addr-f.bias > 0x1000 {
		return errUnreadable
	}
	return f.loaded.ReadMemory(p, addr)
}

func TestUnreadableImages(t *testing.T) {
	for _, m := range []cfi.Memory{endless(0), endless(1), endless(0xff)} {
		if n := allocated(func() {
			if f, err := FromMemory(m, 0, "endless"); err == nil {
				exercise(t, f)
			}
		}); n > 4*imageBudget {
			t.Errorf("%d bytes allocated", n)
		}
	}
	file := open(t, "/usr/lib/x86_64-linux-gnu/libc.so.6")
	f, err := FromMemory(failing{loaded{file, 0x1000}}, 0x1000, "failing")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.EHFrame(); err != nil && !errors.Is(err, errUnreadable) && f.Damage() == nil {
		t.Errorf("EHFrame: %v", err)
	}
	if _, err := f.FindSymbols([]uint64{0x30000}); !errors.Is(err, errUnreadable) {
		t.Errorf("FindSymbols: %v", err)
	}
}
