// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package untrusted opens files that other people control: files whose name or
// content comes from a target, a core, a recording, debugging information or the
// environment. Clew may run as root, and none of them may make it do more than read
// a regular file.
//
// The package
//   - resolves a name below the target's root directory, and never follows the magic
//     links of procfs ([Open]);
//   - looks at a file before it opens it, by a descriptor that stands for the same
//     file (O_PATH). It refuses directories, devices, FIFOs, sockets and the files of
//     procfs, sysfs, tracefs, debugfs and their kin with [ErrNotRegular];
//   - never waits for the holder of a lease ([ErrLeased]);
//   - knows how many bytes a file stores ([Stored]), which a sparse file's size does
//     not say: limits follow that;
//   - reads at most a stated limit ([ReadFile], [Budget]).
//
// [OpenNamed] and [OpenInput] are for names that are trusted, since the user typed
// them or the kernel made the link. The content is as untrusted as that of others.
//
// All functions may be called from several goroutines. The package creates no file
// and changes none. Package filemap maps what is opened here.
package untrusted

import "errors"

// ErrNotRegular is wrapped by the error for a directory, a device, a FIFO, a socket
// or a file of procfs and the like. None of them was opened: that alone can block or
// have an effect, as of /dev/watchdog.
var ErrNotRegular = errors.New("not a regular file")

// ErrLeased is wrapped by the error for a file on which a process holds a lease
// (fcntl(2), F_SETLEASE). To open it could take 45 seconds
// (/proc/sys/fs/lease-break-time).
var ErrLeased = errors.New("a process holds a lease on the file (fcntl F_SETLEASE); try again after it gave the lease up")
