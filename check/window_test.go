// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// The report on a divided section is that on the whole one, and does not depend on the order in which
// the windows are checked.
func TestWindows(t *testing.T) {
	defer func(size int) { windowSize = size }(windowSize)
	arm64 := testprogram.Emulations["arm64"]
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", arm64.Root() + "/lib/libstdc++.so.6"} {
		t.Run(path, func(t *testing.T) {
			f, err := object.Open(path)
			if err != nil {
				t.Skipf("skipped: %s is not installed", path)
			}
			defer f.Close()
			report := func(size int, divide func([]func())) string {
				windowSize = size
				r, err := File(f, Options{Divide: divide})
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("%+v\n", r.Counters)
				for i := range r.Findings {
					text += fmt.Sprintln(&r.Findings[i])
				}
				return text
			}
			want := report(1<<30, nil)
			for name, divide := range map[string]func([]func()){
				"one after another": nil,
				"backwards": func(tasks []func()) {
					for _, task := range slices.Backward(tasks) {
						task()
					}
				},
				"at the same time": func(tasks []func()) {
					var all sync.WaitGroup
					for _, task := range tasks {
						all.Go(task)
					}
					all.Wait()
				},
			} {
				if got := report(500, divide); got != want {
					t.Errorf("%s: got\n%.4000s\nwant\n%.4000s", name, got, want)
				}
			}
		})
	}
}

// Complete gives a finding the path and the lines that it has in a small report.
func TestCompleteFindings(t *testing.T) {
	defer func(size, details int) { windowSize, maxDetails = size, details }(windowSize, maxDetails)
	arm64 := testprogram.Emulations["arm64"]
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libitm.so.1", arm64.Root() + "/lib/libc.so.6"} {
		t.Run(path, func(t *testing.T) {
			f, err := object.Open(path)
			if err != nil {
				t.Skipf("skipped: %s is not installed", path)
			}
			defer f.Close()
			windowSize, maxDetails = 1<<30, 1<<30
			want, err := File(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, windowSize = range []int{1 << 30, 100} {
				maxDetails = 0
				got, err := File(f, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Findings) != len(want.Findings) || len(got.Findings) < 5 {
					t.Fatalf("%d findings, want %d", len(got.Findings), len(want.Findings))
				}
				for i := range got.Findings {
					g, w := &got.Findings[i], &want.Findings[i]
					if w.Kind >= Malformed {
						continue
					}
					if g.Path != nil || g.Around != nil {
						t.Errorf("%v has details", g)
					}
					g.Complete()
					if !reflect.DeepEqual(g, w) {
						t.Errorf("got\n%+v\nwant\n%+v", g, w)
					}
				}
			}
		})
	}
}
