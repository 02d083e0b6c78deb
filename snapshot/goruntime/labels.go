// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// Label is a profiler label of a goroutine (runtime/pprof.Do).
type Label struct{ Key, Value string }

// Limits of labels. Programs set a few short ones.
const (
	maxLabels   = 64
	maxLabel    = 1 << 10 // bytes of a key or value
	maxTexts    = 1 << 12 // bytes of all keys and values
	labelHeader = 4 * pointerSize
)

// Labels reads the labels at the address in Goroutine.Labels, in the order of their keys. A program before
// Go 1.24, where they are a map, has none for Labels.
func (r *Runtime) Labels(mem cfi.Memory, address uint64) ([]Label, error) {
	if address == 0 || !r.labelLists {
		return nil, nil
	}
	fail := func(err error) ([]Label, error) { return nil, fmt.Errorf("profiler labels at %#x: %w", address, err) }
	// runtime/pprof.labelMap: a slice of pairs of strings.
	var slice [2 * pointerSize]byte
	if err := mem.ReadMemory(slice[:], address); err != nil {
		return fail(err)
	}
	n := binary.LittleEndian.Uint64(slice[pointerSize:])
	if n > maxLabels {
		return fail(fmt.Errorf("%d labels, more than %d", n, maxLabels))
	}
	pairs := make([]byte, n*labelHeader)
	if err := mem.ReadMemory(pairs, binary.LittleEndian.Uint64(slice[:])); err != nil {
		return fail(err)
	}
	left := uint64(maxTexts)
	text := func(header []byte) (string, error) {
		size := binary.LittleEndian.Uint64(header[pointerSize:])
		if size == 0 {
			return "", nil
		}
		if size > maxLabel {
			return "", fmt.Errorf("a text of %d bytes, more than %d", size, maxLabel)
		}
		if size > left {
			return "", fmt.Errorf("texts of more than %d bytes", maxTexts)
		}
		left -= size
		b := make([]byte, size)
		err := mem.ReadMemory(b, binary.LittleEndian.Uint64(header))
		return string(b), err
	}
	labels := make([]Label, n)
	for i := range labels {
		var err error
		l, header := &labels[i], pairs[i*labelHeader:]
		if l.Key, err = text(header); err != nil {
			return fail(err)
		}
		if l.Value, err = text(header[2*pointerSize:]); err != nil {
			return fail(err)
		}
	}
	return labels, nil
}

// hasLabelLists reports whether a program has a version of Go in which labels are lists.
func hasLabelLists(f *object.File) bool {
	info, _ := f.Go()
	minor, err := strconv.Atoi(strings.TrimPrefix(release(info.Version), "go1."))
	return err == nil && minor >= 24
}
