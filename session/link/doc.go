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
// # What is not loaded
//
// Errors name the file, the section and offset, the symbol, and the kind:
//
//   - Indirect functions (ifunc, target_clones), of which a dynamic linker would
//     choose one: [ErrUnsupported].
//   - Thread-local variables of other images; they have no address, and Resolve
//     is not asked: [ErrUndefined]. Sequences of instructions for one's own that
//     no compiler writes: [ErrUnsupported].
//   - Imported variables, and addresses of imported functions, that are out of
//     the reach of code compiled without -fPIC: [ErrOverflow]. Calls of imported
//     functions work from any code: they go through stubs, always, so that it
//     does not depend on where the kernel had room; the stubs change no register
//     on amd64, and x16 and x17 on arm64.
//   - Code for link-time optimization alone (-flto), constructors in .ctors,
//     sections that are writable and executable, relocations that only dynamic
//     linkers know, files for other machines, executables and libraries:
//     [ErrUnsupported].
//   - Programs of 2 GiB and more; on arm64 text of more than 128 MiB, whose
//     branches do not reach their targets ([ErrOverflow]).
//
// Symbols that only debugging information refers to may be missing, and so may
// what only unwind tables refer to (__gxx_personality_v0): exceptions cannot be
// thrown through the code. Functions that an earlier file has in the same COMDAT
// group are dropped, as are their unwind tables.
//
// Files are hostile: they may be damaged in any way, which costs an error and no
// more memory than sixteen times their size and 64 MiB. What is mapped is as
// large as the file says, up to 2 GiB.
//
// The package runs nothing: constructors are listed in [Program.Init], and
// thread-local variables described by [Program.TLS], for whoever runs the code.
// It loads no libraries and no archives, and links nothing lazily.
package link
