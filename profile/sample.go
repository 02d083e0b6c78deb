// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import "iter"

// Sample is a stack of a profile with its weight.
type Sample struct {
	Labels Labels
	Weight int64
	Stack  int32 // a number; samples with the same stack have the same number

	// Locations yields the locations of the stack, innermost first.
	Locations iter.Seq[Location]
}

// Samples yields the stacks of the profile, in the order in which they were first added.
func (p *Profile) Samples() iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		for _, s := range p.samples {
			if !yield(Sample{p.threads[s.thread], s.weight, s.node, p.stacks.Frames(s.node)}) {
				return
			}
		}
	}
}

// At returns the address of a location, and its frames, innermost first. The caller must not
// change the frames.
func (p *Profile) At(l Location) (address uint64, frames iter.Seq[*Frame]) {
	at := &p.locations[l]
	return at.address, func(yield func(*Frame) bool) {
		for _, i := range at.frames {
			if !yield(&p.frames[i]) {
				return
			}
		}
	}
}

// BuildID returns the build ID of an object in hexadecimal digits, or "" if it is unknown.
func (p *Profile) BuildID(object string) string { return p.buildIDs[object] }

// SetFileHash sets the hash of an object's file, as named by Frame.Object, in hexadecimal
// digits: see object.File.Hash. Objects with the same name and different hashes get none.
func (p *Profile) SetFileHash(object, hash string) {
	if p.fileHashes == nil {
		p.fileHashes = make(map[string]string)
	}
	if known, ok := p.fileHashes[object]; ok && known != hash {
		hash = ""
	}
	p.fileHashes[object] = hash
}

// FileHash returns the hash of an object's file in hexadecimal digits, or "" if it is unknown.
func (p *Profile) FileHash(object string) string { return p.fileHashes[object] }
