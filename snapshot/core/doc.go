// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package core reads Linux ELF cores on any machine: those that the kernel, gdb's
// gcore and qemu-user write, also compressed as systemd-coredump stores them. It
// reads the registers of x86, arm, arm64, riscv, Power, s390, MIPS, SPARC, m68k and LoongArch. In
// cores of other machines, each thread has an error that wraps [snapshot.ErrNoLayout].
//
// It makes a [snapshot.Snapshot] of a core: the threads with their registers (the notes
// NT_PRSTATUS and NT_PRFPREG), the mappings, and the memory. The core holds a part of the memory,
// and the mapped files hold the rest.
//
// Only the parts of a core that are needed are read. Package debugfile finds the mapped
// files: by their path, under a sysroot, and by build ID. It refuses a file that differs
// from the mapped one. [Core.Missing] reports the files that were not found, and
// [Core.Damage] the parts of the core that are truncated or damaged. A read of other missing
// memory returns an error.
//
// The package unwinds nothing, names nothing and prints nothing. It runs no program and uses no
// network. It writes only one file, which has no name: the decompressed content of a compressed
// core. The file has up to 32 GiB, or 1,024 times the size of the compressed file if that is
// more, with holes for zeros.
package core
