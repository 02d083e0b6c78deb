// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package filemap

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// numbered returns a file of n bytes. Each byte has its offset as value.
func numbered(t *testing.T, n int) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i + i>>8)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMap(t *testing.T) {
	page := int64(os.Getpagesize())
	f := numbered(t, int(3*page))
	for _, test := range []struct{ offset, length int64 }{
		{0, 3 * page}, {0, 1}, {1, 1}, {page - 1, 2}, {page, page}, {page + 8, 2*page - 8}, {3*page - 1, 1}, {5, 0},
	} {
		m, err := Map(f, "file", test.offset, test.length)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, test.length)
		if _, err := f.ReadAt(want, test.offset); err != nil {
			t.Fatal(err)
		}
		if got := m.Bytes(); !bytes.Equal(got, want) {
			t.Errorf("%d bytes at %d: %x, want %x", test.length, test.offset, got, want)
		}
		if test.length > 0 {
			at := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes())))
			if name, ok := At(at); name != "file" || !ok {
				t.Errorf("at its first byte: %q, %t", name, ok)
			}
		}
		for range 2 {
			if err := m.Unmap(); err != nil {
				t.Error(err)
			}
		}
		if len(m.Bytes()) > 0 {
			t.Error("Bytes after Unmap")
		}
	}
	if n := len(mappings.live); n > 0 {
		t.Errorf("%d mappings are left", n)
	}
	if err := (*Mapping)(nil).Unmap(); err != nil {
		t.Error(err)
	}
	for _, bad := range []struct{ offset, length int64 }{{-1, 5}, {0, -1}, {8, math.MaxInt64}} {
		if m, err := Map(f, "file", bad.offset, bad.length); err == nil {
			t.Errorf("%d bytes at %d: mapped %d", bad.length, bad.offset, len(m.Bytes()))
		}
	}
}

// After a mapped file was truncated, the lost part is an error and the other part is
// unchanged.
func TestCutWhileMapped(t *testing.T) {
	page := os.Getpagesize()
	f := numbered(t, 2*page)
	m, err := Map(f, "cut", 0, int64(2*page))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	if err := f.Truncate(int64(page)); err != nil {
		t.Fatal(err)
	}
	var b byte
	read := func(at int) error {
		return Guard(func() error { b = m.Bytes()[at]; return nil })
	}
	if err := read(5); err != nil || b != 5 {
		t.Errorf("%d, %v", b, err)
	}
	if err := read(page); !errors.Is(err, ErrFault) || err.Error() != "cut: "+ErrFault.Error() {
		t.Error(err)
	}
}

func TestGuardPassesOtherPanics(t *testing.T) {
	for _, fn := range []func(){
		func() { panic("mine") },
		func() { var p *int; *p = 1 },
		func() { _ = []int{}[len(os.Args)] },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			Guard(func() error { fn(); return nil })
		}()
	}
	mine := errors.New("mine")
	if err := Guard(func() error { return mine }); err != mine {
		t.Error(err)
	}
}
