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
	names int    // how often that has changed

	// threads is how many of its threads are known and have not ended.
	threads int
	mount   perfdata.Namespace
	asked   bool     // the process that lives was asked for its mount namespace
	named   *perfMap // the perf map that it may write
}

// mountOf returns the mount namespace of a process, zero where it is that of this
// process or is not known. perf records it where it is told to (--namespaces); else
// the process tells that still has the number and the name.
func (b *builder) mountOf(p *process) perfdata.Namespace {
	if p.asked || p.mount != (perfdata.Namespace{}) {
		return p.mount
	}
	p.asked = true
	proc := "/proc/" + strconv.Itoa(int(p.pid))
	if comm, err := os.ReadFile(proc + "/comm"); err != nil || strings.TrimSuffix(string(comm), "\n") != p.name {
		return p.mount
	}
	if mount := namespaceOf(proc + "/ns/mnt"); mount != b.ownMount() {
		p.mount = mount
	}
	return p.mount
}

// writer returns what is known of a process as the one that wrote files of its
// generated code. The error is of a namespace that is not to be had any more.
func (b *builder) writer(pid int32, mount perfdata.Namespace) (*snapshot.Process, error) {
	guess := []int{int(pid)}
	if root := b.opts.Search.Root; root != "" {
		return &snapshot.Process{Root: root, IDs: guess}, nil
	}
	root, err := b.root(pid, mount)
	if err != nil {
		return nil, err
	}
	// perf does not record whose a process was. Where it has ended, its files are
	// taken of those of whom perf takes them: the one who reads the recording.
	who := &snapshot.Process{Root: cmp.Or(root, "/"), Users: []uint32{uint32(os.Geteuid())}}
	if now, err := snapshot.RunningProcess(int(pid)); err == nil {
		who.IDs, who.Users = now.IDs, append(who.Users, now.Users...)
	}
	if !slices.Contains(who.IDs, guess[0]) {
		who.IDs = append(who.IDs, guess...)
	}
	return who, nil
}

// thread is a thread of the recording.
type thread struct {
	tid     int32
	process *process
	name    string

	label int32 // in Recording.Threads, -1 where it is to be made
	names int   // of the process, when label was made

	trail   unwind.Trail
	numbers []int32 // of the trail's frames
	gap     int     // of these, counted from the outermost, the first with a Gap; 0 for none
}

// process returns a process, which it makes where it is not known.
func (b *builder) process(pid int32) *process {
	p := b.processes[pid]
	if p == nil {
		p = &process{pid: pid, space: newSpace()}
		p.named = b.newPerfMap(p, nil, 0)
		b.processes[pid] = p
	}
	return p
}

// thread returns a thread, which it makes where it is not known.
func (b *builder) thread(pid, tid int32) *thread {
	t := b.threads[tid]
	if t == nil || t.process.pid != pid {
		p := b.process(pid)
		t = &thread{tid: tid, process: p, name: p.name, label: -1}
		b.threads[tid] = t
		p.threads++
	}
	return t
}

// record takes in a record.
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
	return nil
}

// comm gives a thread a name, and a process that executes a program an empty
// address space.
func (b *builder) comm(r *perfdata.Record, c *perfdata.Comm) {
	t := b.thread(c.PID, c.TID)
	t.name, t.label = string(c.Name), -1
	p := t.process
	if c.TID == c.PID {
		p.name = t.name
		p.names++
	}
	if r.Misc&perfdata.MiscCommExec != 0 {
		b.leave(p)
		p.space, p.named, p.asked = newSpace(), b.newPerfMap(p, nil, r.ID.Time), false
	}
}

// leave takes the space from a process.
func (b *builder) leave(p *process) {
	if b.leaving != nil {
		b.leaving(p)
	}
	if p.space.users--; p.space.users == 0 {
		b.mapped -= len(p.space.mappings)
	}
}

const (
	// maxMapped bounds the mappings of all spaces together, which forks could make
	// far more of than the recording has.
	maxMapped = 1 << 20
	// maxMappings bounds those of one space: vm.max_map_count as the kernel has it
	// of its own.
	maxMappings = 1 << 16

	// A change of a space moves its mappings, or copies them. How many may be so is
	// bounded: for a start, and for each record.
	firstMoves      = 1 << 27
	movesWithRecord = 1 << 9
)

// task begins or ends a thread.
func (b *builder) task(r *perfdata.Record, task *perfdata.Task) {
	if r.Type == perfdata.TypeExit {
		// Samples of it may still come. Its ID may be another thread's later, which
		// a FORK then tells.
		if t := b.threads[task.TID]; t != nil {
			t.trail, t.numbers = unwind.Trail{}, nil
			if p := t.process; p.threads > 0 {
				if p.threads--; p.threads == 0 {
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
	p.named = b.newPerfMap(p, nil, 0)
	if old := b.processes[task.PID]; old != nil {
		b.leave(old)
	}
	if r.Misc&perfdata.MiscForkExec != 0 {
		// perf has made the record up from /proc: what the process has mapped follows.
		p.space = newSpace()
	} else {
		p.space = from.space
		p.space.users++
		p.named = b.newPerfMap(p, from.named, task.Time)
	}
	b.processes[task.PID] = p
	t.process = p
}

// change makes a change of a process's own to its space, from an address on.
// Where there is no room for what is mapped, nothing is known of it any more:
// what is left as it was could be wrong.
func (b *builder) change(p *process, from uint64, do func(*space)) {
	s := p.space
	b.moves -= s.moves(from)
	why := ""
	switch {
	case b.moves < 0:
		why = "mappings change too often"
		b.moves = 0
	case len(s.mappings) >= maxMappings:
		why = fmt.Sprintf("a process has more than %d mappings", maxMappings)
	case s.users > 1 && b.mapped+len(s.mappings) > maxMapped:
		why = fmt.Sprintf("there are more than %d mappings of processes that were forked", maxMapped)
	}
	if why != "" {
		b.note("%s: what they had mapped until then is not known", why)
		b.complete = false
		b.leave(p)
		s = newSpace()
	} else {
		if s.users == 1 {
			b.mapped -= len(s.mappings)
		}
		s = s.mutable()
	}
	p.space = s
	do(s)
	b.mapped += len(s.mappings)
}

// mmap takes in a mapping.
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
		b.note("perf gave up reading what process %d had mapped before it was recorded: the rest is not known (perf record --proc-map-timeout)", m.PID)
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
	n := mapping{start: m.Start, end: end, offset: m.Offset}
	executable := m.Protection&protExec != 0
	if !executable && (!isFile(m.Path) || !p.space.overlaps(n.start, n.end)) {
		// Memory without a file that cannot be executed any more, or cannot yet,
		// may hold code all the same: a JIT compiler writes it.
		return
	}
	if isFile(m.Path) {
		n.file = b.file(p, m)
	}
	switch {
	case p.space.holds(n):
		// The same file in the same place: only its protection was changed.
	case executable:
		b.change(p, n.start, func(s *space) { s.add(n) })
	default:
		b.change(p, n.start, func(s *space) { s.remove(n.start, n.end) })
	}
}

const protExec = 4 // PROT_EXEC

// file returns the file of a mapping.
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
	return f
}

// mapJitdump makes a jitdump known to the process that maps it.
func (b *builder) mapJitdump(p *process, m *perfdata.Mmap) {
	key := fileKey{path: string(m.Path), inode: inode{m.Major, m.Minor, m.Inode, m.InodeGeneration}, mount: b.mountOf(p)}
	d := b.dumps[key]
	dumps := p.space.code.dumps
	switch {
	case d != nil && slices.Contains(dumps, d):
		return
	case len(dumps) >= maxJitdumps:
		b.note("a process has mapped more than %d jitdumps: the code of the others is not known", maxJitdumps)
		b.complete = false
		return
	case d == nil:
		d = &jitdump{fileKey: key, builder: b, pid: p.pid}
		b.dumps[key] = d
	}
	b.change(p, math.MaxUint64, func(s *space) {
		s.code.dumps = append(s.code.dumps, d)
		s.changed()
	})
}
