// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package reader reads symbol files: the ELF images in memory in which programs
// describe code that they generated, for debuggers that know the GDB JIT
// interface. Package symfile writes them.
//
// Open reads any runtime's image. All that it returns has the addresses of the
// running program: its functions, unwind tables and lines.
package reader
