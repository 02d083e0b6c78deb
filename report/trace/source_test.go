// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package trace_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
)

// With Later, printing opens no source file, and Fill completes the text.
func TestSourceLater(t *testing.T) {
	p := testprogram.Start(t, testprogram.Build(t, "threads65.c", "-O2", "-g"))
	var held, want bytes.Buffer
	opened := 0
	open := func(path string) (*os.File, error) { opened++; return os.Open(path) }
	later := trace.Options{Source: &style.SourceFiles{Open: open, Later: true}}
	_, err := process.Snapshot(p.PID, &process.Options{Hold: func(s *snapshot.Snapshot) {
		objects := stack.NewObjects(s)
		defer objects.Close()
		stacks := objects.Walk(stack.WalkOptions{})
		if err := objects.Name(stacks, stack.NameOptions{Lines: true}); err != nil {
			t.Error(err)
		}
		r := trace.Threads{Target: trace.Target{Machine: s.Machine}, Stacks: stacks}
		if err := r.Text(&held, later); err != nil {
			t.Error(err)
		}
		if opened > 0 {
			t.Errorf("%d files were opened while the process was held", opened)
		}
		if err := r.Text(&want, trace.Options{Source: &style.SourceFiles{Open: open}}); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := later.Source.Fill(held.Bytes(), later.Palette)
	if !strings.Contains(want.String(), " > ") || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("later\n%s\nat once\n%s", got, &want)
	}
	for text, want := range map[string]string{"": "", "a\n": "a\n", "a\x00": "a", "a\x00b\x001": "a", "a\x00/nonexistent\x001\x00b": "ab", "\x00/nonexistent\x00x\x00b": "b"} {
		if got := later.Source.Fill([]byte(text), later.Palette); string(got) != want {
			t.Errorf("%q is filled to %q, expected %q", text, got, want)
		}
	}
}
