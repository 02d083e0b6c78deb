// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"bufio"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/recording"
)

func run(ctx context.Context, opts *Options) (*recording.Recording, error) {
	machine, uname, err := thisMachine()
	if err != nil {
		return nil, err
	}
	if opts.Cgroup != "" {
		opts.Cgroup = groupDirectory(opts.Cgroup)
	}
	e, waits, err := newEvents(opts, machine)
	if err != nil {
		return nil, err
	}
	s, err := newSampler(e, waits, machine)
	if err != nil {
		return nil, err
	}
	defer s.close()
	live := newSystem(opts.Frequency)
	defer live.guard.close()
	opts.Recording.Live = live
	opts.Recording.OffCPU, opts.Recording.Wall = opts.OffCPU || opts.Wall, opts.Wall
	if opts.Recording.MaxThreads == 0 {
		opts.Recording.MaxThreads = maxThreads
	}
	if opts.Command == nil {
		// A process that is named twice would have twice as many samples.
		opts.Targets = slices.Compact(slices.Sorted(slices.Values(opts.Targets)))
		p, err := watch(opts.Targets)
		if err != nil {
			return nil, err
		}
		return record(ctx, s, opts, machine, uname, p)
	}
	c, err := start(opts.Command)
	if err != nil {
		return nil, err
	}
	opts.Targets = []int{opts.Command.Process.Pid}
	return record(ctx, s, opts, machine, uname, c)
}

// maxThreads bounds the memory for recordings of programs that start threads all the time.
const maxThreads = 1 << 12

// targets are what is recorded.
type targets interface {
	release() error // lets a command run
	ended() bool    // reports whether all have exited
	finish() error  // ends a command, and frees resources
}

// thisMachine returns the machine that this program runs on, and its name.
func thisMachine() (*arch.Machine, string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, "", err
	}
	name := unix.ByteSliceToString(u.Machine[:])
	data := elf.ELFDATA2LSB
	if order.Uint16([]byte{0, 1}) == 1 {
		data = elf.ELFDATA2MSB
	}
	m := arch.LookupUname(name, data)
	if m == nil || m.Perf == nil {
		return nil, "", errors.New("perf's registers of this machine are not known: " + name)
	}
	return m, name, nil
}

// source takes samples.
type source interface {
	id() (uint64, error) // of the event
	begin(w *perfdata.Writer, opts *Options, h *perfdata.Header, uname string, id uint64) error
	pump(ctx context.Context, w *perfdata.Writer, out *output, opts *Options, began time.Time, ended func() bool) error
	note() string // about how samples were taken, or ""
}

// open opens the events, or prepares to stop threads if no event is allowed.
func open(s *sampler, opts *Options, m *arch.Machine) (source, error) {
	err := s.open(opts)
	refused := new(forbidden)
	switch {
	case !errors.As(err, refused):
		return s, err
	case opts.Event != "" || opts.OffCPU || opts.Wall:
		return nil, fmt.Errorf("%w; ptrace, which needs no events, can only sample where threads run: without --event, --off-cpu and --wall", err)
	}
	return newStopper(opts, s.event, m, refused.error)
}

// record samples t until the context ends or t has ended. It calls t.release once the events are
// enabled.
func record(ctx context.Context, s *sampler, opts *Options, m *arch.Machine, uname string, t targets) (_ *recording.Recording, err error) {
	defer func() { err = errors.Join(err, t.finish()) }()
	from, err := open(s, opts, m)
	if err != nil {
		return nil, err
	}
	id, err := from.id()
	if err != nil {
		return nil, err
	}
	q := newQueue()
	out := &output{to: q, raw: opts.Raw}
	w := perfdata.NewWriter(out)
	began := time.Now()
	h := header(began)
	var read *recording.Recording
	var readErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer q.abandon()
		r, err := perfdata.NewReader(q)
		if err != nil {
			readErr = err
			return
		}
		if opts.Every > 0 {
			opts.Recording.Cut, opts.Recording.Interval = opts.cut(began), opts.Interval
		}
		read, readErr = recording.Read(r, opts.Recording)
		readErr = errors.Join(readErr, r.Close())
	}()
	before := usages(opts)
	if err = from.begin(w, opts, h, uname, id); err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = t.release()
	}
	if err == nil {
		err = from.pump(ctx, w, out, opts, began, t.ended)
	}
	notes := unsampled(before, opts)
	q.end()
	<-done
	if read != nil {
		read.Notes = append(read.Notes, notes(read)...)
	}
	if text := from.note(); read != nil && text != "" {
		read.Notes = append(read.Notes, text)
	}
	if readErr != nil && errors.Is(err, errAbandoned) {
		err = nil // a consequence of readErr
	}
	return read, errors.Join(err, readErr, out.failed)
}

// open opens the events.
func (s *sampler) open(opts *Options) error {
	switch {
	case opts.All:
		return s.add(-1, 0)
	case opts.Cgroup != "":
		return s.addGroup(opts.Cgroup)
	}
	for _, pid := range opts.Targets {
		// Another target may still run.
		if err := s.addProcess(pid); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	if len(s.fds) == 0 {
		return noProcess(opts.Targets[0])
	}
	return nil
}

// begin enables the events, and describes what exists already. The kernel describes processes that
// start from then on.
func (s *sampler) begin(w *perfdata.Writer, opts *Options, h *perfdata.Header, uname string, id uint64) error {
	if err := s.control(unix.PERF_EVENT_IOC_ENABLE); err != nil {
		return err
	}
	if err := w.Start(h, uname, s.event.name, id, s.event.bytes()); err != nil {
		return err
	}
	if s.first = id; s.waits != nil {
		if err := w.Event(s.waits.name, waitsID, s.waits.bytes()); err != nil {
			return err
		}
	}
	pids, err := selected(opts)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := describe(w, pid, opts.Raw != nil); err != nil {
			return err
		}
	}
	return nil
}

// waitsID is the ID of the event of waits in the stream, which has one ID for each of two events. In the
// kernel's records an event has another ID for each thread and processor. These begin with 1.
const waitsID = 1<<64 - 1

// pump copies records from the kernel's buffers to w.
func (s *sampler) pump(ctx context.Context, w *perfdata.Writer, out *output, opts *Options, began time.Time, ended func() bool) error {
	status, written, rounds, reported, enabled := Status{}, uint64(0), 0, began, time.Now()
	shorten := newShortener(s.event, s.machine)
	threads := newThreads()
	live := opts.Recording.Live.(*system)
	deep, limits, walked := newDeep(s, opts.OffCPU), make(limits), make(map[uint32]walked)
	defer deep.close()
	copyRecord := func(record []byte) error {
		status.Bytes += uint64(len(record))
		switch perfdata.Type(word(record)) {
		case perfdata.TypeSample:
			if !s.isWaitSample(record) && !deep.counts(record) {
				return nil
			}
			status.Samples++
			most := uint64(math.MaxUint64)
			if len(record) >= 32 { // header, IDENTIFIER, IP, PID and TID
				tid := order.Uint32(record[28:])
				threads.sampled[tid] = struct{}{}
				most = limits.of(tid)
			}
			head, copied, filled := shorten.sample(record, most)
			if s.waits != nil && len(head) >= 16 {
				id := s.first
				if s.isWaitSample(head) {
					id = waitsID
				}
				order.PutUint64(head[8:], id)
			}
			return w.Kernel(head, copied, filled)
		case perfdata.TypeExit:
			if len(record) >= 24 { // header, PID, PPID, TID, PTID
				tid := order.Uint32(record[16:])
				threads.ended = append(threads.ended, tid)
				deep.exit(tid)
				delete(limits, tid)
			}
		case perfdata.TypeComm:
			if perfdata.Misc(order.Uint16(record[4:]))&perfdata.MiscCommExec != 0 && len(record) >= 16 { // header, PID, TID
				delete(limits, order.Uint32(record[12:])) // another program has another stack
			}
		case perfdata.TypeLost:
			if len(record) >= 24 {
				status.Lost += order.Uint64(record[16:])
			}
		}
		status.Others += uint64(len(record))
		return w.Kernel(record)
	}
	for last := false; ; {
		left := live.pace.next(time.Now(), interval)
		if opts.Duration > 0 {
			left = max(0, min(left, opts.Duration-time.Since(enabled)))
		}
		if err := s.wait(left); err != nil {
			return err
		}
		if !last && (ctx.Err() != nil || ended() || opts.Duration > 0 && time.Since(enabled) >= opts.Duration) {
			// One more look takes what is in the buffers.
			last = true
			deep.close()
			if err := s.control(unix.PERF_EVENT_IOC_DISABLE); err != nil {
				return err
			}
		}
		for _, r := range s.rings {
			if r == nil {
				continue
			}
			if err := r.drain(copyRecord); err != nil {
				return err
			}
		}
		threads.round(last)
		walked = live.walks.take(walked)
		deep.update(s, walked)
		limits.update(walked)
		if status.Bytes > written {
			// The reader of the stream keeps the newest records until the round after theirs ends, because
			// older ones can be in another buffer.
			written, rounds = status.Bytes, 2
		}
		if rounds > 0 || opts.Every > 0 { // intervals end with a round
			rounds--
			if err := errors.Join(w.Round(), out.Flush()); err != nil {
				return err
			}
		}
		if now := time.Now(); opts.Status != nil && (last || now.Sub(reported) >= 250*time.Millisecond) {
			reported, status.Elapsed, status.Threads, status.Ended = now, now.Sub(began), len(threads.sampled), last
			opts.Status(status)
		}
		if last {
			return nil
		}
	}
}

func (s *sampler) note() string { return "" }

// threads are the IDs of threads that have samples, until they end.
type threads struct {
	sampled       map[uint32]struct{}
	ended, former []uint32 // in this round of looks at the buffers, and in the previous one
}

func newThreads() *threads { return &threads{sampled: make(map[uint32]struct{})} }

// round removes the threads that ended in the previous round, and after the last round all that ended. A
// sample in another buffer can be read one round after the end of its thread.
func (t *threads) round(last bool) {
	for {
		for _, id := range t.former {
			delete(t.sampled, id)
		}
		t.former, t.ended = t.ended, t.former[:0]
		if !last || len(t.former) == 0 {
			return
		}
	}
}

// header describes the recording.
func header(began time.Time) *perfdata.Header {
	h := &perfdata.Header{CommandLine: os.Args}
	h.Hostname, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.OSRelease = unix.ByteSliceToString(u.Release[:])
	}
	if now := now(); now != 0 {
		h.Clock = perfdata.Clock{ID: unix.CLOCK_MONOTONIC, Wall: began, Time: now}
	}
	return h
}

// output writes a recording to the queue, and to another writer if there is one. The failure of
// the other one does not end the recording.
type output struct {
	to     *queue
	raw    io.Writer
	buffer *bufio.Writer
	failed error // of raw
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	if o.raw != nil && o.failed == nil {
		if o.buffer == nil {
			o.buffer = bufio.NewWriterSize(o.raw, 1<<20)
		}
		_, o.failed = o.buffer.Write(b)
	}
	return o.to.Write(b)
}

// Flush hands on what was written.
func (o *output) Flush() error {
	if o.buffer != nil && o.failed == nil {
		o.failed = o.buffer.Flush()
	}
	return o.to.flush()
}
