// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/readelf"
)

// fuzzMachines are machines with names, without names, with window saves, and unknown ones.
var fuzzMachines = []*arch.Machine{
	arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	arch.Lookup(elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB),
	arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB),
	arch.Lookup(elf.EM_PPC, elf.ELFCLASS32, elf.ELFDATA2MSB),
	arch.Lookup(elf.EM_SPARCV9, elf.ELFCLASS64, elf.ELFDATA2MSB),
	arch.Lookup(0xfe12, elf.ELFCLASS64, elf.ELFDATA2MSB),
}

var errEnough = errors.New("enough was printed")

// limited keeps the first bytes and the last one, and stops long output. It records control
// characters.
type limited struct {
	head []byte
	raw  []byte // from the first control character
	last byte
	n    int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(l.head) < 64 {
		l.head = append(l.head, p[:min(len(p), 64)]...)
	}
	if i := bytes.IndexFunc(p, func(r rune) bool { return r != '\n' && r != '\t' && !printable.Is(r) }); i >= 0 && l.raw == nil {
		l.raw = bytes.Clone(p[i:min(i+16, len(p))])
	}
	l.last = p[len(p)-1]
	if l.n += len(p); l.n > 8<<20 {
		return 0, errEnough
	}
	return len(p), nil
}

// Any bytes of a section are printed from the heading to the blank line at the end, and an
// error describes the section or is that of the writer.
func FuzzSection(f *testing.F) {
	for _, e := range examples() {
		file, err := object.NewFile(e.file, e.name)
		if err != nil {
			f.Fatal(err)
		}
		sections, err := file.CFISections()
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range sections {
			for i, m := range fuzzMachines {
				if m == s.Machine {
					f.Add(s.Data, uint8(i), uint8(s.Kind), s.Address)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, machine, kind uint8, address uint64) {
		s := &cfi.Section{
			Name: ".eh_frame", Kind: cfi.Kind(kind % 2), Data: data, Address: address,
			Machine: fuzzMachines[int(machine)%len(fuzzMachines)],
		}
		for _, mode := range modes {
			var out limited
			err := readelf.Section(&out, s, mode)
			if errors.Is(err, errEnough) {
				continue
			}
			if !bytes.HasPrefix(out.head, []byte("Contents of the .eh_frame section:\n\n")) || out.last != '\n' {
				t.Errorf("%s prints %q and ends in %q", option(mode), out.head, out.last)
			}
			if out.raw != nil {
				t.Errorf("%s prints %q", option(mode), out.raw)
			}
			var fault *cfi.Error
			if err != nil && !errors.As(err, &fault) {
				t.Errorf("%s: %v", option(mode), err)
			}
		}
	})
}

var errClosed = errors.New("closed")

type failing struct{ left int }

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errClosed
	}
	return len(p), nil
}

// An error of the writer is returned, and stops the output.
func TestWriterFails(t *testing.T) {
	f := newEH()
	cie := f.cie(zrCIE...)
	for range 10000 {
		f.fde(cie, cat(f.code(0x1000, 16, 4), 0, 0x41, 0x0e, 16)...)
	}
	s := &cfi.Section{Name: ".eh_frame", Data: f.b, Machine: fuzzMachines[0]}
	for _, mode := range modes {
		for _, left := range []int{0, 200000} {
			w := &failing{left}
			if err := readelf.Section(w, s, mode); !errors.Is(err, errClosed) {
				t.Errorf("%s: %v, expected %v", option(mode), err, errClosed)
			}
			if w.left < -100000 {
				t.Errorf("%s: %d bytes were printed after the error", option(mode), -w.left)
			}
		}
	}
}

// A malformed entry gives an error with its place, and does not affect other entries.
func TestMalformed(t *testing.T) {
	f := newEH()
	cie := f.cie(zrCIE...)
	bad := f.fde(cie, cat(f.code(0x1000, 16, 4), 0, 0x41, 0x0e, 16, 0x17)...)
	f.fde(cie, cat(f.code(0x1000, 16, 4), 0, 0x42, 0x0e, 24)...)
	for range 200 {
		f.raw(4, 0, 0, 0, 1, 0, 0, 0) // an invalid CIE pointer
	}
	s := &cfi.Section{Name: ".eh_frame", Data: f.b, Machine: fuzzMachines[0], Address: 0x2000}
	var out bytes.Buffer
	err := readelf.Section(&out, s, readelf.Rows)
	var fault *cfi.Error
	if !errors.As(err, &fault) || !errors.Is(err, cfi.ErrInstruction) || fault.Offset != uint64(bad)+20 {
		t.Errorf("%v, expected an unknown instruction at %#x", err, bad+20)
	}
	if !errors.Is(err, cfi.ErrCIE) {
		t.Errorf("%v, expected %v", err, cfi.ErrCIE)
	}
	if n := bytes.Count([]byte(err.Error()), []byte("\n")); n > 64 {
		t.Errorf("%d lines of errors", n)
	}
	for _, row := range []string{"rsp+16   c-8", "rsp+24   c-8"} {
		if !bytes.Contains(out.Bytes(), []byte(row)) {
			t.Errorf("no row %q in\n%s", row, &out)
		}
	}
}
