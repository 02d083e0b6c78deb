// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gdb

import "github.com/clewdev/clew/jit/gdb/registry"

// nativeDescriptor and nativeEntry are struct jit_descriptor and struct
// jit_code_entry of a 64-bit machine. Addresses are not Go pointers: they point to
// memory outside of the Go heap, and other processes read them.
type nativeDescriptor struct {
	version  uint32
	action   registry.Action
	relevant uintptr
	first    uintptr
}

type nativeEntry struct {
	next, previous uintptr
	symfile        uintptr
	size           uint64 // of the symbol file, bytes
}
