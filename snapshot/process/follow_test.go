// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clewdev/clew/snapshot"
)

// Follow calls its function while the command runs, and with last when it ends and its memory still
// exists. The calls do not overlap.
func TestFollow(t *testing.T) {
	for _, test := range []struct {
		script string
		last   int
		status string
	}{
		{"until [ -e called ]; do :; done; exit 3", 1, "exit status 3"},
		{"until [ -e called ]; do :; done; kill -TERM $$", 1, "signal: terminated"},
		{"until [ -e called ]; do :; done; kill -ABRT $$", 1, "signal: aborted"},
		{"until [ -e called ]; do :; done; kill -KILL $$", -1, "signal: killed"},
		{"until [ -e called ]; do :; done; exec sleep 0.1", 1, ""},
	} {
		t.Run(test.script, func(t *testing.T) {
			var running atomic.Int32
			calls, last := 0, 0
			cmd := exec.Command("sh", "-c", test.script)
			cmd.Dir = t.TempDir()
			err := Follow(cmd, 5*time.Millisecond, func(s *snapshot.Snapshot, isLast bool) {
				if running.Add(1) != 1 || last > 0 {
					t.Error("calls overlap, or follow the last one")
				}
				defer running.Add(-1)
				calls++
				if err := os.WriteFile(filepath.Join(cmd.Dir, "called"), nil, 0o600); err != nil {
					t.Error(err)
				}
				var b [4]byte
				if m := s.Mappings[0]; isLast && (s.Memory.ReadMemory(b[:], m.Start) != nil || string(b[:]) != "\x7fELF") {
					t.Errorf("memory at the end: % x", b)
				}
				if isLast {
					last++
				}
			})
			text := ""
			if exit := new(exec.ExitError); errors.As(err, &exit) {
				text = exit.String()
			} else if err != nil {
				t.Error(err)
			}
			if text != test.status || calls-last < 1 || test.last >= 0 && last != test.last {
				t.Errorf("%q, want %q; %d calls, %d of them the last", text, test.status, calls, last)
			}
		})
	}
	if err := Follow(exec.Command("/does/not/exist"), time.Second, nil); err == nil {
		t.Error("no error for a missing program")
	}
}
