// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package c brings the C runtime into a program, so that the C linker links it.
package c

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"unsafe"
)

// Open loads a library.
func Open(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL) == nil {
		return errors.New("dlopen: " + C.GoString(C.dlerror()))
	}
	return nil
}
