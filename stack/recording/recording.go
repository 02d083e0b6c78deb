// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"iter"
	"math"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
)

// Recording is the stacks of a recording. It does not change once it was read,
// and may then be used from several goroutines.
type Recording struct {
	Machine *arch.Machine // nil where the recording does not tell
	Header  perfdata.Header
	Events  []Event

	// First and Last are when the first and the last sample were taken that
	// count: nanoseconds of the recording's clock.
	First, Last uint64

	Counts  perfdata.Counts
	Samples uint64 // that count, after all filters

	Objects []*stack.Object
	Threads []Thread
	Stacks  []Stack // in the order of their first samples

	// Notes say what is to be known of the stacks, in sentences without a full
	// stop: what was missing, refused, cut or guessed. Complete says that nothing
	// is missing: no object, and no part of what was recorded. Stacks that end early
	// for another reason, which Stack.End tells, do not count, nor does what was lost
	// while it was recorded: some always do, and some always is.
	Notes    []string
	Complete bool

	places []stack.Code
	tree   tree
}

// Event is what samples were taken of.
type Event struct {
	Name    string
	Samples uint64
	Weight  uint64 // the sum of the samples' periods, at most math.MaxInt64: how often the event occurred
}

// Thread is one that samples were taken of. A thread that changed its name, or
// executed another program, is one for each.
type Thread struct {
	PID, TID int32
	Process  string // the name of the process: of its first thread
	Name     string
}

// KernelName is the name of the kernel without its modules, which are in brackets
// too.
const KernelName = "[kernel]"

// End is why a stack ends.
type End uint8

const (
	Whole      End = iota // its outermost frame is there
	Chain                 // as far as the recorded call chain goes; where it is whole cannot be told
	Cut                   // the copy of the stack that was recorded is not long enough
	NoRule                // no unwind information for the last frame
	Unreadable            // what the rules ask for is not in the recording
	NoProgress            // the stack leads back to where it has been
	TooDeep               // more frames than Options.MaxFrames
	NoStack               // the sample has no copy of the stack, or nothing but an address
	Gap                   // its outermost frame is there, but callers can be missing in between
)

var endNames = [...]string{"whole", "call chain", "stack copy cut", "no rule", "unreadable memory", "no progress", "too many frames", "no stack", "callers may be missing"}

// String names the reason in one to three words.
func (e End) String() string { return endNames[min(int(e), len(endNames)-1)] }

// Stack is a stack that samples of one event and thread had.
type Stack struct {
	Thread  int32 // index into Recording.Threads
	Event   int32 // index into Recording.Events
	End     End
	Samples uint64
	Weight  uint64 // the sum of the samples' periods

	node int32
}

// Places returns the places that all stacks consist of. The addresses of generated code,
// of the kernel and of unknown code are run-time addresses. Without Options.Lines, no
// place has Locations.
func (r *Recording) Places() []stack.Code { return r.places }

// Frames yields the frames of a stack as indexes and elements of Places, innermost first.
func (r *Recording) Frames(s *Stack) iter.Seq2[int, *stack.Code] { return r.path(s.node) }

// path yields the frames of a node.
func (r *Recording) path(n int32) iter.Seq2[int, *stack.Code] {
	return func(yield func(int, *stack.Code) bool) {
		for ; n != 0; n = r.tree.nodes[n].parent {
			if i := r.tree.nodes[n].frame; !yield(int(i), &r.places[i]) {
				return
			}
		}
	}
}

// Sample is one sample, for Options.Each.
type Sample struct {
	Time   uint64 // nanoseconds of the recording's clock; 0 where the sample has none
	CPU    uint32
	HasCPU bool
	Period uint64
	Event  *Event
	Thread *Thread
	End    End

	// Frames yields the frames, innermost first, with the indexes that they have in
	// Recording.Places.
	Frames iter.Seq2[int, *stack.Code]
}

// Options change what Read does. The zero value is good.
type Options struct {
	// Search is where the files of the recording are looked for. Where its Root is ""
	// that of a process is its own, as long as the process runs.
	Search debugfile.Search

	Lines     bool // also find source lines and inlined calls
	NoInline  bool // with Lines: no inlined calls
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames

	// What samples count: those for which it returns true; nil for all. Event is
	// the name of the event.
	Filter func(t *Thread, event string) bool

	// Each is called for every sample, in the order of time, some time after it
	// was read: when its frames are named. Where the kernel recorded the user part
	// of a call chain later (PERF_RECORD_CALLCHAIN_DEFERRED), the sample comes in the
	// order of that. Sample is valid for the call.
	Each func(*Sample) error

	// Progress is called now and then with the bytes of the recording that were
	// read.
	Progress func(read int64)
}

// Span returns the time from the first to the last sample, at most the longest
// Duration.
func (r *Recording) Span() time.Duration { return time.Duration(min(r.Last-r.First, math.MaxInt64)) }
