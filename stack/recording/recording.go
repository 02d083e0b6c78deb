// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"iter"
	"math"
	"strings"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/calltree"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// Recording is the stacks of a recording. After Read it does not change, and several
// goroutines may use it.
type Recording struct {
	Machine *arch.Machine // nil if the recording does not name it
	Header  perfdata.Header
	Events  []Event

	// First and Last are the times of the first and the last counted sample, in
	// nanoseconds of the recording's clock.
	First, Last uint64

	Counts  perfdata.Counts
	Samples uint64 // those that Options.Filter let pass

	Objects []*stack.Object
	Threads []Thread
	Stacks  []Stack // in the order of their first samples

	// Notes say what was missing, refused, cut or guessed, in sentences without a full
	// stop.
	Notes []string

	// Complete says that no object and no part of the recording is missing. Stacks that
	// end early for another reason (see Stack.Reason) and records that perf lost do not
	// make a Recording incomplete, because nearly every recording has some.
	Complete bool

	places []stack.Frame
	tree   calltree.Tree[int32] // of the numbers of places
}

// Event is an event that perf sampled.
type Event struct {
	Name    string
	Samples uint64
	Weight  uint64 // how often the event occurred: the sum of the samples' periods, at most math.MaxInt64
}

// Thread is a sampled thread. A thread that changed its name or executed another program
// has several.
type Thread struct {
	PID, TID int32  // 0 for several threads: see Options.MaxThreads
	Process  string // the name of the process's first thread
	Name     string

	labels string // keys and values, each with a 0 byte after it
}

// Labels yields the profiler labels of the goroutine that the thread ran (runtime/pprof.Do), sorted by key.
// Only recordings that are read while they are made have them: see Options.Live. A thread that ran
// goroutines with different labels is several Threads.
func (t *Thread) Labels() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for rest := t.labels; rest != ""; {
			var key, value string
			key, rest, _ = strings.Cut(rest, "\x00")
			value, rest, _ = strings.Cut(rest, "\x00")
			if !yield(key, value) {
				return
			}
		}
	}
}

// KernelName is the name of the kernel's object. Its modules have objects of their own.
const KernelName = "[kernel]"

// Stack is a stack of samples of one event and thread.
type Stack struct {
	Thread  int32         // index into Recording.Threads
	Event   int32         // index into Recording.Events
	Reason  unwind.Reason // why it ends
	Samples uint64
	Weight  uint64 // the sum of the samples' periods

	node int32
}

// Places returns the different frames of all stacks. The caller must not change them. They
// only have a Code, which processes with the same object share. The addresses of generated
// code, of the kernel and of unknown code are run-time addresses. Without Options.Lines, no
// place has Locations.
func (r *Recording) Places() []stack.Frame { return r.places }

// Frames yields the frames of a stack as indexes and elements of Places, innermost first.
func (r *Recording) Frames(s *Stack) iter.Seq2[int, *stack.Frame] { return r.path(s.node) }

func (r *Recording) path(n int32) iter.Seq2[int, *stack.Frame] {
	return func(yield func(int, *stack.Frame) bool) {
		for i := range r.tree.Frames(n) {
			if !yield(int(i), &r.places[i]) {
				return
			}
		}
	}
}

// Sample is one sample, for Options.Each.
type Sample struct {
	Time   uint64 // nanoseconds of the recording's clock; 0 if unknown
	CPU    uint32
	HasCPU bool
	Period uint64
	Event  *Event
	Thread *Thread
	Reason unwind.Reason // why the stack ends

	// Frames yields indexes and elements of Recording.Places, innermost first.
	Frames iter.Seq2[int, *stack.Frame]
}

// Options change what Read does. The zero value is valid.
type Options struct {
	// Search is where the files of the recording are searched. If its Root is "", the
	// files of a running process are searched in the process's own root directory. With Live, Fetch is
	// called only for debug files, and only at the end of a recording without Interval.
	Search debugfile.Search

	Lines     bool // also find source lines and inlined calls
	NoInline  bool // with Lines: no inlined calls
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames

	// MaxThreads bounds Recording.Threads: once there are so many, threads with the same names are
	// one, with PID and TID 0. Once there are twice as many, further threads have the names of their
	// processes, and with three times as many the name [others]. 0 means no limit.
	MaxThreads int

	// Analyzer makes rules for functions that no table describes. It may be nil.
	Analyzer stack.CodeAnalyzer

	// Filter reports whether a sample is counted, given its thread and the name of its
	// event. Nil stands for all samples.
	Filter func(t *Thread, event string) bool

	// Each is called for every counted sample in the order of time, once its frames are
	// named. If the kernel recorded the user part of a call chain later
	// (PERF_RECORD_CALLCHAIN_DEFERRED), the time of that part decides. The Sample is
	// valid only during the call.
	Each func(*Sample) error

	// Hashes sets the Hash of objects, and the BuildID of those whose file has one although the
	// recording lacks it.
	Hashes bool

	// OffCPU makes a sample of the event context-switches stand for the time until its thread runs
	// again. That time, in nanoseconds, is its Period, and its end is its Time. The recording must
	// contain the records of switches (perf record -e context-switches -c 1 --switch-events).
	// A thread that was preempted or yielded did not wait for anything but a processor: its innermost
	// frame is RunnableName. After a wait for something else, the time until a processor is free counts as
	// a part of that wait.
	OffCPU bool

	// Wall, with OffCPU, makes one event of all, wall-clock, of which stacks weigh nanoseconds. The
	// recording must contain the event cpu-clock besides context-switches.
	Wall bool

	// Cut is called at the end of each round of the recording (PERF_RECORD_FINISHED_ROUND) and
	// reports whether an interval ends there. Then Interval is called with the samples since the
	// previous one. The Recording is valid only during the call. Read returns the last interval.
	// Both must be set, or none.
	Cut      func() bool
	Interval func(*Recording) error

	// Live is set while the recording is being made. Then Read also finds the code in lists that
	// running processes have in their memory, such as those of the GDB JIT interface, and it reads
	// jitdumps and perf maps again when they have grown.
	Live Live

	// Progress is called now and then with the number of bytes read from the recording.
	Progress func(read int64)
}

// Span returns the time from the first to the last sample, at most the longest Duration.
func (r *Recording) Span() time.Duration { return time.Duration(min(r.Last-r.First, math.MaxInt64)) }
