// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"slices"

	"github.com/clewdev/clew/jit/symfile"
)

// Symbol files are kept as a log-structured store keeps its files: those of one
// level, by how many functions they describe, are merged when they are many, and
// the result belongs to a higher level. So each function is written a number of
// times that grows with the logarithm of the number of all, and so does the
// list. A file is full that has 1024 functions, or where they are very many a
// 64th of all: to merge full ones too would save little, as gdb 13 needs half a
// second for a list of a thousand, and make withdrawing slow, which writes the
// file that a function is in again.
const (
	fullFunctions = 1024
	fullBytes     = 256 << 10
	fullFiles     = 64

	// mostFunctions is below the number of sections that a symbol file can have:
	// functions that stand alone have one each.
	mostFunctions = 1 << 15

	splitInto = 8 // files, that one which is more than full becomes where it is written again
)

// isFull reports whether a symbol file has at least half of what a full one has,
// so that no two of its like make one.
func (p *Publisher) isFull(functions, bytes int) bool {
	return functions > p.fullFunctions()/2 || bytes > p.fullBytes()/2
}

func (p *Publisher) fullFunctions() int {
	return min(max(fullFunctions, p.functions/fullFiles), mostFunctions)
}

func (p *Publisher) fullBytes() int { return max(fullBytes, p.bytes/fullFiles) }

// levelFull is the level of images that are, or were, full.
const levelFull = -1

// level returns the level of an image that is new.
func (p *Publisher) level(i *image) int {
	if p.isFull(i.functions, len(i.file())) {
		return levelFull
	}
	level := 0
	for n := i.functions; n >= p.mergeAt(); n /= p.mergeAt() {
		level++
	}
	return level
}

func (p *Publisher) mergeAt() int {
	if p.MergeAt == 0 {
		return DefaultMergeAt
	}
	return max(p.MergeAt, 2)
}

// settle puts a registered image on its level, and merges what is then too many.
func (p *Publisher) settle(i *image) {
	if p.MergeAt < 0 {
		return
	}
	i.level = p.level(i)
	if i.level == levelFull {
		p.full = append(p.full, i)
		p.settleFull()
		return
	}
	for len(p.levels) <= i.level {
		p.levels = append(p.levels, nil)
	}
	p.levels[i.level] = append(p.levels[i.level], i)
	if len(p.levels[i.level]) < p.mergeAt() {
		return
	}
	images := p.levels[i.level]
	p.levels[i.level] = nil
	merged, err := p.rewrite(images, nil)
	if err != nil {
		// There is no memory for it. They stay as they are until one more comes.
		p.levels[i.level] = images
		return
	}
	for _, i := range merged {
		p.settle(i)
	}
}

// settleFull merges files that were full when functions were fewer. Those that
// still are, of which each has more than half of a 64th of all functions or
// bytes, are never many.
func (p *Publisher) settleFull() {
	if len(p.full) < 2*fullFiles {
		return
	}
	var full, small []*image
	for _, i := range p.full {
		if p.isFull(i.functions, len(i.file())) {
			full = append(full, i)
		} else {
			small = append(small, i)
		}
	}
	if len(small) < p.mergeAt() {
		return
	}
	merged, err := p.rewrite(small, nil)
	if err != nil {
		return
	}
	for _, i := range merged {
		i.level = levelFull
	}
	p.full = append(full, merged...)
}

// unsettle takes an image off its level, or off those that wait.
func (p *Publisher) unsettle(i *image) {
	from := &p.pending
	switch {
	case !i.registered:
	case p.MergeAt < 0:
		return
	case i.level == levelFull:
		from = &p.full
	default:
		from = &p.levels[i.level]
	}
	if k := slices.Index(*from, i); k >= 0 {
		*from = slices.Delete(*from, k, k+1)
	}
}

// rewrite replaces images, which are on no level, by few that are about full,
// without the functions that start at dying addresses (in ascending order). The
// new ones are registered where the old ones were, and on no level either. With
// an error all is as it was.
func (p *Publisher) rewrite(old []*image, dying []uint64) (fresh []*image, err error) {
	for from := 0; from < len(old); {
		to, functions, bytes := from, 0, 0
		for to < len(old) && (to == from || functions+old[to].functions <= p.fullFunctions() && bytes+len(old[to].file()) <= p.fullBytes()) {
			functions += old[to].functions
			bytes += len(old[to].file())
			to++
		}
		if fresh, err = p.write(fresh, old[from:to], dying); err != nil {
			for _, i := range fresh {
				p.free(i)
			}
			return nil, err
		}
		from = to
	}
	registered := old[0].registered
	for _, i := range old {
		for _, b := range i.batches {
			b.leave(i)
		}
	}
	turns := registered && takesTurns()
	if turns {
		for _, i := range old {
			unregister(i)
		}
	}
	for _, i := range fresh {
		for _, b := range i.batches {
			b.enter(i)
		}
		if registered {
			register(i)
		}
	}
	for _, i := range old {
		p.drop(i)
	}
	return fresh, nil
}

// drop takes an image out of the list and frees it. Its batches have left it.
func (p *Publisher) drop(i *image) {
	if i.registered {
		unregister(i)
	}
	p.free(i)
}

// write appends to fresh the image of several, or those of one that is more than
// full, without the functions that start at dying addresses. With an error too,
// fresh has what was made.
func (p *Publisher) write(fresh []*image, old []*image, dying []uint64) ([]*image, error) {
	files := make([][]byte, len(old))
	functions, batches := 0, 0
	for k, i := range old {
		files[k] = i.file()
		functions += i.functions
		batches += len(i.batches)
	}
	buffer := scratch.Get().(*[]byte)
	file := *buffer
	defer func() { putScratch(buffer, file) }()
	for first := 0; first < functions; {
		last := functions
		// Only one that is a single batch: its parts are all that a batch of one
		// function cannot have. And in a few, as each of them passes over the
		// whole file: one that is still too large becomes smaller when it is
		// written again itself.
		if len(old) == 1 && len(old[0].batches) == 1 && functions-first > 2*p.fullFunctions() {
			size := max(p.fullFunctions(), (functions+splitInto-1)/splitInto)
			last = min(first+size, functions)
		}
		made := image{batches: make([]*batch, 0, batches)}
		seen := 0
		var err error
		file, err = symfile.Merge(file[:0], files, func(start uint64) bool {
			seen++
			if seen <= first || seen > last {
				return false
			}
			if _, dies := slices.BinarySearch(dying, start); dies {
				return false
			}
			if made.functions == 0 {
				made.low, made.high = start, start
			}
			made.low, made.high = min(made.low, start), max(made.high, start)
			made.functions++
			return true
		})
		if err != nil {
			return fresh, err
		}
		if made.functions > 0 {
			i, err := p.newImage(&p.memory, file)
			if err != nil {
				return fresh, err
			}
			i.functions, i.low, i.high = made.functions, made.low, made.high
			for _, o := range old {
				for _, b := range o.batches {
					// Parts of a batch that was split can come together again.
					if b.publisher != nil && !(b.split() && slices.Contains(made.batches, b)) {
						made.batches = append(made.batches, b)
					}
				}
			}
			i.batches = made.batches
			fresh = append(fresh, i)
		}
		first = last
	}
	return fresh, nil
}
