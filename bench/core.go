// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
)

// coreMeasurements are of a core of the process of 65 threads, which is 500 MB large
// because of their stacks. The first run that needs it writes it to dir.
func coreMeasurements(clew, dir string, pid int) []*measurement {
	if _, err := exec.LookPath("gcore"); err != nil {
		return nil
	}
	process := strconv.Itoa(pid)
	prefix := filepath.Join(dir, "core")
	core := prefix + "." + process
	write := sync.OnceValue(func() error {
		if out, err := exec.Command("gcore", "-o", prefix, process).CombinedOutput(); err != nil {
			return fmt.Errorf("gcore: %w\n%s", err, out)
		}
		return nil
	})
	const frames = 2900
	onCore := func(c contender) contender {
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
		clew: onCore(clewStack(frames, clew, core, "--no-lines")),
		peers: installed(
			onCore(command("eu-stack --core", 1, frames, "eu-stack", "--core", core)),
			onCore(command("eu-stack -q --core (no names)", 0, frames, "eu-stack", "-q", "--core", core)),
		),
	}, {
		name:  "the same core with lines and inlined calls",
		clew:  onCore(clewStack(frames, clew, core)),
		peers: installed(onCore(command("eu-stack -i -s --core", 0, frames, "eu-stack", "-i", "-s", "--core", core))),
	}}
}
