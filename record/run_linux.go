// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"bufio"
	"context"
	"debug/elf"
	"errors"
	"io"
	"os"
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
	e, err := newEvent(opts, machine)
	if err != nil {
		return nil, err
	}
	s, err := newSampler(e)
	if err != nil {
		return nil, err
	}
	defer s.close()
	opts.Recording.Waits = opts.Waits
	if opts.Recording.MaxThreads == 0 {
		opts.Recording.MaxThreads = maxThreads
	}
	if opts.Command != nil {
		ended, release, err := start(opts.Command)
		if err != nil {
			return nil, err
		}
		opts = &Options{Targets: []int{opts.Command.Process.Pid}, Raw: opts.Raw, Status: opts.Status, Recording: opts.Recording}
		return s.record(ctx, opts, uname, release, ended)
	}
	return s.record(ctx, opts, uname, func() error { return nil }, allEnded(opts.Targets))
}

// maxThreads bounds the memory for recordings of programs that start threads all the time.
const maxThreads = 1 << 12

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

// record samples. It calls release once the events are enabled, and ends with the context, or when
// ended says so.
func (s *sampler) record(ctx context.Context, opts *Options, uname string, release func() error, ended func() bool) (*recording.Recording, error) {
	fail := func(err error) (*recording.Recording, error) { return nil, errors.Join(err, release()) }
	pids, err := running(opts)
	if err != nil {
		return fail(err)
	}
	switch {
	case opts.All:
		err = s.add(-1, 0)
	case opts.Cgroup != "":
		err = s.addGroup(opts.Cgroup)
	default:
		for _, pid := range pids {
			if err = s.addProcess(pid); err != nil {
				break
			}
		}
	}
	if err != nil {
		return fail(err)
	}
	id, err := s.id()
	if err != nil {
		return fail(err)
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
		read, readErr = recording.Read(r, opts.Recording)
		readErr = errors.Join(readErr, r.Close())
	}()
	err = errors.Join(s.control(unix.PERF_EVENT_IOC_ENABLE), w.Start(h, uname, s.event.name, id, s.event.bytes()))
	for _, pid := range pids {
		err = errors.Join(err, describe(w, pid, opts.Raw != nil))
	}
	if err = errors.Join(err, out.Flush(), release()); err == nil {
		err = s.pump(ctx, w, out, opts, began, ended)
	}
	q.end()
	<-done
	return read, errors.Join(err, readErr, out.failed)
}

// pump copies records from the kernel's buffers to w.
func (s *sampler) pump(ctx context.Context, w *perfdata.Writer, out *output, opts *Options, began time.Time, ended func() bool) error {
	status, written, told := Status{}, uint64(0), began
	shorten := newShortener(s.event)
	copyRecord := func(record []byte) error {
		switch perfdata.Type(word(record)) {
		case perfdata.TypeSample:
			status.Samples++
			record = shorten.sample(record)
		case perfdata.TypeLost:
			if len(record) >= 24 {
				status.Lost += order.Uint64(record[16:])
			}
		}
		status.Bytes += uint64(len(record))
		return w.Kernel(record)
	}
	for last := false; ; {
		if err := s.wait(); err != nil {
			return err
		}
		if !last && (ctx.Err() != nil || ended()) {
			// One more look takes what is in the buffers.
			last = true
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
		if status.Bytes > written {
			written = status.Bytes
			if err := errors.Join(w.Round(), out.Flush()); err != nil {
				return err
			}
		}
		if now := time.Now(); opts.Status != nil && (last || now.Sub(told) >= 250*time.Millisecond) {
			told, status.Elapsed = now, now.Sub(began)
			opts.Status(status)
		}
		if last {
			return nil
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
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		h.Clock = perfdata.Clock{ID: unix.CLOCK_MONOTONIC, Wall: began, Time: uint64(now.Nano())}
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
