// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
)

// isGccgo reports whether gccgo compiled code of the file: it has the section in which
// gccgo keeps what a package exports, or it is gccgo's library, or was linked with that.
func (f *File) isGccgo() bool {
	if _, ok := f.find(".go_export"); ok {
		return true
	}
	return f.isWith("libgo.so.")
}

// isGNAT reports whether code of the file is Ada's that GNAT compiled: it is a library of
// GNAT's run-time system, or was linked with one.
func (f *File) isGNAT() bool { return f.isWith("libgnat-") || f.isWith("libgnarl-") }

// isWith reports whether the file is the library whose name begins so, or was linked with
// it.
func (f *File) isWith(library string) bool {
	names, ok := f.dynamicAddress(elf.DT_STRTAB)
	if !ok {
		return false
	}
	for tag, value := range f.dynamicEntries() {
		if tag != elf.DT_NEEDED && tag != elf.DT_SONAME {
			continue
		}
		if name, err := f.view(names+value, uint64(len(library))); err == nil && bytes.Equal(name, []byte(library)) {
			return true
		}
	}
	return false
}
