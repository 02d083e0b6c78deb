// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// start starts a program without the ambient capabilities of this process, by which a service
// that is not root may trace others: see capabilities(7). The program reads what a collector
// answers, and needs none of them.
func start(cmd *exec.Cmd) error {
	result := make(chan error)
	go func() {
		// Capabilities are a thread's. This thread ends with the goroutine.
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
		if err == nil || err == unix.EINVAL { // EINVAL: before Linux 4.3
			err = cmd.Start()
		}
		result <- err
	}()
	return <-result
}
