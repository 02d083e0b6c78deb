// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build amd64

package record_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/stack/recording"
	"github.com/clewdev/clew/unwind"
)

// Samples of an engine with its own stack have the frames up to the function that has changed stacks,
// then the callers that the frame pointers lead to, and say that some can be missing.
func TestEngine(t *testing.T) {
	t.Setenv("GODEBUG", "asyncpreemptoff=1") // a signal would be handled on a third stack
	for mode, inner := range map[string][]string{"wait": {"main.host", "callHost"}, "spin": {"spin", "enter"}} {
		p := testprogram.Start(t, testprogram.BuildModule(t, "../../../jit/gdb/testdata/engine"), mode)
		sample := func(what string) {
			ctx, options := until(t, 50, p.PID)
			rec, err := record.Run(ctx, record.Options{Targets: []int{p.PID}, Frequency: 199, NoKernel: true, Recording: options})
			if err != nil {
				t.Errorf("%s: %v", what, err)
				return
			}
			checkEngine(t, what+", "+mode, rec, append(inner, "github.com/clewdev/clew/examples/call.Code", "main.(*engine).run", "main.main", "runtime.main", "runtime.goexit"))
		}
		sample("perf events")
		withoutEvents(t, unix.EPERM, func() { sample("ptrace") })
	}
}

func checkEngine(t *testing.T, what string, rec *recording.Recording, want []string) {
	t.Helper()
	right, all := 0, 0
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		names := functions(rec, s)
		for k := range names {
			names[k] = strings.TrimSuffix(names[k], ".abi0")
		}
		all += int(s.Samples)
		if s.Reason == unwind.CallersMissing && slices.Equal(names, want) {
			right += int(s.Samples)
			continue
		}
		t.Logf("%s: %d samples end with %v: %q", what, s.Samples, s.Reason, names)
	}
	// The first samples precede the description of the code, or the copies of the other stack.
	if all < 40 || right*10 < all*9 {
		t.Errorf("%s: %d of %d samples have the functions %q", what, right, all, want)
	}
}
