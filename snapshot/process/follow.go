// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"os/exec"
	"sync"
	"time"

	"github.com/clewdev/clew/snapshot"
)

// Follow starts cmd, and returns when the command has ended, as [Run] does with the same errors
// and the same handling of signals. It calls on with snapshots without threads: while the command
// runs, after each interval or after as much time as the call took, and with last set when its
// first thread ends, while the memory still exists. That thread stands still meanwhile. Calls do
// not overlap. A snapshot's Memory can be used during the call only.
//
// There can be no last call if the command is killed by SIGKILL. After execve, the memory of the
// former program is gone.
func Follow(cmd *exec.Cmd, interval time.Duration, on func(s *snapshot.Snapshot, last bool)) error {
	var err error
	onTracerThread(func() bool {
		err = follow(cmd, interval, on)
		return false
	})
	return err
}

func follow(cmd *exec.Cmd, interval time.Duration, on func(s *snapshot.Snapshot, last bool)) error {
	r := &runner{asking: make(chan struct{}, 1)}
	var mu sync.Mutex
	over := false // the last call was made
	take := func(last bool) error {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return nil
		}
		over = last
		c, s, err := prepare(r.pid, &Options{})
		if err != nil {
			return err
		}
		c.tasks.close()
		on(s, last)
		return s.Memory.(*Memory).Close()
	}
	var failed error
	r.exiting = func() { failed = take(true) }
	r.signals.catch()
	defer r.signals.release()
	if err := r.start(cmd); err != nil {
		return err
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		pause := interval
		for {
			select {
			case <-ended:
				return
			case <-time.After(pause):
			}
			start := time.Now()
			_ = take(false) // the command can be at its end
			pause = max(interval, time.Since(start))
		}
	}()
	err := r.finish(cmd)
	close(ended)
	<-done
	return errors.Join(err, failed)
}
