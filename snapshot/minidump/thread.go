// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package minidump

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
)

const (
	threadSize    = 48
	exceptionSize = 168
	nameSize      = 12
	maxThreads    = 1 << 22 // the kernel's PID_MAX_LIMIT
	fewThreads    = 1 << 12 // read from any file, even if it is truncated before their contexts
	maxErrors     = 16      // of one list
	maxThreadName = 512     // bytes; the kernel's names have 15 characters
)

// threadLimit returns the maximum number of threads: for how many the file can store contexts.
// Without that limit, all threads of a small file could share one context.
func (d *dump) threadLimit() uint64 {
	info, err := d.File.Stat()
	if err != nil {
		return fewThreads
	}
	stored := uint64(untrusted.Stored(d.File, info))
	return min(max(stored/(threadSize+d.cpu.size), fewThreads), maxThreads)
}

// errorList joins the first errors of a list's entries.
type errorList []error

func (l *errorList) add(err error) {
	if err != nil && len(*l) < maxErrors {
		*l = append(*l, err)
	}
}

// readThreads reads MINIDUMP_THREAD_LIST. The stacks are parts of the dump's memory.
func (d *dump) readThreads(_ streamType, l location) error {
	count, start, err := d.listCount(l, threadSize)
	if err != nil {
		return err
	}
	var errs errorList
	seen := make(map[int]bool)
	err = d.eachEntry(l, start, threadSize, count, d.threadLimit(), func(b []byte) {
		t := snapshot.Thread{ID: int(int32(le.Uint32(b)))}
		if seen[t.ID] {
			errs.add(fmt.Errorf("thread %d occurs twice", t.ID))
			return
		}
		seen[t.ID] = true
		d.addMemory(le.Uint64(b[24:]), location{uint64(le.Uint32(b[36:])), uint64(le.Uint32(b[32:]))})
		context := location{uint64(le.Uint32(b[44:])), uint64(le.Uint32(b[40:]))}
		if own, ok := d.contexts[t.ID]; ok {
			// The thread ran the signal handler that wrote the dump. This is the context
			// that the signal interrupted.
			context = own
		}
		if err := d.readContext(&t, context); err != nil {
			t.Err = fmt.Errorf("thread %d: %w", t.ID, err)
		} else if teb := le.Uint64(b[16:]); teb != 0 && d.Machine.ThreadStorage != nil {
			t.Registers.Set(d.Machine.ThreadStorage.Pointer, teb) // Crashpad's ThreadSpecificDataAddress
		}
		if t.ID == d.Snapshot.PID {
			t.Name = d.processName
		}
		d.Snapshot.Threads = append(d.Snapshot.Threads, t)
	})
	errs.add(err)
	return errors.Join(errs...)
}

// readThreadNames reads MINIDUMP_THREAD_NAME_LIST.
func (d *dump) readThreadNames(_ streamType, l location) error {
	count, start, err := d.listCount(l, nameSize)
	if err != nil {
		return err
	}
	threads := make(map[int]*snapshot.Thread)
	for i := range d.Snapshot.Threads {
		threads[d.Snapshot.Threads[i].ID] = &d.Snapshot.Threads[i]
	}
	var errs errorList
	err = d.eachEntry(l, start, nameSize, count, maxThreads, func(b []byte) {
		t := threads[int(int32(le.Uint32(b)))]
		if t == nil {
			return
		}
		delete(threads, t.ID) // use the first name
		name, err := d.stringAt(le.Uint64(b[4:]), maxThreadName)
		if err != nil {
			errs.add(fmt.Errorf("thread %d: %w", t.ID, err))
			return
		}
		t.Name = name
	})
	errs.add(err)
	return errors.Join(errs...)
}

// readException reads MINIDUMP_EXCEPTION_STREAM: the signal, in which writers for Linux put
// the signal's number as the code, si_code as the flags and si_addr as the address.
func (d *dump) readException(_ streamType, l location) error {
	b, err := d.head(l, exceptionSize)
	if err != nil {
		return err
	}
	thread, number, code := int(int32(le.Uint32(b))), le.Uint32(b[8:]), int(int32(le.Uint32(b[12:])))
	if context := (location{uint64(le.Uint32(b[164:])), uint64(le.Uint32(b[160:]))}); context.size > 0 {
		d.contexts = map[int]location{thread: context}
	}
	// A dump that the program asked for has 0xffffffff (MD_EXCEPTION_CODE_LIN_DUMP_REQUESTED).
	const maxSignal = 64
	if number == 0 || number > maxSignal {
		return nil
	}
	d.Snapshot.Signal = &snapshot.Signal{Number: int(number), Machine: d.Machine, Code: code, Thread: thread}
	// Writers that do not know si_code write 0 and an arbitrary address.
	d.Snapshot.Signal.SetFault(le.Uint64(b[24:]))
	return nil
}
