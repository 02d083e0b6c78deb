// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"errors"
	"maps"
	"slices"

	"github.com/clewdev/clew/object"
)

// A large section is divided into windows of consecutive FDEs, each with a checker of its own, so that
// several processors can check it. The windows depend only on the section: the report is the same
// however many processors there are.

// windowSize is the number of FDEs of a window. Sections with fewer than two windows are not divided.
var windowSize = 1 << 13 // tests change it

// claim is what a window has found about a part outside of it, which one of its functions leads to.
type claim struct {
	owner  int // index in units
	result result
}

// divide returns the checkers of the windows of a section, c alone for a small one.
func (c *checker) divide() []*checker {
	c.owner, c.results = make([]int, len(c.fdes)), make([]result, len(c.fdes))
	for i := range c.owner {
		c.owner[i] = -1
	}
	if len(c.fdes) < 2*windowSize {
		return []*checker{c}
	}
	n := len(c.fdes) / windowSize
	list := make([]*checker, n)
	for k := range list {
		first, end := k*windowSize, (k+1)*windowSize
		if k == n-1 {
			end = len(c.fdes)
		}
		list[k] = &checker{
			section: c.section, memory: c.memory, machine: c.machine, abi: c.abi, noReturn: maps.Clone(c.noReturn), stubs: c.stubs, keepsNone: c.keepsNone, stops: c.stops, size: c.size,
			fdes: c.fdes, globals: c.globals, work: minWork + c.work/int64(n), details: c.details,
			first: first, owner: c.owner[first:end:end], results: c.results[first:end:end], outside: make(map[int]*claim),
		}
	}
	return list
}

// ownerOf returns the index in units of the unit that an FDE belongs to, -1 if none is known.
func (c *checker) ownerOf(index int) int {
	if i := index - c.first; i >= 0 && i < len(c.owner) {
		return c.owner[i]
	}
	if o := c.outside[index]; o != nil {
		return o.owner
	}
	return -1
}

func (c *checker) setOwner(index, unit int) {
	if i := index - c.first; i >= 0 && i < len(c.owner) {
		c.owner[i] = unit
	} else if o := c.outside[index]; o != nil {
		o.owner = unit
	} else {
		c.outside[index] = &claim{owner: unit}
	}
}

// resultOf returns the place of the result of an FDE that has an owner.
func (c *checker) resultOf(index int) *result {
	if i := index - c.first; i >= 0 && i < len(c.owner) {
		return &c.results[i]
	}
	return &c.outside[index].result
}

// gather adds the results of windows about parts of other windows.
func (c *checker) gather(windows []*checker) {
	for _, w := range windows {
		for _, i := range slices.Sorted(maps.Keys(w.outside)) {
			if c.owner[i] < 0 || i < w.first {
				c.owner[i], c.results[i] = 0, w.outside[i].result
			}
		}
	}
	// The units have other numbers in each window, and are not needed any more.
	for i := range c.owner {
		c.owner[i] = -1
	}
}

// each calls a function for each window, by divide if that is not nil.
func each(windows []*checker, divide func([]func()), do func(*checker)) error {
	failed := make([]error, len(windows))
	tasks := make([]func(), len(windows))
	for k, w := range windows {
		tasks[k] = func() {
			failed[k] = object.Guard(func() error {
				do(w)
				return nil
			})
		}
	}
	if divide != nil && len(tasks) > 1 {
		divide(tasks)
	} else {
		for _, task := range tasks {
			task()
		}
	}
	return errors.Join(failed...)
}
