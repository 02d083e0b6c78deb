// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
)

// A process can map one file as thousands of objects. The file is opened once, and only some
// of the objects are searched.
func TestManyObjects(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	s := &snapshot.Snapshot{Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB), Open: func(*snapshot.Mapping) (*os.File, error) {
		opened++
		return os.Open(program)
	}}
	const count = maxOpened + 500
	for i := range uint64(count) {
		at := (i + 1) << 40
		path := "/one"
		if i%2 == 1 {
			path = "/other"
		}
		s.Mappings = append(s.Mappings, snapshot.Mapping{Start: at, End: at + 1<<30, Executable: true, Inode: 1 + i%2, Path: path})
	}
	o := NewObjects(s)
	if list := o.CodeObjects(); len(list) != maxSearched || o.CodeObjects()[0].Mappings[0].Start != 1<<40 {
		t.Errorf("%d objects are searched, expected %d", len(list), maxSearched)
	}
	if len(o.generated.Skipped()) != 1 {
		t.Errorf("%v", o.generated.Skipped())
	}
	refused := 0
	for object := range o.All() {
		if _, err := object.File(); errors.Is(err, errManyObjects) {
			refused++
		}
	}
	if opened != 2 || refused != count-maxOpened {
		t.Errorf("%d files were opened, and %d objects refused; expected 2 and %d", opened, refused, count-maxOpened)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

// All ranges of executable memory without an object file are counted, and only some are
// listed.
func TestManyCodeRanges(t *testing.T) {
	const count = maxCodeMemory + 500
	s := &snapshot.Snapshot{Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB), Mappings: make([]snapshot.Mapping, count)}
	for i := range s.Mappings {
		at := uint64(i+1) << 13
		s.Mappings[i] = snapshot.Mapping{Start: at, End: at + 1<<12, Executable: true}
	}
	o := NewObjects(s)
	defer o.Close()
	if list, more := o.CodeMemory(); len(list) != maxCodeMemory || more != count-maxCodeMemory {
		t.Errorf("%d ranges and %d more, expected %d and %d", len(list), more, maxCodeMemory, count-maxCodeMemory)
	}
}

// The text of the errors of unreadable objects is bounded, although each names a path of 4 KB.
// The errors still say whether a file is not an ELF file.
func TestManyObjectErrors(t *testing.T) {
	const count, long = maxSearched, 4000
	s := &snapshot.Snapshot{Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB), Open: func(m *snapshot.Mapping) (*os.File, error) {
		return nil, fmt.Errorf("%s: %w", m.Path, object.ErrNotELF)
	}}
	name := strings.Repeat("x", long)
	for i := range uint64(count) {
		at := (i + 1) << 13
		s.Mappings = append(s.Mappings, snapshot.Mapping{Start: at, End: at + 1<<12, Executable: true, Path: name[:long-i%2]})
	}
	o := NewObjects(s)
	defer o.Close()
	text, missing := 0, 0
	for mapped := range o.All() {
		_, err := mapped.File()
		if !errors.Is(err, object.ErrNotELF) {
			t.Fatal(err)
		}
		text += len(err.Error())
		if mapped.Missing != nil {
			missing += len(mapped.Missing.Error())
		}
	}
	if text += missing; text > 2*maxErrorText+200*count {
		t.Errorf("the errors of %d objects have %d bytes", count, text)
	}
}
