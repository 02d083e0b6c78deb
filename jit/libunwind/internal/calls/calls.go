// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package calls is how package libunwind calls the libunwind of its process. It
// stands between them so that only publishing programs need cgo: package library,
// which has the calls, sets them when it is imported. Until then no libunwind is
// loaded.
package calls

var (
	// Loaded reports whether the process has a libunwind. One that was found stays.
	Loaded = func() bool { return false }
	// Register puts the unw_dyn_info_t at an address at the front of libunwind's
	// list. It and Cancel are safe for concurrent use (_U_dyn_register(3)).
	Register = func(info uint64) {}
	// Cancel takes one of the code [low, high) out of the list.
	Cancel = func(info, low, high uint64) {}
)
