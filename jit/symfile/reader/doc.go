// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package reader reads symbol files: the ELF images in memory by which programs describe
// their generated code to debuggers, for the GDB JIT interface. Package symfile writes
// them.
//
// [Open] reads the image of any runtime. Functions, unwind tables and lines have the
// addresses of the running program. The package registers nothing, and opens no file.
package reader
