// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "errors"

// Kinds of errors of [Load].
var (
	// ErrUndefined: no file defines a symbol, and Resolve does not find it. The error names all
	// such symbols with places that refer to them.
	ErrUndefined = errors.New("undefined symbol")

	// ErrDuplicate: two files define a symbol. The error names both.
	ErrDuplicate = errors.New("symbol is defined twice")

	// ErrOverflow: a value does not fit in a relocation's field. The error names the relocation, its
	// place, the symbol and the value.
	ErrOverflow = errors.New("relocation does not fit")

	// ErrUnsupported: the package cannot load something, or not on this system.
	ErrUnsupported = errors.New("not supported")

	// ErrTooLarge: the program or an alignment exceeds a limit.
	ErrTooLarge = errors.New("too large")

	// ErrMemory: the system refused memory, or permission to make it executable.
	ErrMemory = errors.New("no memory for code")

	// ErrObject: a file is damaged.
	ErrObject = errors.New("damaged object file")
)
