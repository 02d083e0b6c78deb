// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit"
)

// flushSize is the size above which a batch is written in parts; a smaller batch is one
// write.
const flushSize = 1 << 20

// Dump writes the jitdump of this program. It is a jit.Publisher. Its methods may be
// called concurrently.
//
// The records of a function contain its code, its source lines and its unwind table. A
// jitdump cannot say that a function was withdrawn: Withdraw notes that the memory is free,
// and writes nothing. A function that is published again is a new one.
//
// perf 6.1 reads a function's unwind table through a mapping that it invents directly
// after the function's code, with a size of SpaceAfter bytes. That mapping would hide the
// beginning of another function there, so Dump then asks for no mapping: perf ends
// stacks at the function, although the dump has its table. Leave SpaceAfter bytes free after
// each function to avoid that.
type Dump struct {
	mu      sync.Mutex
	path    string
	machine *arch.Machine
	file    *os.File // nil after Close
	own     *ownDump
	marker  []byte // the mapping by which perf finds the file
	size    int64  // of the complete batches
	index   uint64 // of the next function
	encoder functionEncoder
	code    ranges // of the published functions

	published jit.Published // has its own lock
}

// Create begins the jitdump of this program, dir/jit-PID.dump, and maps a page of it as
// executable, by which perf finds it. The directory must exist, on a file system that is
// not mounted noexec.
//
// A program has one Dump in a directory. The error wraps fs.ErrExist if the program has
// begun a Dump there before, even a closed one, or if another publisher is writing the
// file. A file without a writer is replaced: it is from an earlier process with the
// same ID, or from the program before execve(2). After an error there is no new file.
// On systems other than Linux the error wraps errors.ErrUnsupported.
func Create(dir string) (*Dump, error) {
	machine := jit.Host()
	if machine == nil {
		return nil, fmt.Errorf("jitdump: %w", errMachine)
	}
	d := &Dump{machine: machine, path: filepath.Join(dir, fmt.Sprintf("jit-%d.dump", os.Getpid()))}
	d.encoder.init(machine)
	now, err := monotonic()
	if err != nil {
		return nil, fmt.Errorf("jitdump: %w", err)
	}
	ownDumps.mu.Lock()
	defer ownDumps.mu.Unlock()
	if d.file, err = createOwn(d.path); err != nil {
		return nil, fmt.Errorf("jitdump: %w", err)
	}
	d.encoder.Header(&Header{Machine: machine.ELF, PID: uint32(os.Getpid()), Time: now})
	if d.size, err = d.flush(0); err == nil {
		d.own, err = addOwn(d.path, d.file)
	}
	if err == nil {
		if d.marker, err = mapMarker(d.file); err != nil {
			err = fmt.Errorf("%s: mapping it as executable (is its file system mounted noexec?): %w", d.path, err)
		}
	}
	if err != nil {
		_ = d.file.Close()
		_ = os.Remove(d.path)
		return nil, fmt.Errorf("jitdump: %w", err)
	}
	return d, nil
}

// Path returns the path of the file.
func (d *Dump) Path() string { return d.path }

// Publish implements jit.Publisher. If it fails, for example in the middle of a batch
// because the disk is full, it truncates the file to the previous batches. Later batches
// can be published. After Close the error wraps fs.ErrClosed.
func (d *Dump) Publish(c *jit.Code) (jit.Registration, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c, err := c.Resolve(true)
	if err != nil {
		return nil, err
	}
	r, err := d.publish(c)
	if err != nil {
		return nil, fmt.Errorf("jitdump: %w", err)
	}
	return r, nil
}

func (d *Dump) publish(c *jit.Code) (r *dumped, err error) {
	if c.Machine != nil && c.Machine != d.machine {
		return nil, fmt.Errorf("%w: it is for %s, expected %s", jit.ErrCode, c.Machine.Name, d.machine.Name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		return nil, fmt.Errorf("%s: %w", d.path, fs.ErrClosed)
	}
	now, err := monotonic()
	if err != nil {
		return nil, err
	}
	claim, err := d.published.Add(c)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			claim.Remove()
		}
	}()
	r = &dumped{dump: d, at: d.size, functions: make([]addressRange, len(c.Functions)), claim: claim}
	at := d.size
	var faults jit.FunctionErrors
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Size == 0 {
			continue
		}
		end := c.Start(f) + f.Size
		r.functions[i] = addressRange{c.Start(f), end}
		free := d.code.free(end)
		for k := i + 1; k < len(c.Functions); k++ {
			if next := &c.Functions[k]; next.Size > 0 {
				free = min(free, c.Start(next)-end)
				break
			}
		}
		err := d.encoder.function(c, f, now, d.index+uint64(i), free)
		if err != nil {
			faults = append(faults, c.Fault(i, err))
			continue
		}
		if len(d.encoder.Data) >= flushSize {
			at, err = d.flush(at)
		}
		if err != nil {
			d.cut(d.size)
			return nil, err
		}
	}
	if len(faults) > 0 {
		d.cut(d.size)
		return nil, faults
	}
	if at, err = d.flush(at); err != nil {
		d.cut(d.size)
		return nil, err
	}
	d.size, d.index = at, d.index+uint64(len(c.Functions))
	d.code.add(slices.DeleteFunc(slices.Clone(r.functions), func(r addressRange) bool { return r.start == r.end }))
	return r, nil
}

// flush writes the gathered bytes at an offset of the file, and returns their end.
func (d *Dump) flush(at int64) (end int64, err error) {
	n, err := d.file.WriteAt(d.encoder.Data, at)
	d.encoder.Data = d.encoder.Data[:0]
	if cap(d.encoder.Data) > 4*flushSize {
		d.encoder.Data = nil
	}
	return at + int64(n), err
}

// cut removes everything after an offset from the buffer and the file. If the file
// cannot be truncated, later records overwrite the rest.
func (d *Dump) cut(size int64) {
	d.encoder.Data = d.encoder.Data[:0]
	d.size = size
	_ = d.file.Truncate(size)
}

// takeBack removes the batch that was published last.
func (d *Dump) takeBack(r *dumped) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.code.remove(r.functions)
	r.claim.Remove()
	if d.file != nil {
		d.cut(r.at)
	}
}

// Close writes the record that ends the dump, and closes the file. The file stays. A
// second Close does nothing.
func (d *Dump) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		return nil
	}
	now, err := monotonic()
	if err == nil {
		err = d.encoder.Close(now)
	}
	if err == nil {
		if _, err = d.flush(d.size); err != nil {
			d.cut(d.size)
		}
	}
	if e := unmapMarker(d.marker); err == nil {
		err = e
	}
	d.own.close(d.file)
	if e := d.file.Close(); err == nil {
		err = e
	}
	d.file, d.marker = nil, nil
	if err != nil {
		return fmt.Errorf("jitdump: %w", err)
	}
	return nil
}

// dumped is a batch in a dump.
type dumped struct {
	dump      *Dump
	at        int64          // offset in the file
	functions []addressRange // empty if withdrawn
	claim     *jit.Claim
}

// Withdraw implements jit.Registration.
func (r *dumped) Withdraw() error { return r.forget(nil) }

// WithdrawFunctions implements jit.Registration.
func (r *dumped) WithdrawFunctions(functions ...int) error {
	if len(functions) == 0 {
		return nil
	}
	return r.forget(functions)
}

// forget withdraws the given functions; without any, all of them.
func (r *dumped) forget(functions []int) error {
	d := r.dump
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(functions) == 0 {
		d.code.remove(r.functions)
		clear(r.functions)
		r.claim.Remove()
		return nil
	}
	if err := checkIndexes(functions, len(r.functions)); err != nil {
		return fmt.Errorf("jitdump: %w", err)
	}
	gone := make([]addressRange, 0, len(functions))
	for _, i := range functions {
		gone = append(gone, r.functions[i])
		r.functions[i] = addressRange{}
	}
	d.code.remove(gone)
	r.claim.RemoveFunctions(functions...)
	return nil
}
