// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import "github.com/clewdev/clew/target"

// Options changes what Open does. The zero value is good.
type Options struct {
	// Program is the path of the program's file, where the core does not lead to
	// it: the core names none (qemu-user's), or it lies elsewhere now.
	Program string

	// Sysroot is the directory that the paths of the mapped files are relative
	// to, "" for the file system as it is. Links are followed inside of it.
	Sysroot string

	// DebugDirectories are searched for files by build ID, .build-id/xx/yyyy;
	// nil stands for /usr/lib/debug and /usr/lib.
	DebugDirectories []string

	// TempDir is where a compressed core is decompressed to; "" stands for
	// os.TempDir().
	TempDir string

	// Progress is called now and then while a core is decompressed: how many
	// bytes of the file were read, and how many it has. It may be nil.
	Progress func(done, total int64)
}

// Core is an open core. Its methods may be called from several goroutines,
// Close after all others only.
type Core struct {
	snapshot target.Snapshot
}

// Missing is a file that was mapped and is not to be had.
type Missing struct {
	Path    string // as the core names it; "" where it does not
	Address uint64 // where its first byte was mapped
	BuildID []byte // as the core has it, nil where it does not
	Err     error  // where it was looked for, and why what was there was refused
}
