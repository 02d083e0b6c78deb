// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/jit"
)

// MapWriter writes the perf map of this program. It is a jit.Publisher. Its methods may
// be called concurrently.
//
// A map contains no times and cannot say that a function was withdrawn: Withdraw writes
// nothing. If an address is reused, the whole profile shows the last function there.
type MapWriter struct {
	mu   sync.Mutex
	path string
	file *os.File // nil after Close
	buf  []byte

	published jit.Published // has its own lock
}

// OpenMap opens the perf map of this program, /tmp/perf-PID.map, the only path that
// perf reads. Other runtimes in the process may write to it as well. A map that
// existed when the program began, and has not changed since, is removed: it is from an
// earlier process with the same ID, or from the program before execve(2).
//
// All users can write to /tmp. OpenMap refuses a link, a FIFO, a file of another user,
// and a file with a second name, and does not wait for any of them.
//
// A program has one MapWriter at a time, because two would write functions twice. While
// one is open, the error of another OpenMap wraps fs.ErrExist. After Close the next one
// appends.
func OpenMap() (*MapWriter, error) { return openMap(mapPath(), mapAtStart) }

func mapPath() string { return fmt.Sprintf("/tmp/perf-%d.map", os.Getpid()) }

// mapAtStart is the perf map as it was when this program began, or nil.
var mapAtStart, _ = os.Lstat(mapPath())

// openMaps are the paths of the open maps.
var openMaps = struct {
	mu    sync.Mutex
	paths map[string]bool
}{paths: make(map[string]bool)}

// openMap opens a map; before is the file that existed when the program began, or nil.
func openMap(path string, before fs.FileInfo) (*MapWriter, error) {
	openMaps.mu.Lock()
	defer openMaps.mu.Unlock()
	if openMaps.paths[path] {
		return nil, fmt.Errorf("perf map: %s: this program already has a MapWriter for it; a second one would write functions twice: %w", path, fs.ErrExist)
	}
	switch now, err := os.Lstat(path); {
	case err != nil:
	case before != nil && same(now, before):
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("perf map: %w", err)
		}
	case now.Mode().Type() == fs.ModeSymlink:
		return nil, fmt.Errorf("perf map: %w", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP})
	}
	// The directory is shared: other users could have made a link, a FIFO or a file.
	f, err := outputfile.Append(path)
	if err != nil {
		return nil, fmt.Errorf("perf map: %w", err)
	}
	openMaps.paths[path] = true
	return &MapWriter{path: path, file: f}, nil
}

// same reports whether a is the file b, and was not written since.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Path returns the path of the file.
func (w *MapWriter) Path() string { return w.path }

// Publish implements jit.Publisher. If it fails, the written part of the batch is
// removed again. After Close the error wraps fs.ErrClosed.
func (w *MapWriter) Publish(c *jit.Code) (jit.Registration, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c, err := c.Resolve(false)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil, fmt.Errorf("perf map: %s: %w", w.path, fs.ErrClosed)
	}
	claim, err := w.published.Add(c)
	if err != nil {
		return nil, err
	}
	if err := w.publish(c); err != nil {
		claim.Remove()
		return nil, fmt.Errorf("perf map: %w", err)
	}
	return &mapped{len(c.Functions), claim}, nil
}

func (w *MapWriter) publish(c *jit.Code) error {
	w.buf = w.buf[:0]
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.Size == 0 {
			continue
		}
		w.buf = appendSymbol(w.buf, c.Start(f), f.Size, f.Name)
	}
	n, err := w.file.Write(w.buf)
	if cap(w.buf) > 4*flushSize {
		w.buf = nil
	}
	if err != nil {
		err = errors.Join(err, w.cut(n))
	}
	return err
}

// cut removes the last n bytes, unless another writer of the process has appended to
// them. That writer's lines are then whole, except for the first.
func (w *MapWriter) cut(n int) error {
	if n == 0 {
		return nil
	}
	end, err := w.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if info, err := w.file.Stat(); err != nil || info.Size() != end {
		return err
	}
	return w.file.Truncate(end - int64(n))
}

// Close closes the file, which stays. A second Close does nothing.
func (w *MapWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	openMaps.mu.Lock()
	delete(openMaps.paths, w.path)
	openMaps.mu.Unlock()
	if err != nil {
		return fmt.Errorf("perf map: %w", err)
	}
	return nil
}

// mapped is a batch in a map.
type mapped struct {
	functions int
	claim     *jit.Claim
}

// Withdraw implements jit.Registration.
func (m *mapped) Withdraw() error {
	m.claim.Remove()
	return nil
}

// WithdrawFunctions implements jit.Registration.
func (m *mapped) WithdrawFunctions(functions ...int) error {
	if err := checkIndexes(functions, m.functions); err != nil {
		return fmt.Errorf("perf map: %w", err)
	}
	m.claim.RemoveFunctions(functions...)
	return nil
}

// checkIndexes returns an error unless all functions to be withdrawn belong to a batch of
// the given size.
func checkIndexes(functions []int, count int) error {
	for _, i := range functions {
		if i < 0 || i >= count {
			return fmt.Errorf("%w: no function %d: the batch has %d functions", jit.ErrCode, i, count)
		}
	}
	return nil
}
