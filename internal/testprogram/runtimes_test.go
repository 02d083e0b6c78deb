// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The runtimes run, and leave what their names say where it is looked for.
func TestRuntimes(t *testing.T) {
	for _, r := range Runtimes() {
		t.Run(r.Name, func(t *testing.T) {
			p := r.Start(t)
			switch {
			case strings.HasSuffix(r.Name, " map"):
				text, err := os.ReadFile("/tmp/perf-" + strconv.Itoa(p.PID) + ".map")
				if err != nil || !bytes.Contains(text, []byte(r.Stack[0])) {
					t.Errorf("%d bytes, without %s: %v", len(text), r.Stack[0], err)
				}
			case strings.HasSuffix(r.Name, " jitdump"):
				maps, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/maps")
				if err != nil || !bytes.Contains(maps, []byte("/jit-"+strconv.Itoa(p.PID)+".dump")) {
					t.Errorf("no marker: %v\n%s", err, maps)
				}
			}
			if !p.Running() {
				t.Errorf("the program ended: %s", filepath.Base(r.Name))
			}
		})
	}
}
