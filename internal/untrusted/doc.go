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
//   - checks a file before it opens it, through a descriptor of the same file (O_PATH).
//     It refuses directories, devices, FIFOs, sockets and the files of procfs, sysfs,
//     tracefs, debugfs and similar file systems with [ErrNotRegular];
//   - never waits for the holder of a lease ([ErrLeased]);
//   - knows how many bytes a file stores ([Stored]): a limit cannot rely on the size of a
//     sparse file;
//   - reads at most a stated limit ([ReadFile], [Budget]).
//
// [OpenNamed] and [OpenInput] are for trusted names, which the user typed or which are links
// of the kernel. The content is untrusted all the same.
//
// All functions may be called from several goroutines. The package creates no file
// and changes none. Package filemap maps files that are opened here.
package untrusted

import (
	"errors"
	"path"
)

// ErrNotRegular is wrapped by the error for a directory, a device, a FIFO, a socket or a
// file of a file system such as procfs. The file was not opened, because opening alone can
// block or have an effect, as for /dev/watchdog.
var ErrNotRegular = errors.New("not a regular file")

// ErrLeased is wrapped by the error for a file on which a process holds a lease (fcntl(2),
// F_SETLEASE). Opening it could take 45 seconds (/proc/sys/fs/lease-break-time).
var ErrLeased = errors.New("a process holds a lease on the file (fcntl F_SETLEASE); try again when the process has released it")

// join returns the path of a name below a root directory, or the name if root is "".
func join(root, name string) string {
	if root == "" {
		return name
	}
	return path.Join(root, name)
}
