// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
)

// Runtime is the Go runtime in a program, or in a library that C programs use. It is safe
// for concurrent use.
type Runtime struct {
	Layout *Layout

	// Run-time addresses: the pointer to the list of goroutines and its length
	// (runtime.allgptr, allglen), and the newest m (runtime.allm), 0 if unknown.
	list, length, threads uint64

	labelLists bool // labels of goroutines are lists, not maps
}

// ErrNoRuntime means that a file has no Go runtime of its own. Plugins use their program's.
var ErrNoRuntime = errors.New("no Go runtime found")

// New finds the runtime of a file that is loaded with a bias. The error wraps
// ErrNoRuntime or ErrUnknownVersion, or says which part of the runtime was not found.
func New(f *object.File, bias uint64) (*Runtime, error) {
	if _, ok := f.Go(); !ok {
		return nil, ErrNoRuntime
	}
	// The function that walks the list, also for a dump of all stacks.
	each, ok := f.GoFunctionNamed("runtime.forEachGRace")
	if !ok {
		if start, ok := f.GoFunctionAt(f.Entry()); ok && start.Name == "" {
			return nil, fmt.Errorf("%w: its functions have no names, which garble -tiny removes", ErrUnknownVersion)
		}
		return nil, ErrNoRuntime
	}
	if m := f.Machine(); decoderOf(m) == nil {
		return nil, fmt.Errorf("%w: Go on %s", ErrUnknownVersion, m.Name)
	}
	layout, err := LayoutOf(f)
	if err != nil {
		return nil, err
	}
	r := &Runtime{Layout: layout, labelLists: hasLabelLists(f)}
	list, isList := f.Symbol("runtime.allgptr")
	length, isLength := f.Symbol("runtime.allglen")
	if isList && isLength {
		r.list, r.length = list.Address, length.Address
	} else if r.list, r.length, err = fromCode(f, &each); err != nil {
		return nil, err
	}
	r.list += bias
	r.length += bias
	if threads, ok := f.Symbol("runtime.allm"); ok {
		r.threads = threads.Address + bias
	}
	return r, nil
}

// maxCode is the number of bytes of a runtime function that are decoded: the code of
// interest is at the start.
const maxCode = 128

// fromCode finds the variables in the code of forEachGRace, which loads first the
// length, then the pointer to the list.
func fromCode(f *object.File, each *object.GoFunction) (list, length uint64, err error) {
	code := make([]byte, min(each.End-each.Entry, maxCode))
	if err := f.ReadMemory(code, each.Entry); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", each.Name, err)
	}
	found := decoderOf(f.Machine()).loads(code, each.Entry)
	if len(found) < 2 {
		return 0, 0, fmt.Errorf("the code of %s, at %#x, is not known", each.Name, each.Entry)
	}
	return found[1], found[0], nil
}

// decoder decodes the code of the runtime's functions for a machine.
type decoder struct {
	// loads returns the addresses of the words that code at an address loads, in order, up
	// to the first call.
	loads func(code []byte, at uint64) []uint64
	// mentions implements the function mentions.
	mentions func(code []byte, at uint64, numbers map[uint64]bool) (addresses []uint64)
}

// decoderOf returns the decoder of a machine, or nil.
func decoderOf(m *arch.Machine) *decoder {
	if m.Go == nil || m.AddressSize != 8 || m.Order != binary.LittleEndian {
		return nil
	}
	switch m.Go.Arch {
	case "amd64":
		return &decoder{loadsAMD64, mentionsAMD64}
	case "arm64":
		return &decoder{loadsARM64, mentionsARM64}
	}
	return nil
}
