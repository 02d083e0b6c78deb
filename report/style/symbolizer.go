// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package style

import "github.com/clewdev/clew/value/print"

// Demangled names addresses as gdb does where it prints pointers: with the names that the
// source has for the symbols of another Symbolizer. It is as safe for concurrent use as
// that one.
type Demangled struct{ print.Symbolizer }

// Symbol implements print.Symbolizer.
func (d Demangled) Symbol(address uint64) (name string, offset uint64, ok bool) {
	name, offset, ok = d.Symbolizer.Symbol(address)
	return demangleCode(name), offset, ok
}
