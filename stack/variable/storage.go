// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
)

// ThreadAddress implements value.ThreadStorage. The storage of the program itself has a fixed
// offset from the thread pointer. The place of a shared library's storage is read from glibc's
// data.
func (f *Frame) ThreadAddress(offset uint64) (uint64, error) {
	m := f.reader.snapshot.Machine
	pointer, err := threadPointer(m, f.stack)
	if err != nil {
		return 0, err
	}
	o := f.frame().Object
	if o == nil {
		return 0, errors.New("thread-local storage: the frame is in no object")
	}
	f.reader.mu.Lock()
	defer f.reader.mu.Unlock()
	file, err := o.File()
	if err != nil {
		return 0, err
	}
	var start uint64
	err = object.Guard(func() (err error) {
		segment, ok := segmentOf(file, elf.PT_TLS)
		switch {
		case !ok:
			return fmt.Errorf("%s has no thread-local storage", o.Name)
		case isProgram(file):
			start = pointer + fixedOffset(m.ThreadStorage, &segment)
			return nil
		}
		start, err = f.storageOfLibrary(o, file, pointer)
		return err
	})
	return start + offset, err
}

// threadPointer returns the thread pointer of a stack's thread.
func threadPointer(m *arch.Machine, s *stack.Stack) (uint64, error) {
	if s.Thread == nil {
		return 0, errors.New("thread-local storage: no thread runs it")
	}
	if m.ThreadStorage == nil {
		return 0, fmt.Errorf("the layout of thread-local storage on %s is not known", m.Name)
	}
	pointer, ok := s.Thread.Registers.Get(m.ThreadStorage.Pointer)
	if !ok {
		return 0, fmt.Errorf("thread-local storage: register %s of the thread is not known", m.RegisterName(m.ThreadStorage.Pointer))
	}
	return pointer, nil
}

// fixedOffset returns the offset of a program's storage from the thread pointer.
func fixedOffset(s *arch.ThreadStorage, p *elf.ProgHeader) uint64 {
	mask := max(p.Align, 1) - 1
	if s.Below {
		return -(p.Memsz + (-p.Vaddr-p.Memsz)&mask)
	}
	return s.Header + (p.Vaddr-s.Header)&mask
}

// segmentOf returns the first segment of a type.
func segmentOf(f *object.File, t elf.ProgType) (elf.ProgHeader, bool) {
	for _, p := range f.Segments() {
		if p.Type == t {
			return p, true
		}
	}
	return elf.ProgHeader{}, false
}

// isProgram reports whether a file is marked as a program. A position-independent program
// without the mark is treated as a library, which glibc's list has too.
func isProgram(f *object.File) bool {
	if f.Type() != elf.ET_DYN {
		return true
	}
	p, ok := segmentOf(f, elf.PT_DYNAMIC)
	if !ok {
		return false
	}
	m := f.Machine()
	entry := make([]byte, 2*m.AddressSize)
	for at := uint64(0); at+uint64(len(entry)) <= min(p.Filesz, maxDynamic); at += uint64(len(entry)) {
		if f.ReadMemory(entry, p.Vaddr+at) != nil {
			break
		}
		switch elf.DynTag(m.Uint(entry[:m.AddressSize])) {
		case elf.DT_NULL:
			return false
		case elf.DT_FLAGS_1:
			return elf.DynFlag1(m.Uint(entry[m.AddressSize:][:m.AddressSize]))&elf.DF_1_PIE != 0
		}
	}
	return false
}

// maxDynamic is how many bytes of a dynamic section are read.
const maxDynamic = 16 << 10
