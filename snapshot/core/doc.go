// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package core reads Linux ELF cores on any machine: those that the kernel, gdb's
// gcore and qemu-user write, also compressed as systemd-coredump stores them. It
// reads the registers of x86, arm, arm64, riscv, Power, s390, MIPS, SPARC, m68k and LoongArch; of
// other machines each thread has an error that wraps [snapshot.ErrNoLayout].
//
// It makes a [snapshot.Snapshot] of a core: the threads with their registers, what was
// mapped, and its memory, of which the core holds a part and the mapped files the rest.
//
// A core is read where it is asked about, never as a whole. The files that it
// had mapped are looked for by package debugfile: by their path, under a sysroot,
// and by build ID; one that is not the mapped one is refused. What a core lacks is told: by
// [Core.Missing] the files, by [Core.Damage] what was cut off or is damaged, and
// by the error of a read the rest.
//
// The package unwinds nothing, names nothing and prints nothing. It runs nothing,
// asks no network, and writes but one file without a name, into which a
// compressed core is decompressed: 32 GiB of it, or 1,024 times what the
// compressed file has where that is more, and as holes what is zero.
package core
