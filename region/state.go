// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import "slices"

// placeKind is the kind of place of the caller's value of a register.
type placeKind uint8

const (
	inRegister placeKind = iota + 1 // register - offset
	inMemory                        // the slot at CFA+offset
	lost                            // nowhere
)

// save is the place of the caller's value of a column. A column without a save still
// contains it.
type save struct {
	column   uint8
	kind     placeKind
	register uint8
	offset   int64
}

// maxColumns bounds the columns that operations may name. These are the registers that
// the walk of package unwind recovers; on real machines registers that calls preserve
// have numbers below 96.
const maxColumns = 128

// saves are sorted by column and immutable: states share them.
type saves []save

func (s saves) find(column uint8) (save, int, bool) {
	for i := range s {
		if s[i].column >= column {
			return s[i], i, s[i].column == column
		}
	}
	return save{}, len(s), false
}

func (s saves) with(v save) saves {
	_, i, ok := s.find(v.column)
	end := i
	if ok {
		end++
	}
	return slices.Concat(s[:i], saves{v}, s[end:])
}

func (s saves) without(column uint8) saves {
	_, i, ok := s.find(column)
	if !ok {
		return s
	}
	return slices.Concat(s[:i], s[i+1:])
}

// state is the state of the frame between two instructions.
type state struct {
	sp    int64 // the stack pointer is CFA+sp
	fp    int64 // the frame pointer is CFA+fp
	frame int16 // the column of the frame pointer, or -1

	saves saves

	// In the region held, saves includes the registers that PopFrames left in registers;
	// after replaces saves when that region ends. held is 0 in other regions.
	held  int
	after saves

	frames *frame // that PopFrames can undo, the innermost first
	depth  int    // of frames
}

// frame is a stack frame that a region set up.
type frame struct {
	before state // the frame was set up; its frames are the outer ones
	region int
}

// enter prepares the state for a region.
func (s *state) enter(region int) {
	if s.held != 0 && s.held != region {
		s.saves, s.after, s.held = s.after, nil, 0
	}
}

func (s *state) set(v save) {
	s.saves = s.saves.with(v)
	if s.held != 0 {
		s.after = s.after.with(v)
	}
}

func (s *state) drop(column uint8) {
	s.saves = s.saves.without(column)
	if s.held != 0 {
		s.after = s.after.without(column)
	}
}

// maxFrames bounds the stack frames of one procedure; real ones have one or two.
const maxFrames = 256

// open records that a region sets up a stack frame, unless it already did.
func (s *state) open(region int) error {
	if s.frames != nil && s.frames.region == region {
		return nil
	}
	if s.depth == maxFrames {
		return fault(ErrLimit, "more than %d nested stack frames", maxFrames)
	}
	s.frames = &frame{*s, region}
	s.depth++
	return nil
}

// pop undoes the last n stack frames. Values that are saved in registers stay there
// until the region ends: only the stack was freed.
func (s *state) pop(n uint64, region int) error {
	if n > uint64(s.depth) {
		return fault(ErrOperation, "more than the %d stack frames of the procedure", s.depth)
	}
	if n == 0 {
		return nil
	}
	f := s.frames
	for range n - 1 {
		f = f.before.frames
	}
	now := f.before
	now.enter(region)
	if now.held == 0 {
		now.held, now.after = region, now.saves
	}
	for _, v := range s.saves {
		_, _, known := now.saves.find(v.column)
		switch {
		case v.kind == inRegister:
			now.saves = now.saves.with(v)
		case v.kind == lost && !known:
			now.set(v) // cannot be restored
		}
	}
	*s = now
	return nil
}

// reclaim drops the slots that were freed when the stack pointer moved up from
// CFA+from: the registers saved there have been restored.
func (s *state) reclaim(from int64, entry *state) {
	if s.sp <= from {
		return
	}
	void := func(v save) bool { return v.kind == inMemory && v.offset >= from && v.offset < s.sp }
	sweep := func(in saves, frame bool) saves {
		out := in
		for _, v := range in {
			if !void(v) {
				continue
			}
			if frame && int16(v.column) == s.frame {
				s.frame = -1
			}
			// Take the innermost state around this frame that has it in another place.
			before, _, ok := entry.saves.find(v.column)
			for f := s.frames; f != nil; f = f.before.frames {
				if p, _, saved := f.before.saves.find(v.column); !saved || !void(p) {
					before, ok = p, saved
					break
				}
			}
			if ok {
				out = out.with(before)
			} else {
				out = out.without(v.column)
			}
		}
		return out
	}
	s.saves = sweep(s.saves, true)
	if s.held != 0 {
		s.after = sweep(s.after, false)
	}
}
