// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

// Program is the unwind table of a function apart from where the function lies:
// what an FDE is made of. Several functions may share one, and several programs
// a CIE. A Builder makes it. It is not changed after it was made and may be
// shared between goroutines.
type Program struct {
	CIE *CIE

	// Instructions follow the CIE's, encoded for its machine and factors. An
	// Encoder copies them without a look: they hold no DW_CFA_set_loc and no
	// other address that depends on where the function lies.
	Instructions []byte

	// End is the offset from the function's start, in bytes of code, at which
	// the last row starts: the function must be larger.
	End uint64

	// LSDA is the language-specific data area, where the CIE says how it is stored.
	LSDA Pointer
}
