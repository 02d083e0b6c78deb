// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/unwind"
)

// stopper takes samples without perf events: at each tick it stops the threads that run, one by
// one, copies their registers and stacks, and lets them continue. Threads that wait are not
// stopped.
type stopper struct {
	event   *event
	machine *arch.Machine
	refused error // of perf events; names the policy that forbids them
	period  time.Duration

	processes map[int]*stopped
	before    map[int]bool // children that targets had before the recording
	failed    error        // the first process that could not be traced
	status    Status
	sampled   map[int]struct{} // the threads of status
	sample    perfdata.Sample
	chosen    []int    // buffer
	followed  []uint64 // buffer

	stops           int
	paused, longest time.Duration
	ran             time.Duration // processor time of the threads
}

// stopped is a process whose threads are stopped.
type stopped struct {
	pid     int
	watch   *process.Watch
	threads map[int]*ticked
	names   map[int]string // that were written
	written bool           // the mappings
}

// ticked is a thread that is looked at on each tick.
type ticked struct {
	schedstat, stat string // paths
	ran             uint64 // nanoseconds of processor time
	credit          int64  // of these, that have no sample yet
	seen            bool   // at this tick
}

const (
	// minPeriod bounds the frequency, because each sample stops a thread.
	minPeriod = time.Millisecond

	// ahead is by how much the samples of a thread may exceed its processor time: the kernel
	// counts it at its own ticks, which are up to 10 ms apart.
	ahead = 10 * time.Millisecond

	// searching is the time between looks for new processes.
	searching = 50 * time.Millisecond
)

func newStopper(opts *Options, e *event, m *arch.Machine, refused error) (source, error) {
	e.attr.Bits |= unix.PerfBitExcludeKernel
	if e.attr.Sample_stack_user == 0 {
		e.attr.Sample_stack_user = MaxStackSize
	}
	s := &stopper{event: e, machine: m, refused: refused, period: time.Duration(e.attr.Sample), processes: make(map[int]*stopped), sampled: make(map[int]struct{})}
	if e.attr.Bits&unix.PerfBitFreq != 0 {
		s.period = time.Second / time.Duration(e.attr.Sample)
	}
	s.period = max(s.period, minPeriod)
	if opts.Command != nil {
		return s, nil // it is traced until it is released
	}
	pids, err := selected(opts)
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		s.add(pid)
	}
	if len(s.processes) == 0 {
		s.close()
		if s.failed == nil {
			s.failed = errors.New("no process to stop instead")
		}
		return nil, fmt.Errorf("%w; and ptrace, which needs no events: %w", refused, s.failed)
	}
	s.before = make(map[int]bool)
	for pid := range s.processes {
		for _, child := range children(pid) {
			s.before[child] = true
		}
	}
	return s, nil
}

// add prepares to stop a process.
func (s *stopper) add(pid int) {
	if s.processes[pid] != nil {
		return
	}
	w, err := process.NewWatch(pid, &process.Options{StackLimit: int(s.event.attr.Sample_stack_user), Timeout: 25 * time.Millisecond})
	if err != nil {
		if s.failed == nil && !errors.Is(err, process.ErrNoProcess) {
			s.failed = err
		}
		return
	}
	s.processes[pid] = &stopped{pid: pid, watch: w, threads: make(map[int]*ticked), names: make(map[int]string)}
}

// children returns the IDs of the processes that the threads of a process have started.
func children(pid int) (pids []int) {
	for _, tid := range tasks(pid) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, tid))
		for field := range bytes.FieldsSeq(b) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// search looks for processes that have started.
func (s *stopper) search(opts *Options) {
	if opts.All || opts.Cgroup != "" {
		pids, _ := selected(opts)
		for _, pid := range pids {
			s.add(pid)
		}
		return
	}
	for left := slices.Collect(maps.Keys(s.processes)); len(left) > 0; left = left[1:] {
		for _, child := range children(left[0]) {
			if s.processes[child] == nil && !s.before[child] {
				s.add(child)
				left = append(left, child)
			}
		}
	}
}

func (s *stopper) id() (uint64, error) { return 1, nil }

func (s *stopper) begin(w *perfdata.Writer, _ *Options, h *perfdata.Header, uname string, id uint64) error {
	return w.Start(h, uname, s.event.name, id, s.event.bytes())
}

// pump samples until the end.
func (s *stopper) pump(ctx context.Context, w *perfdata.Writer, out *output, opts *Options, began time.Time, ended func() bool) error {
	defer s.close()
	start := time.Now()
	next, flushed, searched := start, start, start
	if opts.Command != nil {
		s.add(opts.Command.Process.Pid)
	}
	for {
		now := time.Now()
		over := ctx.Err() != nil || ended() || opts.Duration > 0 && now.Sub(start) >= opts.Duration
		if over || now.Sub(flushed) >= interval {
			flushed = now
			s.status.Elapsed, s.status.Threads, s.status.Ended = now.Sub(began), len(s.sampled), over
			if err := errors.Join(w.Round(), out.Flush()); err != nil {
				return err
			}
			if opts.Status != nil {
				opts.Status(s.status)
			}
		}
		if over {
			return nil
		}
		if now.Sub(searched) >= searching {
			searched = now
			s.search(opts)
		}
		for _, p := range s.processes {
			if err := s.tick(w, p, opts); err != nil {
				return err
			}
		}
		if next = next.Add(s.period); time.Until(next) < 0 {
			next = time.Now() // the machine is busy
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(next)):
		}
	}
}

// tick samples the threads of a process that run.
func (s *stopper) tick(w *perfdata.Writer, p *stopped, opts *Options) error {
	if s.choose(w, p); len(s.chosen) == 0 {
		return nil
	}
	p.watch.Select(s.chosen)
	snap, moved, err := p.watch.Snapshot()
	w.Time = now()
	switch {
	case errors.Is(err, process.ErrNoProcess):
		return s.replaced(w, p)
	case err != nil: // the thread has ended, or another program traces it
		if s.failed == nil && !errors.Is(err, process.ErrNoThread) {
			s.failed = err
		}
		return nil
	}
	pauses := p.watch.Pauses()
	s.stops += pauses.Threads
	s.paused += pauses.Total
	s.longest = max(s.longest, pauses.Longest)
	if moved || !p.written {
		p.written = true
		if err := describeMappings(w, p.pid, snap.Mappings, opts.Raw != nil); err != nil {
			return err
		}
	}
	for i := range snap.Threads {
		if err := s.write(w, p, &snap.Threads[i]); err != nil {
			return err
		}
	}
	return nil
}

// choose sets s.chosen to the threads of a process that run and have used processor time that has no
// sample yet.
func (s *stopper) choose(w *perfdata.Writer, p *stopped) {
	s.chosen = s.chosen[:0]
	tids := tasks(p.pid)
	for _, tid := range tids {
		t := p.threads[tid]
		if t == nil {
			task := fmt.Sprintf("/proc/%d/task/%d/", p.pid, tid)
			t = &ticked{schedstat: task + "schedstat", stat: task + "stat"}
			if !p.written {
				t.ran, _ = t.clock()
			}
			p.threads[tid] = t
		}
		t.seen = true
		ran, ok := t.clock()
		switch {
		case ok && ran <= t.ran:
			continue
		case ok:
			s.ran += time.Duration(ran - t.ran)
			t.credit += int64(ran - t.ran)
			t.ran = ran
			if t.credit < -int64(max(ahead, 2*s.period)) {
				continue
			}
		}
		if t.running() {
			s.chosen = append(s.chosen, tid)
			t.credit -= int64(s.period)
		}
	}
	if len(tids) == len(p.threads) {
		for _, t := range p.threads {
			t.seen = false
		}
		return
	}
	w.Time = now()
	for tid, t := range p.threads {
		if !t.seen {
			delete(p.threads, tid)
			delete(p.names, tid)
			delete(s.sampled, tid)
			w.Exit(int32(p.pid), int32(tid))
		}
		t.seen = false
	}
	if len(tids) == 0 {
		s.end(p)
	}
}

// clock returns the nanoseconds for which a thread has run, if the kernel says it.
func (t *ticked) clock() (uint64, bool) {
	var buffer [128]byte
	b := readFile(t.schedstat, buffer[:])
	first, _, _ := bytes.Cut(b, []byte(" "))
	n, err := strconv.ParseUint(string(first), 10, 64)
	return n, err == nil
}

// running reports whether a thread runs, or waits for a processor.
func (t *ticked) running() bool {
	var buffer [512]byte
	b := readFile(t.stat, buffer[:])
	// "TID (name) S …": the name can contain anything.
	i := bytes.LastIndexByte(b, ')')
	return i >= 0 && i+2 < len(b) && b[i+2] == 'R'
}

// readFile reads the beginning of a file of /proc into b.
func readFile(path string, b []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, _ := unix.Read(fd, b)
	return b[:max(n, 0)]
}

// replaced handles the end of the program of a process.
func (s *stopper) replaced(w *perfdata.Writer, p *stopped) error {
	s.end(p)
	if s.add(p.pid); s.processes[p.pid] == nil {
		for tid := range p.threads {
			delete(s.sampled, tid)
			w.Exit(int32(p.pid), int32(tid))
		}
		return nil
	}
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.pid))
	return w.Exec(&perfdata.Comm{PID: int32(p.pid), TID: int32(p.pid), Name: bytes.TrimSuffix(b, []byte("\n"))})
}

// end forgets a process.
func (s *stopper) end(p *stopped) {
	p.watch.Close()
	delete(s.processes, p.pid)
}

func (s *stopper) close() {
	for _, p := range s.processes {
		s.end(p)
	}
}

// write writes the sample of a thread, and before it the name of the thread if that is new.
func (s *stopper) write(w *perfdata.Writer, p *stopped, t *snapshot.Thread) error {
	sp, ok := t.Registers.Get(uint64(s.machine.StackPointer))
	if !ok {
		return nil // it has ended, or could not be stopped
	}
	if len(p.names) == 0 && t.ID != p.pid {
		name := string(bytes.TrimSpace(readFile(fmt.Sprintf("/proc/%d/comm", p.pid), make([]byte, 64))))
		if err := s.name(w, p, p.pid, name); err != nil {
			return err
		}
	}
	if err := s.name(w, p, t.ID, t.Name); err != nil {
		return err
	}
	m := p.watch.Target().Machine
	if m.Perf == nil {
		return nil
	}
	s.sample.IP = t.Registers.PC
	s.sample.Period = uint64(s.period)
	s.sample.UserRegs.ABI = perfdata.ABI64
	if m.Class == elf.ELFCLASS32 {
		s.sample.UserRegs.ABI = perfdata.ABI32
	}
	s.sample.UserRegs.Values = perfRegisters(s.sample.UserRegs.Values[:0], s.event.attr.Sample_regs_user, m, &t.Registers)
	s.sample.Callchain = s.chain(p, t)
	s.sample.UserStack = nil
	if skip := sp - t.StackAddress; skip < uint64(len(t.Stack)) {
		copied := t.Stack[skip:]
		s.sample.UserStack = copied[:min(len(copied), int(s.event.attr.Sample_stack_user))&^7]
	}
	s.status.Samples++
	s.sampled[t.ID] = struct{}{}
	s.status.Bytes += uint64(len(s.sample.UserStack))
	return w.Sample(&perfdata.SampleID{PID: int32(p.pid), TID: int32(t.ID), Time: w.Time, ID: 1}, &s.sample)
}

func (s *stopper) name(w *perfdata.Writer, p *stopped, tid int, name string) error {
	if known, ok := p.names[tid]; name == "" || ok && known == name {
		return nil
	}
	p.names[tid] = name
	return w.Comm(&perfdata.Comm{PID: int32(p.pid), TID: int32(tid), Name: []byte(name)})
}

// perfRegisters appends the registers of perf's mask.
func perfRegisters(values []uint64, mask uint64, m *arch.Machine, r *unwind.Registers) []uint64 {
	for i := 0; mask>>i != 0; i++ {
		if mask>>i&1 == 0 {
			continue
		}
		v := uint64(0)
		switch {
		case i == m.Perf.PC:
			v = r.PC
		case i < len(m.Perf.Columns) && m.Perf.Columns[i] != arch.NoColumn:
			v, _ = r.Get(uint64(m.Perf.Columns[i]))
		}
		values = append(values, v)
	}
	return values
}

// note says what it costs to stop threads.
func (s *stopper) note() string {
	text := fmt.Sprintf("%v; ptrace stopped threads %d times instead", s.refused, s.stops)
	if s.stops > 0 {
		text += fmt.Sprintf(", for %v on average and at most %v", (s.paused / time.Duration(s.stops)).Round(time.Microsecond), s.longest.Round(time.Microsecond))
		if s.ran > 0 {
			text += fmt.Sprintf(", %.1f%% of the time that they ran", 100*s.paused.Seconds()/s.ran.Seconds())
		}
	}
	text += fmt.Sprintf("; frames of the kernel are missing, and processes that live less than %v can be", searching)
	if s.failed != nil {
		text += fmt.Sprintf("; not all could be stopped: %v", s.failed)
	}
	return text
}
