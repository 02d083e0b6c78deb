// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// Printer prints the entries of a listing. A printer is used by one goroutine at a time.
type Printer interface {
	// Each kind of entry has a method. Fault prints entries that cannot be decoded. The
	// result fault is an error inside of the entry, which the printer printed in its place.
	// err is the error of w.
	Function(w io.Writer, f *Function) (fault, err error)
	CIE(w io.Writer, cie *cfi.CIE) (fault, err error)
	Terminator(w io.Writer, s *cfi.Section, offset uint64) error
	Fault(w io.Writer, s *cfi.Section, offset uint64, fault error) error
}

// Summary counts printed entries.
type Summary struct {
	Functions int
	Faults    int   // malformed entries
	First     error // of the first malformed entry
}

const (
	batch       = 128     // entries that a goroutine takes at once
	maxBuffered = 1 << 20 // bytes that it keeps until previous batches are written
)

// Write prints all entries to w in order. It calls newPrinter once for each goroutine that
// prints. These goroutines call progress, if it is not nil, with the number of finished
// entries. The error is that of w, or wraps object.ErrFault if a mapped file became unreadable.
func (l *Listing) Write(w io.Writer, newPrinter func() Printer, progress func(done int)) (Summary, error) {
	x := &writing{l: l, out: w, progress: progress}
	x.free.L = &x.mu
	batches := (len(l.entries) + batch - 1) / batch
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), batches) {
		wait.Go(func() {
			p := newPrinter()
			for {
				n := int(x.next.Add(1)) - 1
				if n >= batches || !x.batch(p, n) {
					return
				}
			}
		})
	}
	wait.Wait()
	return x.summary, x.err
}

// writing is a call of Write. Goroutines take batches in order, so one of them always has the
// batch that may write.
type writing struct {
	l        *Listing
	out      io.Writer
	progress func(int)
	next     atomic.Int64 // the next batch to take
	done     atomic.Int64 // finished entries

	mu      sync.Mutex
	free    sync.Cond
	turn    int // the batch that may write
	err     error
	summary Summary
}

// batch prints batch n. It reports false after an error.
func (x *writing) batch(p Printer, n int) bool {
	t := &turnWriter{x: x, n: n, buf: buffers.Get().(*[]byte)}
	defer func() {
		*t.buf = (*t.buf)[:0]
		buffers.Put(t.buf)
	}()
	entries := x.l.entries[n*batch : min((n+1)*batch, len(x.l.entries))]
	var s Summary
	err := object.Guard(func() error {
		for i := range entries {
			if err := x.l.print(p, t, &entries[i], &s); err != nil {
				return err
			}
		}
		return nil
	})
	if x.progress != nil {
		x.progress(int(x.done.Add(int64(len(entries)))))
	}
	return t.end(s, err)
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// turnWriter buffers the text of batch n until the previous ones are written.
type turnWriter struct {
	x   *writing
	n   int
	buf *[]byte
}

func (t *turnWriter) Write(p []byte) (int, error) {
	*t.buf = append(*t.buf, p...)
	if len(*t.buf) < maxBuffered {
		return len(p), nil
	}
	return len(p), t.flush()
}

// flush waits for the batch's turn and writes the buffer.
func (t *turnWriter) flush() error {
	x := t.x
	x.mu.Lock()
	for x.turn != t.n && x.err == nil {
		x.free.Wait()
	}
	err := x.err
	x.mu.Unlock()
	if err == nil && len(*t.buf) > 0 {
		_, err = x.out.Write(*t.buf)
	}
	*t.buf = (*t.buf)[:0]
	return err
}

// end writes the buffer and gives the turn to the next batch.
func (t *turnWriter) end(s Summary, err error) bool {
	if flushed := t.flush(); err == nil {
		err = flushed
	}
	x := t.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil {
		x.err = err
		x.turn++
		if x.summary.First == nil {
			x.summary.First = s.First
		}
		x.summary.Functions += s.Functions
		x.summary.Faults += s.Faults
	}
	x.free.Broadcast()
	return x.err == nil
}

func (l *Listing) print(p Printer, w io.Writer, e *listed, s *Summary) error {
	var fault, err error
	switch e.kind {
	case fdeEntry:
		var fde cfi.FDE
		if fault = e.section.FDEAt(e.offset, &fde); fault != nil {
			err = p.Fault(w, e.section, e.offset, fault)
			break
		}
		f := l.function(e, &fde)
		s.Functions++
		fault, err = p.Function(w, &f)
	case cieEntry:
		var cie *cfi.CIE
		if cie, fault = e.section.CIEAt(e.offset); fault != nil {
			err = p.Fault(w, e.section, e.offset, fault)
			break
		}
		fault, err = p.CIE(w, cie)
	case terminatorEntry:
		err = p.Terminator(w, e.section, e.offset)
	case faultyEntry:
		fault = e.fault()
		err = p.Fault(w, e.section, e.offset, fault)
	}
	if fault != nil {
		s.Faults++
		if s.First == nil {
			s.First = fault
		}
	}
	return err
}
