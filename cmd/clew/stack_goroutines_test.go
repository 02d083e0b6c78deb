// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/style"
)

// Too many goroutines are grouped, with a note. None is omitted.
func TestManyGoroutinesApart(t *testing.T) {
	defer func(was int) { maxUngrouped = was }(maxUngrouped)
	p := testprogram.Start(t, testprogram.Build(t, "states"), "100")
	p.Settle(t)
	var all [2][]uint64
	for i, limit := range []int{1 << 10, 50} {
		maxUngrouped = limit
		flags := stackFlags{json: true, noLines: true}
		flags.goroutines = true
		source, walked, err := flags.take(strconv.Itoa(p.PID))
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		var out bytes.Buffer
		if _, err := printStacks(&out, style.Palette{}, walked, flags); err != nil {
			t.Fatal(err)
		}
		var printed struct {
			Goroutines []struct {
				ID     uint64
				Also   []uint64
				Frames []struct{ SP string }
			}
			Notes []string
		}
		if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
			t.Fatal(err)
		}
		pointers := make(map[string]bool)
		for _, g := range printed.Goroutines {
			all[i] = append(append(all[i], g.ID), g.Also...)
			if n := len(g.Frames); n > 0 {
				pointers[g.Frames[n-1].SP] = true
			}
		}
		slices.Sort(all[i])
		hasNote := strings.Contains(strings.Join(printed.Notes, "\n"), "there are more than 50; equal ones are printed together")
		if grouped := i == 1; hasNote != grouped || grouped != (len(printed.Goroutines) < 50) {
			t.Errorf("at most %d: %d objects, notes %q", limit, len(printed.Goroutines), printed.Notes)
		}
		if len(pointers) < len(printed.Goroutines)*9/10 {
			t.Errorf("at most %d: %d objects have only %d stack pointers", limit, len(printed.Goroutines), len(pointers))
		}
	}
	if len(all[0]) < 100 || !slices.Equal(all[0], all[1]) {
		t.Errorf("grouped: goroutines %d, expected %d", all[1], all[0])
	}
}
