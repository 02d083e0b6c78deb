// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"debug/elf"
	"errors"
	"os"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot"
)

// A process can map one file as thousands of objects. The file is opened once, and not
// all of the objects are searched.
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
	const many = maxOpened + 500
	for i := range uint64(many) {
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
	if len(o.generated.skipped) != 1 {
		t.Errorf("%v", o.generated.skipped)
	}
	refused := 0
	for object := range o.All() {
		if _, err := object.File(); errors.Is(err, errManyObjects) {
			refused++
		}
	}
	if opened != 2 || refused != many-maxOpened {
		t.Errorf("%d files were opened, and %d objects refused; expected 2 and %d", opened, refused, many-maxOpened)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}
