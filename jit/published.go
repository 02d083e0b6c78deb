// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"sync"
)

// claim is the code of one publication.
type claim struct {
	start, end uint64 // from the first function to the end of the last one
	batch      string
	functions  []extent // in ascending order; empty ones are withdrawn
	live       int      // functions that are not empty
	names      []string // nil if Code.NameOf has them
	index      []int    // of the functions in the whole batch; nil if they are all functions
}

type extent struct{ start, end uint64 }

// index contains the published code of the program: claims in ascending order of their starts,
// in blocks, so that adding one moves few others. Claims may interleave.
type index struct {
	mu     sync.Mutex
	blocks []*block
}

type block struct {
	claims []*claim
	end    uint64 // not below the end of any claim
}

const maxBlock = 512

var published index

// newClaim returns the claim of a batch.
func newClaim(c *Code) *claim {
	n := len(c.Functions)
	a := &claim{batch: c.Name, functions: make([]extent, n)}
	if c.NameOf == nil {
		a.names = make([]string, n)
	}
	first := slices.IndexFunc(c.Functions, func(f Function) bool { return f.Size > 0 })
	if first < 0 {
		return a
	}
	end := c.Start(&c.Functions[first])
	for i := range c.Functions {
		f := &c.Functions[i]
		start := end // of an empty function
		if f.Size > 0 {
			start = c.Start(f)
			end = start + f.Size
			a.live++
		}
		a.functions[i] = extent{start, end}
		if a.names != nil {
			a.names[i] = f.Name
		}
	}
	a.start, a.end = a.functions[0].start, a.functions[n-1].end
	return a
}

// add adds a claim, without the functions that overlap published ones. It returns their faults.
func (x *index) add(a *claim, c *Code) FunctionErrors {
	x.mu.Lock()
	defer x.mu.Unlock()
	var faults FunctionErrors
	for _, b := range x.blocks {
		if b.claims[0].start >= a.end {
			break
		}
		if b.end <= a.start {
			continue
		}
		for _, other := range b.claims {
			if other.start < a.end && a.start < other.end {
				faults = a.yield(other, c, faults)
			}
		}
	}
	slices.SortFunc(faults, func(a, b *FunctionError) int { return a.Index - b.Index })
	if a.live > 0 {
		x.insert(a)
	}
	return faults
}

// yield empties the functions of a claim that overlap those of another.
func (a *claim) yield(other *claim, c *Code, faults FunctionErrors) FunctionErrors {
	i := sort.Search(len(a.functions), func(i int) bool { return a.functions[i].end > other.start })
	from := uint64(0)
	if i < len(a.functions) {
		from = a.functions[i].start
	}
	k := sort.Search(len(other.functions), func(k int) bool { return other.functions[k].start >= from })
	for k = max(k-1, 0); i < len(a.functions) && k < len(other.functions); {
		f, g := &a.functions[i], &other.functions[k]
		switch {
		case g.end <= f.start || g.start == g.end: // withdrawn
			k++
		case f.end <= g.start:
			i++
		default:
			faults = append(faults, c.Fault(i, fmt.Errorf("%w: it overlaps %s", ErrPublished, other.describe(k))))
			f.end = f.start
			a.live--
			i++
		}
	}
	return faults
}

// describe names a function for a message.
func (a *claim) describe(i int) string {
	whole := i
	if a.index != nil {
		whole = a.index[i]
	}
	f, name := a.functions[i], "function "+strconv.Itoa(whole)
	if a.names != nil && a.names[i] != "" {
		name = fmt.Sprintf("function %q", a.names[i])
	}
	return fmt.Sprintf("%s of batch %q, %#x bytes at %#x", name, cmp.Or(a.batch, "jit"), f.end-f.start, f.start)
}

func (x *index) insert(a *claim) {
	i := sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].claims[0].start > a.start }) - 1
	if i < 0 {
		i = 0
		if len(x.blocks) == 0 {
			x.blocks = []*block{{}}
		}
	}
	b := x.blocks[i]
	k := sort.Search(len(b.claims), func(k int) bool { return b.claims[k].start > a.start })
	b.claims = slices.Insert(b.claims, k, a)
	b.end = max(b.end, a.end)
	if n := len(b.claims); n > maxBlock {
		// Code is mostly placed in ascending order: leave the lower block nearly full.
		upper := &block{claims: slices.Clone(b.claims[n*7/8:])}
		clear(b.claims[n*7/8:])
		b.claims = b.claims[:n*7/8]
		b.end = 0
		for _, c := range b.claims {
			b.end = max(b.end, c.end)
		}
		for _, c := range upper.claims {
			upper.end = max(upper.end, c.end)
		}
		x.blocks = slices.Insert(x.blocks, i+1, upper)
	}
}

// remove removes a claim.
func (x *index) remove(a *claim) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(a)
}

func (x *index) drop(a *claim) {
	// Several claims may have one start, also in neighbouring blocks.
	for i := sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].claims[0].start > a.start }) - 1; i >= 0; i-- {
		b := x.blocks[i]
		if k := slices.Index(b.claims, a); k >= 0 {
			if b.claims = slices.Delete(b.claims, k, k+1); len(b.claims) == 0 {
				x.blocks = slices.Delete(x.blocks, i, i+1)
			}
			return
		}
		if b.claims[0].start < a.start {
			return
		}
	}
}

// release removes functions of a claim, by their indexes in the whole batch.
func (x *index) release(a *claim, functions []int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, i := range functions {
		if a.index != nil {
			k, ok := slices.BinarySearch(a.index, i)
			if !ok {
				continue
			}
			i = k
		}
		if f := &a.functions[i]; f.end > f.start {
			f.end = f.start
			a.live--
		}
	}
	if a.live == 0 {
		x.drop(a)
	}
}

// Published is the code that one publisher has published. The zero value is empty. Publishers use it
// for programs that call them directly: Publish has looked already. Its methods may be called
// concurrently.
type Published struct{ index index }

// Claim is a batch of a Published. Its methods do nothing if it is nil.
type Claim struct {
	published *Published
	claim     *claim
}

// Add adds a valid batch. The error is FunctionErrors that wrap ErrPublished, and nothing is added, if
// functions overlap published ones. For a batch from Publish it adds nothing and returns nil.
func (p *Published) Add(c *Code) (*Claim, error) {
	if c.checked {
		return nil, nil
	}
	a := newClaim(c)
	if faults := p.index.add(a, c); len(faults) > 0 {
		p.index.remove(a)
		return nil, faults
	}
	return &Claim{p, a}, nil
}

// Remove removes the batch.
func (c *Claim) Remove() {
	if c != nil {
		c.published.index.remove(c.claim)
	}
}

// RemoveFunctions removes functions, by their valid indexes in the batch.
func (c *Claim) RemoveFunctions(functions ...int) {
	if c != nil {
		c.published.index.release(c.claim, functions)
	}
}
