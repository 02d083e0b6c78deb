// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"slices"

	"github.com/clewdev/clew/jit/symfile"
)

// Symbol files are organized as in a log-structured store. Each file is on a level
// according to its number of functions. When a level has many files they are merged,
// and the result goes to a higher level. So the number of times a function is written,
// and the length of the list, grow with the logarithm of the number of functions.
//
// A file with 1024 functions is full; with very many functions, one with a 64th of
// them. Merging full files would save little (gdb 13 needs half a second for a list
// of a thousand), and would slow down withdrawing, which rewrites a whole file.
const (
	fullFunctions = 1024
	fullBytes     = 256 << 10
	fullFiles     = 64

	// maxFileFunctions is below the maximum number of sections of a symbol file, because
	// each function that is not next to another needs a section.
	maxFileFunctions = 1 << 15

	splitInto = 8 // maximum number of files that replace an overfull file
)

// isFull reports whether a symbol file is more than half full, so that merging two
// such files would exceed a full one.
func (p *Publisher) isFull(functions, bytes int) bool {
	return functions > p.fullFunctions()/2 || bytes > p.fullBytes()/2
}

func (p *Publisher) fullFunctions() int {
	return min(max(fullFunctions, p.functions/fullFiles), maxFileFunctions)
}

func (p *Publisher) fullBytes() int { return max(fullBytes, p.bytes/fullFiles) }

// levelFull is the level of images that are full, or once were.
const levelFull = -1

// level returns the level of a new image.
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

// settle puts a registered image on its level, and merges the level if it has too many images.
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
		// No memory for the merged file: try again when the next image comes.
		p.levels[i.level] = images
		return
	}
	for _, i := range merged {
		p.settle(i)
	}
}

// settleFull merges files that were full when there were fewer functions. Few files
// are still full: each of them has more than half of a 64th of all functions or bytes.
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

// unsettle removes an image from its level, or from the pending images.
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

// rewrite replaces images by a few that are about full, without the functions that start at
// the withdrawn addresses (in ascending order). Neither the old nor the new images
// are on a level. The new ones are registered if the old ones were. If there is an
// error, nothing has changed.
func (p *Publisher) rewrite(old []*image, withdrawn []uint64) (fresh []*image, err error) {
	for from := 0; from < len(old); {
		to, functions, bytes := from, 0, 0
		for to < len(old) && (to == from || functions+old[to].functions <= p.fullFunctions() && bytes+len(old[to].file()) <= p.fullBytes()) {
			functions += old[to].functions
			bytes += len(old[to].file())
			to++
		}
		if fresh, err = p.write(fresh, old[from:to], withdrawn); err != nil {
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
	if registered && unregisterFirst() {
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

// drop unlinks an image and frees it. Its batches have left it.
func (p *Publisher) drop(i *image) {
	if i.registered {
		unregister(i)
	}
	p.free(i)
}

// write appends to fresh one image made of several, or several made of one overfull
// image, without the functions that start at the withdrawn addresses. If there is an error,
// fresh contains the images that were made until then.
func (p *Publisher) write(fresh []*image, old []*image, withdrawn []uint64) ([]*image, error) {
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
		// Split only an image of a single batch: a batch of one function cannot
		// have parts. Split it into few, because each pass reads the whole file;
		// a part that is still too large is split when it is rewritten itself.
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
			if _, found := slices.BinarySearch(withdrawn, start); found {
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
					// The parts of a split batch can come together again.
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
