// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/clewdev/clew/session"
)

// Options says what a library has. The zero value, like nil, is a library whose
// output goes nowhere.
type Options struct {
	// Output is what the code prints to. It is written to during the calls.
	Output io.Writer

	// HeapSize is the size of the memory that malloc gives from, in bytes; 0 is
	// 64 MiB. It takes address space; memory only where it is used.
	HeapSize int
}

// Library is the functions and the memory that they allocate. Several sessions
// can use one at once.
type Library struct {
	mu     sync.Mutex // guards what follows, output too
	output io.Writer
	heap   *heap
	seed   uint64 // of rand
}

// New makes a library. The error is the system's, for the heap.
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

// Close gives the heap back. Code that was given memory of it must not run any
// more. Closing twice is no error.
func (l *Library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heap.close()
}

// Image makes an image of all functions: what session.ImageOptions.Imports wants.
func (l *Library) Image() (*session.Image, error) {
	return session.NewHost("libc", l.Functions()...)
}

// Functions returns the functions, in the order of their names.
func (l *Library) Functions() []session.HostFunction {
	var list []session.HostFunction
	for name, f := range l.functions() {
		list = append(list, session.HostFunction{Name: name, Call: func(c *session.HostCall) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			return said(name, f(c))
		}})
	}
	slices.SortFunc(list, func(a, b session.HostFunction) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// call is what functions need of a session.HostCall.
type call interface {
	Word(n int) uint64
	Float(n int) float64
	Return(word uint64)
	ReturnFloat(f float64)
	ReadMemory(p []byte, address uint64) error
	WriteMemory(p []byte, address uint64) error
	ReadString(address uint64, limit int) (string, error)
}

// function is one that code can call.
type function = func(call) error

func (l *Library) functions() map[string]function {
	all := make(map[string]function)
	for _, some := range []map[string]function{l.memoryFunctions(), stringFunctions(), l.outputFunctions(), l.endFunctions(), mathFunctions()} {
		for name, f := range some {
			all[name] = f
		}
	}
	return all
}
