// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package link loads relocatable ELF files, the .o files of compilers and assemblers, into the memory of
// this process, so that their code can be called. It does the work of a static linker and of the kernel:
// it places sections, resolves symbols among the files and through [Options.Resolve], applies
// relocations, and maps text R-X, constants R-- and data RW-. Nothing is ever writable and executable.
// For each file it makes an ELF image with run-time addresses, debugging information included:
// [Object.ELF], which package object and debuggers read.
//
// Files are for the machine of this program: amd64 or arm64. They may be of any compiler and code model,
// position-independent or not. Code that is not (-fno-pic) is mapped into the low 2 GiB of the address
// space.
//
// # What is not loaded
//
// Errors name the file, the section and offset, the symbol, and the kind:
//
//   - Indirect functions (ifunc, target_clones), for which a dynamic linker would choose an
//     implementation: [ErrUnsupported].
//   - Thread-local variables of other images. They have no address, so Load does not call Resolve for
//     them: [ErrUndefined]. Instructions that access the program's own thread-local variables, in a
//     sequence that compilers do not write: [ErrUnsupported].
//   - Imported variables, and addresses of imported functions, that are out of reach of code compiled
//     without -fPIC: [ErrOverflow]. Calls of imported functions work from any code: they always go
//     through stubs, so that they do not depend on the addresses that the kernel chooses. The stubs
//     change no register on amd64, and x16 and x17 on arm64.
//   - Files with only code for link-time optimization (-flto), constructors in .ctors, sections that are
//     writable and executable, relocations for dynamic linkers, files for other machines, executables
//     and libraries: [ErrUnsupported].
//   - Programs of 2 GiB and more; on arm64 text of more than 128 MiB with branches out of reach of their
//     targets ([ErrOverflow]).
//
// Symbols to which only debugging information refers may be undefined. So may symbols to which only
// unwind tables refer (__gxx_personality_v0): exceptions cannot be thrown through the code. Functions
// that an earlier file has in the same COMDAT group are dropped with their unwind tables.
//
// Files are not trusted. For a damaged file Load returns an error, and uses at most sixteen times its
// size plus 64 MiB of memory. The size of mapped memory is that in the file, at most 2 GiB.
//
// The package runs nothing. The caller must call the constructors in [Program.Init], and set up the
// thread-local variables of [Program.TLS]. The package loads no libraries and no archives, and links
// nothing lazily.
package link
