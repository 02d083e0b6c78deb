// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"debug/elf"
)

const (
	noteBuildID = 3 // NT_GNU_BUILD_ID
)

// BuildID returns a copy of the build ID of the file, nil if it has none.
func (f *File) BuildID() (id []byte) {
	f.noteFault(func() {
		f.notes(func(name string, typ uint32, desc []byte) bool {
			if name == "GNU" && typ == noteBuildID && len(desc) > 0 && len(desc) <= 1<<10 {
				id = append([]byte(nil), desc...)
			}
			return id == nil
		})
	})
	return id
}

// notes calls visit with the notes of the file: those of note sections, and of
// segments where there are none.
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

// eachNote decodes notes (gABI, "Note Section"); their parts are padded to
// eight bytes where the section is so aligned, else to four.
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
