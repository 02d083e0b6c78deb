// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import "errors"

// Kinds of errors of [Load].
var (
	// ErrUndefined: symbols that no file defines and Resolve does not find. The
	// error names all of them, each with the places that refer to it.
	ErrUndefined = errors.New("undefined symbol")

	// ErrDuplicate: a symbol that two files define. The error names both.
	ErrDuplicate = errors.New("symbol is defined twice")

	// ErrOverflow: what a relocation has to hold does not fit. The error names the
	// relocation, its place, the symbol and the value.
	ErrOverflow = errors.New("relocation does not fit")

	// ErrUnsupported: something that the package does not load, or not here.
	ErrUnsupported = errors.New("not supported")

	// ErrTooLarge: files that want more memory than they may have.
	ErrTooLarge = errors.New("too large")

	// ErrMemory: the system gave no memory, or forbids to make it executable.
	ErrMemory = errors.New("no memory for code")

	// ErrObject: a file that is damaged.
	ErrObject = errors.New("damaged object file")
)
