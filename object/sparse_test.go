// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package object

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sparse writes a file that ends with a hole.
func sparse(t testing.TB, data []byte, size int64) string {
	t.Helper()
	path := write(t, "sparse", string(data))
	if err := os.Truncate(path, size); err != nil {
		t.Skipf("%v", err)
	}
	return path
}

const tail = 1 << 40

// The cost of a sparse file follows its stored size. Each section in turn has a hole of 800
// GB, which would take minutes to read.
func TestSparseSections(t *testing.T) {
	data := small(t)
	header, err := NewFile(data, "small")
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range header.Sections() {
		if s.Type == elf.SHT_NULL || s.Type == elf.SHT_NOBITS {
			continue
		}
		t.Run(strings.Trim(s.Name, "."), func(t *testing.T) {
			b := bytes.Clone(data)
			entry := b[int(header.shoff)+shdr64*i:]
			binary.LittleEndian.PutUint64(entry[24:], 1<<30)
			binary.LittleEndian.PutUint64(entry[32:], 800e9)
			spent := allocated(func() {
				f := open(t, sparse(t, b, tail))
				exercise(t, f)
				if _, err := f.SectionData(i); !errors.Is(err, ErrSparse) || !strings.Contains(err.Error(), ": 800000000000 bytes at offset 0x40000000, the file is sparse: it stores ") {
					t.Error(err)
				}
			})
			if spent > 300<<20 {
				t.Errorf("%d bytes were allocated", spent)
			}
		})
	}
}

// The stored size also bounds the tables of sections and program headers.
func TestSparseTables(t *testing.T) {
	for _, test := range []struct {
		name, want string
		change     func(b []byte, first []byte)
	}{
		{"sections", "section table at offset 0x40000000: 4294967296 entries, the file is sparse", func(b, _ []byte) {
			binary.LittleEndian.PutUint64(b[40:], 1<<30)
			binary.LittleEndian.PutUint16(b[60:], 0)
		}},
		{"program headers", "4294967295 entries, the file is sparse", func(b, first []byte) {
			binary.LittleEndian.PutUint64(b[32:], 1<<30)
			binary.LittleEndian.PutUint16(b[56:], 0xffff)
			binary.LittleEndian.PutUint32(first[44:], 1<<32-1)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := small(t)
			test.change(b, b[binary.LittleEndian.Uint64(b[40:])%uint64(len(b)):])
			path := sparse(t, b, tail)
			if test.name == "sections" { // the first entry has their number
				f, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, 1<<32), 1<<30+32); err != nil {
					t.Fatal(err)
				}
			}
			spent := allocated(func() {
				f := open(t, path)
				exercise(t, f)
				if err := f.Damage(); !errors.Is(err, ErrSparse) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%.500v", err)
				}
			})
			if spent > 300<<20 {
				t.Errorf("%d bytes were allocated", spent)
			}
		})
	}
}

// A hole does not raise the limit of decompression.
func TestSparseBomb(t *testing.T) {
	const expanded = 200 << 20
	b := small(t, "-gz")
	f, err := NewFile(b, "small")
	if err != nil {
		t.Fatal(err)
	}
	i, ok := f.findDebug("info")
	if !ok {
		t.Fatal("no .debug_info")
	}
	var stream bytes.Buffer
	w := zlib.NewWriter(&stream)
	if _, err := w.Write(make([]byte, expanded)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	entry := b[int(f.shoff)+shdr64*i:]
	binary.LittleEndian.PutUint64(entry[24:], uint64(len(b)))
	binary.LittleEndian.PutUint64(entry[32:], uint64(24+stream.Len()))
	bomb := binary.LittleEndian.AppendUint64(nil, uint64(elf.COMPRESS_ZLIB))
	bomb = binary.LittleEndian.AppendUint64(bomb, expanded)
	bomb = binary.LittleEndian.AppendUint64(bomb, 1)
	b = append(append(b, bomb...), stream.Bytes()...)
	for _, size := range []int64{int64(len(b)), tail} {
		spent := allocated(func() {
			f := open(t, sparse(t, b, size))
			exercise(t, f)
			if _, err := f.SectionData(i); err == nil || !strings.Contains(err.Error(), "would exceed what a file that stores") {
				t.Errorf("with %d bytes: %v", size, err)
			}
		})
		if spent > 300<<20 {
			t.Errorf("with %d bytes: %d bytes were allocated", size, spent)
		}
	}
}

// A sparse file that a .gnu_debuglink names is not checksummed.
func TestSparseDebugLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, small(t), 0o755); err != nil {
		t.Fatal(err)
	}
	debug := filepath.Join(dir, "program.debug")
	run(t, "objcopy", "--only-keep-debug", path, debug)
	run(t, "objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id", "--add-gnu-debuglink="+debug, path)
	if err := os.Truncate(debug, tail); err != nil {
		t.Skip(err)
	}
	f := open(t, path)
	if _, err := f.OpenDebugFile(DebugSearch{}); !errors.Is(err, ErrSparse) || !strings.Contains(err.Error(), "no checksum of 1099511627776 bytes") {
		t.Error(err)
	}
}
