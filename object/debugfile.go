// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"strings"
)

// DebugSearch says where [File.OpenDebugFile] looks for debug files.
type DebugSearch struct {
	// Root is the directory that absolute paths are relative to, for example /proc/PID/root
	// for a process in another mount namespace. Links are followed inside of it. A file with
	// a build ID is then also looked for in Directories outside of Root, last. "" is the
	// root directory, or /proc/PID/root if the name of the file begins with that.
	Root string

	// Directories are searched for .build-id/xx/yyyy.debug and as prefixes of
	// the file's own directory; nil stands for /usr/lib/debug.
	Directories []string

	// Open is called last, for a file that was not found. The name is the expected one, or
	// the build ID in hexadecimal if only that is known; buildID may be nil. Open returns
	// an error that wraps [fs.ErrNotExist] if it has no such file. The file is checked as
	// others are, and closed. Open may be nil. It may be called concurrently.
	Open func(kind DebugKind, name string, buildID []byte) (*os.File, error)

	// Sections caches decompressed sections, of the file itself too. It may be nil.
	Sections SectionCache
}

// OpenDebugFile looks for the separate debug file: by build ID, then by .gnu_debuglink
// beside the file, in .debug there, and under the directories of the search. The debug
// file must have the build ID of f, or if f has no build ID the checksum of the link.
//
// The debug file then belongs to f: the methods of f also look for symbols, lines and
// .debug_frame in it, and Close closes it. Parts of the debugging information in further
// files are looked for in the same way, when they are needed: supplementary files of dwz,
// and units that were not linked (split DWARF). OpenDebugFile returns nil and no error if
// f has no debug file, or if it is not installed (see [File.DebugLink] for its name).
// Further calls return the same file.
func (f *File) OpenDebugFile(search DebugSearch) (*File, error) {
	if d := f.debug.Load(); d != nil {
		return d, nil
	}
	if search.Root == "" {
		search.Root, _ = splitRoot(f.name)
	}
	f.search.Store(&search)
	id := f.BuildID()
	link, checksum := f.DebugLink()
	var paths []string
	if dir := f.directory(&search); link != "" && path.IsAbs(dir) {
		paths = append(paths, path.Join(dir, link), path.Join(dir, ".debug", link))
		for _, prefix := range search.directories() {
			paths = append(paths, path.Join(prefix, dir, link))
		}
	}
	d, err := f.openPart(SeparateDebug, &search, cmp.Or(link, hex.EncodeToString(id)), paths, id, func(d *File) error {
		if f.info != nil && d.info != nil && os.SameFile(f.info, d.info) {
			return fs.ErrNotExist // objcopy --add-gnu-debuglink can name the file itself
		}
		return f.matches(d, id, checksum)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.owner = f
	if !f.debug.CompareAndSwap(nil, d) {
		d.Close()
	}
	return f.debug.Load(), nil
}

// matches returns an error if d is not the debug file of f.
func (f *File) matches(d *File, id []byte, checksum uint32) error {
	if err := d.CheckWhole(d.name); err != nil {
		return err
	}
	if len(id) > 0 && len(d.BuildID()) > 0 {
		return d.CheckBuildID(d.name, id)
	}
	sum, err := d.Checksum()
	if err == nil && sum != checksum {
		err = &RefusedError{d.name, fmt.Sprintf("its checksum is %08x, and %08x is expected", sum, checksum)}
	}
	return err
}

// Checksum returns the CRC-32 of the whole file, as in .gnu_debuglink. A file with far more
// holes than data is an error.
func (f *File) Checksum() (sum uint32, err error) {
	if uint64(len(f.data)) > f.stored+slack {
		return 0, fmt.Errorf("%s: no checksum of %d bytes, %w", f.name, len(f.data), f.sparse())
	}
	err = Guard(func() error {
		sum = crc32.ChecksumIEEE(f.data)
		return nil
	})
	return sum, err
}

// DebugLink returns the base name of the separate debug file and its CRC-32, by
// .gnu_debuglink; "" if the file has no such section.
func (f *File) DebugLink() (name string, checksum uint32) {
	f.noteFault(func() {
		i, ok := f.find(".gnu_debuglink")
		if !ok {
			return
		}
		data, _ := f.content(i)
		b := cString(data, 0)
		sum := (len(b) + 4) &^ 3 // after the NUL, aligned to four
		if len(b) == 0 || len(b) > 255 || sum+4 > len(data) || strings.ContainsRune(string(b), '/') {
			return
		}
		name, checksum = string(b), f.order.Uint32(data[sum:])
	})
	return name, checksum
}

// DebugAltLink returns the path and the build ID of the supplementary file, to which dwz
// moved the parts that several debug files share, by .gnu_debugaltlink or .debug_sup
// (DWARF 5); "" if there is none.
func (f *File) DebugAltLink() (name string, id []byte) {
	f.noteFault(func() {
		i, ok := f.find(".gnu_debugaltlink")
		if !ok {
			if n, checksum, supplementary := f.debugSup(); !supplementary {
				name, id = n, checksum
			}
			return
		}
		data, _ := f.content(i)
		if b := cString(data, 0); len(b) > 0 && len(b) < 4096 && len(data)-len(b)-1 <= 1<<10 {
			name, id = string(b), append([]byte(nil), data[min(len(b)+1, len(data)):]...)
		}
	})
	return name, id
}

// BuildID returns a copy of the build ID of the file, nil if there is none.
func (f *File) BuildID() (id []byte) {
	f.noteFault(func() {
		f.notes(func(name string, typ uint32, desc []byte) bool {
			if name == "GNU" && typ == 3 /* NT_GNU_BUILD_ID */ && len(desc) > 0 && len(desc) <= 1<<10 {
				id = bytes.Clone(desc)
			}
			return id == nil
		})
	})
	return id
}

// notes calls visit with the notes of the note sections, or without such sections of the
// note segments, until visit returns false.
func (f *File) notes(visit func(name string, typ uint32, desc []byte) bool) {
	found := false
	for i := range f.sectionCount() {
		s := f.section(i)
		if s.typ != elf.SHT_NOTE {
			continue
		}
		found = true
		if data, _ := f.raw(s); !f.eachNote(data, s.align, visit) {
			return
		}
	}
	if found {
		return
	}
	for _, p := range f.segments {
		if p.Type != elf.PT_NOTE {
			continue
		}
		data, _ := f.view(p.Vaddr, p.Filesz)
		if f.memory == nil && p.Off <= uint64(len(f.data)) {
			data = f.bytesAt(p.Off, p.Filesz)
		}
		if !f.eachNote(data, p.Align, visit) {
			return
		}
	}
}

// eachNote decodes notes (gABI, "Note Section"). Their parts are padded to eight bytes in a
// section with that alignment, else to four. It returns false after visit did.
func (f *File) eachNote(b []byte, align uint64, visit func(name string, typ uint32, desc []byte) bool) bool {
	if align != 8 {
		align = 4
	}
	for len(b) >= 12 {
		names, size, typ := uint64(f.order.Uint32(b)), uint64(f.order.Uint32(b[4:])), f.order.Uint32(b[8:])
		desc := (12 + names + align - 1) &^ (align - 1)
		if desc+size > uint64(len(b)) {
			return true
		}
		name := b[12:][:names]
		if names > 0 && name[names-1] == 0 {
			name = name[:names-1]
		}
		if names <= 16 && !visit(string(name), typ, b[desc:][:size]) {
			return false
		}
		next := (desc + size + align - 1) &^ (align - 1)
		b = b[min(next, uint64(len(b))):]
	}
	return true
}
