// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package calls connects package libunwind with the libunwind of its process. Package
// library contains the calls and sets these variables when it is imported, so that only
// publishing programs need cgo. Until then no libunwind is loaded.
package calls

var (
	// Loaded reports whether the process has a libunwind. Once found, it stays loaded.
	Loaded = func() bool { return false }
	// Register puts the unw_dyn_info_t at an address at the front of libunwind's list.
	// Register and Cancel are safe for concurrent use (_U_dyn_register(3)).
	Register = func(info uint64) {}
	// Cancel removes one of the code [low, high) from the list.
	Cancel = func(info, low, high uint64) {}
)
