// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"errors"
	"slices"
	"testing"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// A note counts the threads that have frames but could not be copied completely.
func TestNotesOfCopies(t *testing.T) {
	frames := []stack.Frame{{PC: 1}}
	complete := &snapshot.Thread{ID: 1}
	first := &snapshot.Thread{ID: 2, Err: errors.New("thread 2: stack at 0x10 was not copied")}
	second := &snapshot.Thread{ID: 3, Err: errors.New("thread 3: stack at 0x20 was not copied")}
	stuck := &snapshot.Thread{ID: 4, Err: errors.New("thread 4 did not stop")} // its stack has this error
	for _, test := range []struct {
		stacks []stack.Stack
		want   []string
	}{
		{[]stack.Stack{{Frames: frames}, {Thread: complete, Frames: frames}, {Thread: stuck}}, nil},
		{[]stack.Stack{{Thread: complete, Frames: frames}, {Thread: first, Frames: frames}, {Thread: first, Frames: frames}},
			[]string{"1 thread could not be copied completely: thread 2: stack at 0x10 was not copied"}},
		{[]stack.Stack{{Thread: first, Frames: frames}, {Thread: stuck}, {Thread: second, Frames: frames}},
			[]string{"2 threads could not be copied completely: thread 2: stack at 0x10 was not copied"}},
	} {
		if got := Notes(test.stacks); !slices.Equal(got, test.want) {
			t.Errorf("%q, expected %q", got, test.want)
		}
	}
}
