// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import (
	"iter"
	"strings"
	"time"

	"github.com/clewdev/clew/internal/calltree"
)

// Code is the kind of code that a frame runs.
type Code uint8

const (
	Unknown Code = iota
	Native
	Go
	Generated // by a JIT compiler
	Kernel
)

// Frame is a function that is active at an address.
type Frame struct {
	Function string // as in the source; "" if unknown
	Object   string // the path of the file that contains it, or "[jit]" or "[kernel]"; "" if unknown
	File     string // of the source; "" if unknown
	Line     int    // the line in File that is executed; 0 if unknown
	Code     Code
	Inlined  bool // into the next frame of the location

	// Build is the build ID of Object in hexadecimal digits, if the profile has several files with
	// that path: in containers, or a program before and after an update. Else it is "".
	Build string
}

// Name returns the function's name. If it is unknown, Name returns the object's name in
// brackets, such as "[libc.so.6]", or "[unknown]".
func (f *Frame) Name() string {
	switch {
	case f.Function != "":
		return f.Function
	case f.Object == "":
		return "[unknown]"
	case f.Object[0] == '[':
		return f.Object
	}
	return "[" + base(f.Object) + "]"
}

// base returns the text after the last slash that is not the last character.
func base(path string) string {
	if path == "" {
		return ""
	}
	return path[strings.LastIndexByte(path[:len(path)-1], '/')+1:]
}

// Location identifies an address in a profile together with its frames. It is valid
// only for the profile that returned it.
type Location int32

// SetBuildID sets the build ID of an object, as named by Frame.Object, in hexadecimal
// digits. Objects with the same name and different build IDs get none.
func (p *Profile) SetBuildID(object, id string) {
	if p.buildIDs == nil {
		p.buildIDs = make(map[string]string)
	}
	if known, ok := p.buildIDs[object]; ok && known != id {
		id = ""
	}
	p.buildIDs[object] = id
}

// Labels identify the process, thread or goroutine of a stack. Unknown fields are empty
// or zero.
type Labels struct {
	Process, Thread string
	PID, TID        int
	State           string // of a goroutine, which may be on no thread: "chan receive"
	Values          Values // that the program itself set
}

// Values are labels that a program itself set (Go's runtime/pprof.Do), sorted by key. MakeValues makes
// them; "" has none.
type Values string

// MakeValues returns values. Zero bytes in them are replaced.
func MakeValues(all iter.Seq2[string, string]) Values {
	var text []byte
	for key, value := range all {
		for _, part := range [...]string{key, value} {
			text = append(append(text, strings.ReplaceAll(part, "\x00", "\uFFFD")...), 0)
		}
	}
	return Values(text)
}

// All yields the keys and values.
func (v Values) All() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for rest := string(v); rest != ""; {
			var key, value string
			key, rest, _ = strings.Cut(rest, "\x00")
			value, rest, _ = strings.Cut(rest, "\x00")
			if !yield(key, value) {
				return
			}
		}
	}
}

// Roots says which frames Folded and Flame put below the outermost frame of each stack.
type Roots uint8

const (
	DefaultRoots Roots = iota // a frame of the process, if there are several processes
	NoRoots
	ProcessRoots // a frame of the process
	ThreadRoots  // of the process and of the thread
	StateRoots   // of the process and of the state
)

// Profile is a tree of stacks with their weights. It is not safe for concurrent use.
type Profile struct {
	// Title names the origin of the stacks: a command or a recording.
	Title string
	// Notes are remarks about the whole profile, above all about missing data.
	Notes []string
	// Roots is how Folded and Flame separate stacks.
	Roots Roots
	// Start and Duration are when the stacks were taken, if that is known.
	Start    time.Time
	Duration time.Duration

	unit string

	buildIDs   map[string]string // of objects, hexadecimal; "" if files differ
	fileHashes map[string]string // likewise

	frames     []Frame
	frameIndex map[Frame]int32
	lists      calltree.Tree[int32] // of frames, by their lists without the last frame
	locations  []location
	known      map[place]Location

	threads     []Labels
	threadIndex map[Labels]int32

	stacks  calltree.Tree[Location]
	samples []sample
	sampled map[pair]int32 // a node of stacks and a thread
	thread  int32          // of the last added stack
}

// pair is two numbers in one, for maps.
type pair uint64

func pairOf(a, b int32) pair { return pair(uint32(a))<<32 | pair(uint32(b)) }

type location struct {
	address uint64
	frames  []int32 // innermost first
}

type place struct {
	address uint64
	frames  int32 // a list
}

type sample struct {
	node, thread int32
	weight       int64
}

// New returns an empty profile. Unit says what weights count, in the plural: "samples",
// "threads", "cycles", "nanoseconds", "bytes".
func New(unit string) *Profile {
	return &Profile{
		unit:        unit,
		frameIndex:  make(map[Frame]int32),
		lists:       calltree.New[int32](),
		known:       make(map[place]Location),
		threadIndex: make(map[Labels]int32),
		stacks:      calltree.New[Location](),
		sampled:     make(map[pair]int32),
		thread:      -1,
	}
}

// Unit returns the unit of the weights.
func (p *Profile) Unit() string { return p.unit }

// Total returns the sum of all weights.
func (p *Profile) Total() (weight int64) {
	for i := range p.samples {
		weight += p.samples[i].weight
	}
	return weight
}

// Location returns the location of an address with these frames: the innermost inlined
// call first, the function itself last. The address is an address in the object,
// without load bias, or a run-time address if there is no object. The frames are
// copied. Without frames, the location is an unknown frame. Equal arguments return the
// same location.
func (p *Profile) Location(address uint64, frames []Frame) Location {
	if len(frames) == 0 {
		frames = []Frame{{}}
	}
	list := int32(0)
	for i := range frames {
		list = p.lists.Child(list, p.frame(&frames[i]))
	}
	at := place{address, list}
	if l, ok := p.known[at]; ok {
		return l
	}
	l := Location(len(p.locations))
	indexes := make([]int32, len(frames))
	for i := range frames {
		indexes[i] = p.frameIndex[frames[i]]
	}
	p.locations = append(p.locations, location{address, indexes})
	p.known[at] = l
	return l
}

func (p *Profile) frame(f *Frame) int32 {
	i, ok := p.frameIndex[*f]
	if !ok {
		i = int32(len(p.frames))
		p.frames = append(p.frames, *f)
		p.frameIndex[*f] = i
	}
	return i
}

// Add adds a stack, innermost frame first, and keeps no reference to it. An empty stack
// counts as one frame, which says that the stack is empty. A weight that is not
// positive adds nothing.
func (p *Profile) Add(stack []Location, labels Labels, weight int64) {
	if weight <= 0 {
		return
	}
	if len(stack) == 0 {
		stack = []Location{p.Location(0, []Frame{{Function: "[no stack]"}})}
	}
	p.addAt(p.stacks.Add(stack), labels, weight)
}

// addAt adds a weight to a node of the stacks.
func (p *Profile) addAt(n int32, labels Labels, weight int64) {
	if p.thread < 0 || p.threads[p.thread] != labels {
		p.thread = p.threadOf(labels)
	}
	key := pairOf(n, p.thread)
	i, ok := p.sampled[key]
	if !ok {
		i = int32(len(p.samples))
		p.samples = append(p.samples, sample{node: n, thread: p.thread})
		p.sampled[key] = i
	}
	p.samples[i].weight += weight
}

func (p *Profile) threadOf(labels Labels) int32 {
	i, ok := p.threadIndex[labels]
	if !ok {
		i = int32(len(p.threads))
		p.threads = append(p.threads, labels)
		p.threadIndex[labels] = i
	}
	return i
}

// stack appends the frames of a node of stacks, innermost first.
func (p *Profile) stack(dst []int32, n int32) []int32 {
	for l := range p.stacks.Frames(n) {
		dst = append(dst, p.locations[l].frames...)
	}
	return dst
}

// processes returns how many different processes the labels name.
func (p *Profile) processes() int {
	type process struct {
		name string
		id   int
	}
	seen := make(map[process]bool)
	for i := range p.threads {
		seen[process{p.threads[i].Process, p.threads[i].PID}] = true
	}
	return len(seen)
}
