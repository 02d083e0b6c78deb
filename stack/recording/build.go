// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/calltree"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/unwind"
)

// builder makes a Recording.
type builder struct {
	reader  *perfdata.Reader
	opts    Options
	rec     *Recording
	machine *arch.Machine

	started   bool   // the header was read
	monotonic bool   // the clock is CLOCK_MONOTONIC
	switches  []bool // by event: it is a context switch
	newest    uint64 // time of a switch

	processes map[int32]*process
	threads   map[int32]*thread

	endedThreads []*thread // a ring of maxEnded, of which nextEnded is the oldest
	nextEnded    int

	labels map[Thread]int32
	memory unwind.Module // memory without a file, of all spaces
	mapped int           // mappings of all spaces
	moves  int           // mappings that changes of spaces may still move

	files    map[fileKey]*file
	fileList []*file
	opened   map[fileID]*file // see shareObject
	mmaps    uint64           // counts mappings of files

	marks       uint64 // counts calls of markUsed
	endedSpaces int    // since the last one of trim

	fileOf   map[*stack.Object]*file
	buildIDs map[string]string
	dumps    map[fileKey]*jitdump
	reads    *codefile.Reader
	maxCode  int64             // bytes of files of generated code that may be in memory
	maps     []*perfMap        // those whose content is in memory
	leaving  func(*process)    // called before a process loses its space; may be nil
	names    map[string]string // copied ones of generated code

	placeIDs  map[placeKey]int32
	unnamed   map[int32]unnamedPlace // by their numbers
	ownPlaces int32                  // the number of unnamed places of one sample only that there have been
	retryAt   int                    // the number of unnamed places at which they are tried again

	listed    uint64          // bytes of all lists: see maxListed
	nextRead  time.Time       // of files and lists that may have grown
	named     int             // places that have their names
	nameLimit stack.NameLimit // of these

	stacks map[Stack]int32 // by their values without Samples and Weight
	walk   walk
	kernel kernel

	pending  []pendingSample
	batch    int
	deferred map[*thread][]deferredSample
	// deferredBytes is the sum of the sizes of their stack copies.
	deferredBytes int

	ends        [unwind.CallersMissing + 1]uint64 // samples by the end of their stack
	gaps        uint64                            // samples with another end than CallersMissing that can lack callers too
	uncopied    uint64                            // samples that end early because they have registers and no copy of the stack
	missed      uint64                            // records that were lost before the interval
	labelled    int                               // of Recording.Threads, those with labels of goroutines
	unlabelled  uint64                            // samples of goroutines whose labels are unknown
	inDo        uint64                            // those of unlabelled that were taken in a call of pprof.Do
	shortened   uint64                            // samples without the callers between C code and the start of a goroutine
	calling     []*thread                         // those with recent samples in calls between Go and C
	callers     []*thread                         // those with goCalls, in the order of nextCaller
	nextCaller  uint                              // which of callers is replaced next, modulo maxCallers
	lookTime    uint64                            // nanoseconds that looks have taken since looksFrom
	lookCost    uint64                            // what the last look has added to lookTime
	looksFrom   uint64                            // by the clock of the recording, 0 before the first look
	unfinished  uint64                            // samples whose deferred user part is missing
	longestCopy uint32                            // bytes of the largest stack copy that was too short
	lostMaps    uint64                            // processes that ended, in another mount namespace, before a perf map could be looked for

	notes    []string
	noted    map[string]bool
	omitted  int // notes after maxNotes
	complete bool
	crowded  bool // maxPlaces was reached

	mount perfdata.Namespace // of this process
}

// placeKey identifies a place.
type placeKey struct {
	object   *stack.Object // nil for none
	address  uint64
	function int32    // its number among the functions of the object, if its code changes, or among the unnamed places of one sample; else 0
	perfMap  *perfMap // that of the process, if the place is unnamed generated code, else nil
	returns  bool
}

// pendingSample is a sample whose frames are not named yet.
type pendingSample struct {
	time, period        uint64
	cpu                 uint32
	hasCPU              bool
	reason              unwind.Reason
	gap                 bool // callers can be missing in between, which reason does not say
	node, thread, event int32
}

// Read reads a recording to its end and makes stacks of its samples. The error comes from
// [perfdata.Reader.Next] or from Options.Each; the Recording then contains the stacks up to
// there.
func Read(r *perfdata.Reader, opts Options) (*Recording, error) {
	b := newBuilder(r, opts)
	defer b.close()
	err := b.read()
	if each := b.flush(); err == nil {
		err = each
	}
	b.finish()
	return b.rec, err
}

func newBuilder(r *perfdata.Reader, opts Options) *builder {
	b := &builder{
		reader: r, opts: opts, rec: &Recording{tree: calltree.New[int32]()},
		processes: make(map[int32]*process), threads: make(map[int32]*thread), labels: make(map[Thread]int32),
		files: make(map[fileKey]*file), fileOf: make(map[*stack.Object]*file), opened: make(map[fileID]*file), dumps: make(map[fileKey]*jitdump),
		names:    make(map[string]string),
		placeIDs: make(map[placeKey]int32, 1<<10), unnamed: make(map[int32]unnamedPlace), stacks: make(map[Stack]int32), noted: make(map[string]bool),
		deferred: make(map[*thread][]deferredSample), batch: 1 << 10, moves: firstMoves, complete: true,
	}
	b.maxCode = maxCode(opts)
	b.reads = b.codeReader(0)
	b.memory = unwind.Module{Name: "memory without a file", Source: &b.walk.memory}
	return b
}

func (b *builder) read() error {
	for n := 0; ; n++ {
		record, err := b.reader.Next()
		switch {
		case err == io.EOF:
			return errors.Join(b.giveUpAll(), b.stillWaiting())
		case err != nil:
			b.complete = false
			return errors.Join(err, b.giveUpAll(), b.stillWaiting())
		}
		if record.Err != nil {
			b.complete = false
			b.note("a record cannot be read: %v", record.Err)
		}
		// A file can shrink while its unwind tables are read.
		if err := object.Guard(func() error { return b.record(record) }); err != nil {
			if !errors.Is(err, object.ErrFault) {
				return err
			}
			b.complete = false
			b.noteError(err)
		}
		if record.Type == perfdata.TypeFinishedRound {
			b.lookAtCalls()
		}
		b.trim()
		if record.Type == perfdata.TypeFinishedRound && b.opts.Cut != nil && b.opts.Cut() {
			if err := b.cut(); err != nil {
				return err
			}
		}
		if b.opts.Progress != nil && n%1024 == 0 {
			b.opts.Progress(b.reader.Counts().Bytes)
		}
	}
}

// start reads the header at the first sample: in a stream, the records of the header come
// before it.
func (b *builder) start() {
	b.started = true
	b.rec.Header = *b.reader.Header()
	b.machine = b.reader.Machine()
	b.monotonic = b.rec.Header.Clock.ID == clockMonotonic
	for _, a := range b.reader.Attributes() {
		b.rec.Events = append(b.rec.Events, Event{Name: a.Name})
		b.switches = append(b.switches, isSwitch(&a))
		if a.Flags&perfdata.FlagUseClockID != 0 && a.ClockID == clockMonotonic {
			b.monotonic = true
		}
	}
	if b.opts.Wall {
		b.rec.Events = []Event{{Name: "wall-clock"}}
	}
	b.setBuildIDs()
}

const clockMonotonic = 1 // CLOCK_MONOTONIC

// setBuildIDs reads the build IDs that the recording lists.
func (b *builder) setBuildIDs() {
	b.buildIDs = make(map[string]string)
	for _, id := range b.reader.BuildIDs() {
		if len(id.ID) > 0 && len(id.ID) <= 64 {
			b.buildIDs[id.Path] = hex.EncodeToString(id.ID)
		}
	}
}

func (b *builder) add(o *stack.Object) *stack.Object {
	b.rec.Objects = append(b.rec.Objects, o)
	return o
}

// maxPlaces bounds the places: each takes much more memory than an address of a call chain.
const maxPlaces = 1 << 20

// place returns the number of a place.
func (b *builder) place(key placeKey) int32 {
	n, _ := b.newPlace(key)
	return n
}

// newPlace returns the number of a place, and whether it was added. Above the limit, all new
// places are one, without an object and an address.
func (b *builder) newPlace(key placeKey) (n int32, added bool) {
	n, ok := b.placeIDs[key]
	if ok {
		return n, false
	}
	added = len(b.rec.places) < maxPlaces
	if !added {
		if !b.crowded {
			b.crowded, b.complete = true, false
			b.note("more than %d different addresses: the others are shown without a name", maxPlaces)
		}
		key = placeKey{}
		if n, ok = b.placeIDs[key]; ok {
			return n, false
		}
	}
	n = int32(len(b.rec.places))
	b.placeIDs[key] = n
	if int(n) == cap(b.rec.places) {
		b.rec.places = slices.Grow(b.rec.places, int(n)+1<<9) // append would copy them five times
	}
	b.rec.places = append(b.rec.places, stack.Frame{Code: stack.Code{Object: key.object, Address: key.address, Returns: key.returns}})
	return n, added
}

const maxNotes = 64

// note adds a note to the recording, once.
func (b *builder) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if b.noted[text] {
		return
	}
	if len(b.notes) >= maxNotes {
		b.omitted++
		return
	}
	b.noted[text] = true
	b.notes = append(b.notes, text)
}

// noteError adds a note for each of the errors that are joined in err.
func (b *builder) noteError(err error) {
	if err == nil {
		return
	}
	for _, line := range printable.Lines(err) {
		b.note("%s", line)
	}
}

// ownMount returns the mount namespace of this process.
func (b *builder) ownMount() perfdata.Namespace {
	if b.mount == (perfdata.Namespace{}) {
		b.mount = namespaceOf("/proc/self/ns/mnt")
	}
	return b.mount
}

func (b *builder) count(s pendingSample) error {
	r := b.rec
	if r.Samples == 0 || s.time < r.First {
		r.First = s.time
	}
	r.Last = max(r.Last, s.time)
	r.Samples++
	b.ends[s.reason]++
	if s.gap {
		b.gaps++
	}
	e := &r.Events[s.event]
	e.Samples++
	period := min(s.period, math.MaxInt64-e.Weight)
	if period < s.period {
		b.complete = false
		b.note("the periods of the samples of event %q exceed %d in total: shares by period are wrong", e.Name, int64(math.MaxInt64))
	}
	e.Weight += period
	key := Stack{Thread: s.thread, Event: s.event, Reason: s.reason, node: s.node}
	i, ok := b.stacks[key]
	if !ok {
		i = int32(len(r.Stacks))
		b.stacks[key] = i
		r.Stacks = append(r.Stacks, key)
	}
	r.Stacks[i].Samples++
	r.Stacks[i].Weight += period
	if b.opts.Each == nil {
		return nil
	}
	if b.pending = append(b.pending, s); len(b.pending) < b.batch {
		return nil
	}
	// Each flush costs a pass over symbol tables.
	b.batch = min(2*b.batch, 1<<16)
	return b.flush()
}

// flush names the new places, and calls Options.Each for the pending samples.
func (b *builder) flush() error {
	if b.opts.Each == nil || len(b.pending) == 0 {
		return nil
	}
	b.name()
	r := b.rec
	for i := range b.pending {
		p := &b.pending[i]
		s := Sample{Time: p.time, CPU: p.cpu, HasCPU: p.hasCPU, Period: p.period, Event: &r.Events[p.event],
			Thread: &r.Threads[p.thread], Reason: p.reason, Frames: r.path(p.node)}
		if err := b.opts.Each(&s); err != nil {
			b.pending = nil
			return err
		}
	}
	b.pending = b.pending[:0]
	return nil
}

func (b *builder) finish() {
	if !b.started {
		b.start()
	}
	b.retryPlaces()
	b.name()
	r := b.rec
	r.Machine = b.machine
	r.Header = *b.reader.Header()
	r.Counts = b.reader.Counts()
	b.noteMissing()
	r.Notes, r.Complete = b.notes, b.complete
}

func (b *builder) close() {
	for _, f := range b.fileList {
		if f.object != nil {
			f.object.Close()
		}
	}
	for _, p := range b.processes {
		p.lists.end()
		p.endGo()
	}
}
