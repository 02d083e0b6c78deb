// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/stack/recording"
)

// A server is asked for debug files at the end of a recording. It is not asked between intervals, nor for programs,
// because samples would wait for the answer.
func TestFetch(t *testing.T) {
	path := testprogram.Build(t, "shares.c", "-O2", "-pthread", "-s", "-Wl,--build-id")
	for _, every := range []time.Duration{0, 100 * time.Millisecond} {
		var asked atomic.Int64
		opts := record.Options{Command: exec.Command(path, "1", "400"), Frequency: 499, Every: every}
		if every > 0 {
			opts.Interval = func(*recording.Recording) error { return nil }
		}
		opts.Recording.Search.Fetch = func(kind debugfile.Kind, id []byte) (*os.File, error) {
			if asked.Add(1); kind != debugfile.DebugInfo {
				t.Errorf("a server is asked for the %v of %x", kind, id)
			}
			return nil, fs.ErrNotExist
		}
		if _, err := record.Run(context.Background(), opts); err != nil {
			t.Fatal(err)
		}
		if n := asked.Load(); n > 0 != (every == 0) {
			t.Errorf("a server is asked %d times at intervals of %v", n, every)
		}
	}
}
