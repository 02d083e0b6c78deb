// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/perf"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// process is a process of the recording.
type process struct {
	pid   int32
	space *space
	name  string // of its first thread
	names int    // how often the name has changed

	threads      int // known threads that have not ended
	mount        perfdata.Namespace
	mountChecked bool // the running process was asked for its mount namespace
	perfMap      *perfMap
	lists        *lists        // nil before the first sample
	goMemory     *golang       // nil if there is none: see golang
	goOpened     bool          // golang was called
	labels       *goLabels     // nil before the first sample in Go code
	machine      *arch.Machine // of the last sample with registers
}

// mountOf returns the mount namespace of a process, zero if it is that of this process or
// unknown. perf records it with the option --namespaces. Without it, mountOf asks the
// running process with this ID, if it has the same name or the recording is live.
func (b *builder) mountOf(p *process) perfdata.Namespace {
	if p.mountChecked || p.mount != (perfdata.Namespace{}) {
		return p.mount
	}
	p.mountChecked = true
	proc := "/proc/" + strconv.Itoa(int(p.pid))
	comm, err := os.ReadFile(proc + "/comm")
	unnamed := p.name == "" && b.opts.Live != nil // the name may follow
	if err != nil || !unnamed && strings.TrimSuffix(string(comm), "\n") != p.name {
		return p.mount
	}
	if mount := namespaceOf(proc + "/ns/mnt"); mount != b.ownMount() {
		p.mount = mount
	}
	return p.mount
}

// writer describes a process as the writer of jitdumps and perf maps. It fails if the
// mount namespace cannot be reached any more.
func (b *builder) writer(pid int32, mount perfdata.Namespace) (*snapshot.Process, error) {
	id := int(pid)
	if root := b.opts.Search.Root; root != "" {
		return &snapshot.Process{Root: root, IDs: []int{id}}, nil
	}
	root, err := b.root(pid, mount)
	if err != nil {
		return nil, err
	}
	// perf does not record the user of a process. Like perf, accept files of the user that
	// reads the recording.
	p := &snapshot.Process{Root: cmp.Or(root, "/"), Users: []uint32{uint32(os.Geteuid())}}
	if now, err := snapshot.RunningProcess(id); err == nil {
		p.IDs, p.Users = now.IDs, append(p.Users, now.Users...)
	}
	if !slices.Contains(p.IDs, id) {
		p.IDs = append(p.IDs, id)
	}
	return p, nil
}

// thread is a thread of the recording.
type thread struct {
	tid     int32
	process *process
	name    string

	version uint32 // of the generated code when trail was walked

	label    int32  // index into Recording.Threads; -1 if it must be looked up
	goLabels string // of the goroutine of the last sample, as in Thread
	m        uint64 // Go's structure for the thread, 0 if unknown
	calls    *goCalls
	names    int // process.names when label was looked up

	waiting  pendingSample // if waits is true, the sample of the switch away from the thread
	waits    bool
	runnable bool // it was preempted then, or yielded
	exited   bool

	trail  unwind.Trail
	places []int32 // of the trail's frames
	gap    int     // the number, from the outermost frame, of the innermost frame with a Gap; 0 for none
}

// process returns a process, a new one for an unknown ID.
func (b *builder) process(pid int32) *process {
	p := b.processes[pid]
	if p == nil {
		p = &process{pid: pid, space: newSpace()}
		p.perfMap = b.newPerfMap(p, nil, 0)
		b.processes[pid] = p
	}
	return p
}

// thread returns a thread, a new one for an unknown ID.
func (b *builder) thread(pid, tid int32) *thread {
	t := b.threads[tid]
	if t == nil || t.process.pid != pid {
		p := b.process(pid)
		t = &thread{tid: tid, process: p, name: p.name, label: -1}
		b.threads[tid] = t
		p.threads++
		p.perfMap.ended = 0 // this thread was not known
	}
	return t
}

// otherProcesses is the name of processes and threads beyond the limit: see Options.MaxThreads.
const otherProcesses = "[others]"

// label returns the index of the Thread with the current names of t.
func (b *builder) label(t *thread) int32 {
	p := t.process
	if t.label >= 0 && t.names == p.names && b.rec.Threads[t.label].labels == t.goLabels {
		return t.label
	}
	key := t.labels()
	n, ok := b.labels[key]
	limit := b.opts.MaxThreads
	if !ok && key.labels != "" && limit > 0 && b.labelled >= limit/2 {
		b.note("goroutines have more than %d different labels: further ones are left out", limit/2)
		key.labels = "" // other threads keep their names
		n, ok = b.labels[key]
	}
	for step := 1; !ok && limit > 0 && step <= 3 && len(b.rec.Threads) >= step*limit; step++ {
		switch step {
		case 1:
			key.PID, key.TID, key.labels = 0, 0, ""
		case 2:
			b.note("threads have more than %d different names: further ones have that of their process", limit)
			key.Name = key.Process
		case 3:
			b.note("processes have more than %d different names: further ones are %s", limit, otherProcesses)
			key.Process, key.Name = otherProcesses, otherProcesses
		}
		n, ok = b.labels[key]
	}
	if !ok {
		if key.labels != "" {
			b.labelled++
		}
		n = int32(len(b.rec.Threads))
		b.labels[key] = n
		b.rec.Threads = append(b.rec.Threads, key)
	}
	t.label, t.names = n, p.names
	return n
}

// labels returns the Thread with the current names of t.
func (t *thread) labels() Thread {
	l := Thread{PID: t.process.pid, TID: t.tid, Process: t.process.name, Name: t.name, labels: t.goLabels}
	if l.Name == "" {
		l.Name = l.Process
	}
	return l
}

func (b *builder) record(r *perfdata.Record) error {
	b.moves += movesWithRecord
	switch body := r.Body.(type) {
	case *perfdata.Sample:
		if !b.started {
			b.start()
		}
		return b.sample(r, body)
	case *perfdata.Mmap:
		b.mmap(r, body)
	case *perfdata.Comm:
		b.comm(r, body)
	case *perfdata.Task:
		b.task(r, body)
	case *perfdata.Namespaces:
		if len(body.Links) > perfdata.NamespaceMount {
			p := b.process(body.PID)
			p.mount = body.Links[perfdata.NamespaceMount]
		}
	case *perfdata.Deferred:
		return b.deferredChain(r, body)
	case *perfdata.Ksymbol:
		b.kernel.ksymbol(body)
	}
	if r.Type == perfdata.TypeSwitch || r.Type == perfdata.TypeSwitchCPUWide {
		return b.switched(r)
	}
	return nil
}

// comm sets the name of a thread. A process that executes a program gets an empty address
// space.
func (b *builder) comm(r *perfdata.Record, c *perfdata.Comm) {
	t := b.thread(c.PID, c.TID)
	t.name, t.label = string(c.Name), -1
	p := t.process
	if c.TID == c.PID {
		p.name = t.name
		p.names++
	}
	if r.Misc&perfdata.MiscCommExec != 0 {
		t.m, t.goLabels, t.calls = 0, "", nil
		t.trail, t.places, t.gap = unwind.Trail{}, nil, 0 // they can contain rules of the files
		p.perfMap.ended = r.ID.Time
		b.leave(p)
		p.space, p.perfMap, p.mountChecked = newSpace(), b.newPerfMap(p, nil, r.ID.Time), false
	}
}

// leave ends the use of a process's space.
func (b *builder) leave(p *process) {
	if b.leaving != nil {
		b.leaving(p)
	}
	p.lists.end()
	p.endGo()
	p.lists = nil
	if p.space.users--; p.space.users == 0 {
		b.mapped -= p.space.size()
		b.walk.forget(p.space)
		b.endedSpaces++
	}
}

const (
	// maxMapped bounds the mappings of all spaces: forks can multiply those of the
	// recording.
	maxMapped = 1 << 20
	// maxMappings bounds those of one space. It is the kernel's default vm.max_map_count.
	maxMappings = 1 << 16

	// A change of a space moves or copies mappings. These bound how many: at the start,
	// and the additional ones of each record.
	firstMoves      = 1 << 27
	movesWithRecord = 1 << 9
	// smallMove is always allowed: when one process has used up the moves, others keep their mappings.
	smallMove = 1 << 12
)

// task starts or ends a thread.
func (b *builder) task(r *perfdata.Record, task *perfdata.Task) {
	if r.Type == perfdata.TypeExit {
		if t := b.threads[task.TID]; t != nil {
			b.ended(t)
			t.exited, t.waits = true, false
			t.trail, t.places, t.calls = unwind.Trail{}, nil, nil
			if p := t.process; p.threads > 0 {
				if p.threads--; p.threads == 0 {
					p.perfMap.ended = task.Time
					b.leave(p)
					p.space = newSpace()
				}
			}
		}
		return
	}
	parent := b.thread(task.ParentPID, task.ParentTID)
	t := &thread{tid: task.TID, name: parent.name, label: -1}
	b.threads[task.TID] = t
	if task.PID == task.ParentPID {
		t.process = parent.process
		t.process.threads++
		return
	}
	from := parent.process
	p := &process{pid: task.PID, name: parent.name, mount: from.mount, threads: 1}
	p.perfMap = b.newPerfMap(p, nil, 0)
	if old := b.processes[task.PID]; old != nil {
		if old.perfMap.ended == 0 {
			old.perfMap.ended = task.Time
		}
		b.leave(old)
		old.space = newSpace() // a thread of it can still have a sample if records were lost
	}
	if r.Misc&perfdata.MiscForkExec != 0 {
		// perf made this record from /proc: the mappings of the process follow.
		p.space = newSpace()
	} else {
		p.space = from.space
		p.space.users++
		p.perfMap = b.newPerfMap(p, from.perfMap, task.Time)
	}
	b.processes[task.PID] = p
	t.process = p
}

// maxEnded is how many threads that have ended are kept, because samples of them may still
// follow.
const maxEnded = 1 << 12

// ended forgets the thread that ended maxEnded threads before t.
func (b *builder) ended(t *thread) {
	if len(b.endedThreads) < maxEnded {
		b.endedThreads = append(b.endedThreads, t)
		return
	}
	old := b.endedThreads[b.nextEnded]
	b.endedThreads[b.nextEnded] = t
	b.nextEnded = (b.nextEnded + 1) % maxEnded
	// A FORK record may have reused its ID, and a deferred record may still come.
	if b.threads[old.tid] == old && len(b.deferred[old]) == 0 {
		delete(b.threads, old.tid)
	}
	if p := old.process; p.threads == 0 && b.processes[p.pid] == p {
		p.lists.end() // of a sample after its end
		p.endGo()
		delete(b.processes, p.pid)
	}
}

// change changes the space of one process, from an address on. If that exceeds a limit,
// change drops all mappings of the space, because a partial list would name wrong files.
func (b *builder) change(p *process, from uint64, do func(*space)) {
	s := p.space
	moves, reason := s.moves(from), ""
	b.moves -= moves
	switch {
	case b.moves < 0 && moves > smallMove:
		reason = "its mappings change too often"
	case s.size() >= maxMappings:
		reason = fmt.Sprintf("it has more than %d mappings", maxMappings)
	case s.users > 1 && b.mapped+s.size() > maxMapped:
		reason = fmt.Sprintf("forked processes have more than %d mappings", maxMapped)
	}
	b.moves = max(b.moves, 0)
	if reason != "" {
		b.note("process %d: %s, so earlier ones are dropped, and frames in them have no name", p.pid, reason)
		b.complete = false
		b.leave(p)
		s = newSpace()
	} else {
		if s.users == 1 {
			b.mapped -= s.size()
		}
		s = s.mutable()
	}
	p.space = s
	do(s)
	s.changed()
	b.mapped += s.size()
}

func (b *builder) mmap(r *perfdata.Record, m *perfdata.Mmap) {
	mode := r.Misc.Mode()
	if m.PID == -1 || mode == perfdata.ModeKernel {
		b.kernel.mmap(m)
		return
	}
	if mode == perfdata.ModeGuestKernel || mode == perfdata.ModeGuestUser {
		return
	}
	if r.Misc&perfdata.MiscProcMapParseTimeout != 0 {
		b.complete = false
		b.note("perf stopped reading the mappings of process %d after a timeout: some are unknown (use perf record --proc-map-timeout)", m.PID)
	}
	end := m.Start + m.Length
	if end <= m.Start {
		return
	}
	p := b.process(m.PID)
	if perf.IsMarker(m.Path) {
		b.mapJitdump(p, m)
		return
	}
	executable := m.Protection&protExec != 0
	if !executable && (!isFile(m.Path) || !p.space.overlaps(m.Start, end)) {
		// Memory without a file can contain code while it is not executable: a JIT
		// compiler writes it.
		return
	}
	var file *file
	if isFile(m.Path) {
		file = b.file(p, m)
	}
	switch {
	case p.space.holds(m.Start, end, file, m.Offset):
		// Only the protection was changed.
	case executable:
		b.change(p, m.Start, func(s *space) {
			module := &b.memory
			if file != nil {
				module = &newMapped(file, m.Start, end, m.Offset).Module
			}
			s.modules.Add(m.Start, end, module)
		})
	default:
		b.change(p, m.Start, func(s *space) { s.modules.Remove(m.Start, end) })
	}
}

const protExec = 4 // PROT_EXEC

func (b *builder) file(p *process, m *perfdata.Mmap) *file {
	key := fileKey{path: string(m.Path), mount: b.mountOf(p)}
	if len(m.BuildID) > 0 && len(m.BuildID) <= 64 {
		key.buildID = hex.EncodeToString(m.BuildID)
	} else {
		key.inode = inode{m.Major, m.Minor, m.Inode, m.InodeGeneration}
	}
	f := b.files[key]
	if f == nil {
		f = &file{fileKey: key, builder: b, pid: m.PID}
		b.files[key] = f
		b.fileList = append(b.fileList, f)
	}
	b.mmaps++
	f.latest = b.mmaps
	return f
}

func (b *builder) mapJitdump(p *process, m *perfdata.Mmap) {
	key := fileKey{path: string(m.Path), inode: inode{m.Major, m.Minor, m.Inode, m.InodeGeneration}, mount: b.mountOf(p)}
	d := b.dumps[key]
	dumps := p.space.code.dumps
	switch {
	case d != nil && slices.Contains(dumps, d):
		return
	case len(dumps) >= maxJitdumps:
		b.note("a process mapped more than %d jitdumps: the others are not read", maxJitdumps)
		b.complete = false
		return
	case d == nil:
		d = &jitdump{fileKey: key, builder: b, pid: p.pid}
		b.dumps[key] = d
	}
	b.change(p, math.MaxUint64, func(s *space) {
		s.code.dumps = append(s.code.dumps, d)
	})
}
