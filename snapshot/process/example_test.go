// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
)

// Takes the snapshot of a process that waits for input.
func ExampleSnapshot() {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	s, err := process.Snapshot(cmd.Process.Pid, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, thread := range s.Threads {
		fmt.Println(thread.Name, thread.ID == cmd.Process.Pid, len(thread.Stack) > 0)
	}
	fmt.Println("stood still:", s.Pause > 0)

	stdin.Close()
	fmt.Println("and ended as it would have:", cmd.Wait())
	// Output:
	// cat true true
	// stood still: true
	// and ended as it would have: <nil>
}

// Runs a command that kills itself.
func ExampleRun() {
	cmd := exec.Command("sh", "-c", "ulimit -c 0; kill -SEGV $$")
	err := process.Run(cmd, func(s *snapshot.Snapshot, r process.Reason) {
		fmt.Println(r.Signal, r.Crash, len(s.Threads))
	})
	fmt.Println(err)
	// Output:
	// segmentation fault true 1
	// signal: segmentation fault
}

// Errors name the reason.
func ExampleError() {
	_, err := process.Snapshot(os.Getpid(), nil)
	fmt.Println(errors.Is(err, process.ErrSelf))
	// Output: true
}
