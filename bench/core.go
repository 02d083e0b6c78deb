// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
)

// coreMeasurements are of a core of the process of 65 threads, whose stacks make
// it 500 MB large. It is written when it is first needed; remove removes it.
func coreMeasurements(clew string, pid int) (list []*measurement, remove func(), err error) {
	remove = func() {}
	if _, err := exec.LookPath("gcore"); clew == "" || err != nil {
		return nil, remove, nil
	}
	dir, err := os.MkdirTemp("", "clew-bench-")
	if err != nil {
		return nil, remove, err
	}
	remove = func() { os.RemoveAll(dir) }
	prefix := filepath.Join(dir, "core")
	core := prefix + "." + strconv.Itoa(pid)
	write := sync.OnceValue(func() error {
		if out, err := exec.Command("gcore", "-o", prefix, strconv.Itoa(pid)).CombinedOutput(); err != nil {
			return fmt.Errorf("gcore: %w\n%s", err, out)
		}
		return nil
	})
	const frames = 2900
	after := func(c contender) contender {
		run := c.run
		c.run = func() (outcome, error) {
			if err := write(); err != nil {
				return outcome{}, err
			}
			return run()
		}
		return c
	}
	return []*measurement{{
		name: "core of 500 MB, 65 threads",
		clew: after(command("clew", 0, frames, clew, "stack", "--no-lines", "--no-group", "--all-frames", core)),
		peers: installed(
			peer{after(command("eu-stack --core", 1, frames, "eu-stack", "--core", core)), "eu-stack"},
			peer{after(command("eu-stack -q --core (no names)", 0, frames, "eu-stack", "-q", "--core", core)), "eu-stack"},
		),
	}, {
		name: "the same core with lines and inlined calls",
		clew: after(command("clew", 0, frames, clew, "stack", "--no-group", "--all-frames", core)),
		peers: installed(
			peer{after(command("eu-stack -i -s --core", 0, frames, "eu-stack", "-i", "-s", "--core", core)), "eu-stack"},
		),
	}}, remove, nil
}
