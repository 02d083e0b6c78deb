// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/clewdev/clew/session"
)

// Options are the options of a library. nil stands for the zero value.
type Options struct {
	// Output gets the output of the code, during the calls. If it is nil, the output is
	// dropped.
	Output io.Writer

	// HeapSize is the size of malloc's memory, in bytes; 0 means 64 MiB. Pages that are
	// not used need address space only.
	HeapSize int
}

// Library holds the functions and their heap. Several sessions may use a library at the
// same time.
type Library struct {
	mu     sync.Mutex // guards the other fields, and writes to output
	output io.Writer
	heap   *heap
	seed   uint64 // of rand
}

// New returns a library. It fails if the system has no memory for the heap.
func New(o *Options) (*Library, error) {
	if o == nil {
		o = new(Options)
	}
	size := o.HeapSize
	if size <= 0 {
		size = 64 << 20
	}
	h, err := newHeap(size)
	if err != nil {
		return nil, fmt.Errorf("memory for the heap of generated code: %w", err)
	}
	l := &Library{output: o.Output, heap: h, seed: 1}
	if l.output == nil {
		l.output = io.Discard
	}
	return l, nil
}

// Close unmaps the heap. Code that uses memory of the heap must not run afterwards. A
// second Close does nothing.
func (l *Library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heap.close()
}

// Image returns an image of all functions, for session.ImageOptions.Imports. The caller
// closes it.
func (l *Library) Image() (*session.Image, error) {
	return session.NewHost("libc", l.Functions()...)
}

// Functions returns the functions, sorted by name.
func (l *Library) Functions() []session.HostFunction {
	var list []session.HostFunction
	for name, f := range l.functions() {
		list = append(list, session.HostFunction{Name: name, Call: func(c *session.HostCall) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			return nameError(name, f(c))
		}})
	}
	slices.SortFunc(list, func(a, b session.HostFunction) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// call is the part of a session.HostCall that functions use.
type call interface {
	Word(n int) uint64
	Float(n int) float64
	Return(word uint64)
	ReturnFloat(f float64)
	ReadMemory(p []byte, address uint64) error
	WriteMemory(p []byte, address uint64) error
	ReadString(address uint64, limit int) (string, error)
}

type function = func(call) error

func (l *Library) functions() map[string]function {
	all := l.memoryFunctions()
	maps.Copy(all, stringFunctions())
	maps.Copy(all, l.outputFunctions())
	maps.Copy(all, l.endFunctions())
	maps.Copy(all, mathFunctions())
	return all
}
