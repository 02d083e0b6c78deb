// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package link loads relocatable ELF files, the .o files that compilers and
// assemblers write, into the memory of this process, so that their code can be
// called. It does what a static linker and the kernel do together: it places
// sections, resolves symbols among several files and through [Options.Resolve],
// applies relocations, and maps text R-X, constants R--, data RW-; nothing is
// ever writable and executable. For each file it makes an ELF image that
// describes it at its run-time addresses, debugging information included:
// [Object.ELF], which package object and debuggers read.
//
// Files are for the machine that this program runs on: amd64 or arm64. They may
// be of any compiler and code model, position-independent or not. Code that is
// not (-fno-pic) is mapped into the low 2 GiB of the address space.
//
// The package runs nothing: constructors are listed in [Program.Init], and
// thread-local variables described by [Program.TLS], for whoever runs the code.
// It loads no libraries and no archives, and links nothing lazily.
package link
