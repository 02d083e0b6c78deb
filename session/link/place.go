// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"fmt"

	"github.com/clewdev/clew/object"
)

// placed is the address of a program that is not loaded, and imported that of the first function
// that it calls and lacks. The program and what it imports are in reach of 32-bit offsets.
const (
	placed       = 0x10000
	imported0    = 0x60000000
	importedSize = 16
	pageSize     = 0x10000 // the largest of the machines
)

// Place links a file as Load does, without loading it, for tools that analyse its code. The file can be
// for any machine that the package knows, and may refer to any symbol of other files. The addresses of
// these symbols and of the program are arbitrary, but the same in each run. The Program need not be
// closed.
func Place(file *object.File) (*Program, error) {
	l := &linker{threads: new(offsets), page: pageSize, analysed: true}
	for _, m := range machines {
		if file.Machine() != nil && m.elf == file.Machine().ELF {
			l.machine = m
		}
	}
	if l.machine == nil {
		return nil, fmt.Errorf("%s: %w: a file for another machine than amd64 and arm64", file.Name(), ErrUnsupported)
	}
	l.reserve = func(_, align uint64, _ bool) (uint64, error) { return roundUp(placed, align), nil }
	next := uint64(imported0)
	l.resolve = func(string) (uint64, bool) {
		next += importedSize
		return next, true
	}
	var p *Program
	err := object.Guard(func() (err error) {
		p, err = l.link([]*object.File{file})
		return err
	})
	return p, err
}
