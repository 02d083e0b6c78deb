// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFull runs out of space in the middle of a batch: first by a child process's limit on the
// size of files, then on a full file system.
func TestFull(t *testing.T) {
	t.Run("limit", func(t *testing.T) {
		out, err := asRole("limited", t.TempDir()).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "file too large") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("disk", func(t *testing.T) {
		cmd := asRole("full", t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, unix.EPERM) {
			t.Skip("skipped: only root can mount a file system")
		}
		if err != nil || !strings.Contains(string(out), "no space left on device") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func init() {
	roles["limited"] = func(dir string) error {
		// The limit's signal would end a Go program.
		signal.Ignore(unix.SIGXFSZ)
		const limit = 64 << 10
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: math.MaxInt64}); err != nil {
			return err
		}
		return fill(dir)
	}
	roles["full"] = func(dir string) error {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
			return err
		}
		return fill(dir)
	}
}

// fill publishes until the disk is full, then smaller functions that still fit.
func fill(dir string) error {
	p, err := NewPublisher(Options{Jitdump: true, Dir: dir})
	if err != nil {
		return err
	}
	for i := uint64(0); err == nil; i++ {
		before, e := os.Stat(p.dump.Path())
		if e != nil {
			return e
		}
		if _, err = p.Publish(batch(0x10000*i, 100, 0)); err == nil {
			continue
		}
		fmt.Println(err)
		if after, e := os.Stat(p.dump.Path()); e != nil || after.Size() != before.Size() {
			return fmt.Errorf("%v, %v: want %d bytes as before", after, e, before.Size())
		}
	}
	if _, err := p.Publish(batch(0x7000000, 1, 0)); err != nil {
		return fmt.Errorf("a batch that fits: %w", err)
	}
	if err := p.Close(); err != nil {
		return err
	}
	d, err := ReadJitdump(p.dump.Path())
	if err != nil {
		return err
	}
	x := d.Index()
	if f, ok := x.Find(0x7000000, math.MaxUint64); !ok || x.Name(f) != "function 0" || !d.Closed || d.End != uint64(len(d.data)) {
		return errors.New("the batch that fits is not there")
	}
	if n := len(x.Functions()); n%100 != 1 || n < 100 {
		return fmt.Errorf("%d functions, want some hundreds and one", n)
	}
	return nil
}
