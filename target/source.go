// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"errors"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/unwind/golang"
)

// CallFrames returns the call frame information of a file for a walk: .eh_frame
// by its header, and .debug_frame, of the separate debug file too where one was
// opened, for what that does not cover. Bare says that the file has none of it.
// The data may be a view of the file: see object.Guard. The error is of an
// .eh_frame that cannot be read, and then nothing is returned.
func CallFrames(f *object.File) (s *unwind.Sections, bare bool, err error) {
	eh, err := f.EHFrame()
	if eh == nil && err != nil {
		return nil, false, err
	}
	s = &unwind.Sections{EHFrame: eh, DebugFrame: f.DebugFrame}
	if eh == nil {
		debug, err := f.DebugFrame()
		bare = debug == nil && err == nil
		s.DebugFrame = func() (*cfi.Section, error) { return debug, err }
	}
	if data, address, ok := f.EHFrameHdr(); ok {
		// A damaged header only costs its table: the section is searched instead.
		if h, err := cfi.ParseHeader(data, address, f.Machine()); err == nil {
			s.Header = h
		}
	}
	return s, bare, nil
}

// GoSource returns the source s of a file with what a Go program's call frame
// information leaves out: where its stacks start, and where the runtime changes
// stacks. Of what is no Go program it returns, and false, s with the end of the
// stack at its entry point, where s says nothing of that.
func GoSource(s unwind.Source, f *object.File) (source unwind.Source, ok bool) {
	if _, ok := f.Go(); !ok {
		// Where nothing at all is said of frames the entry point is not the only one
		// of which nothing is known.
		if _, _, ok := f.EHFrameHdr(); ok && f.Entry() != 0 {
			s = entrySource{s, f.Entry(), golang.Start(f.Machine())}
		}
		return s, false
	}
	return newGoSource(s, f), true
}

// entrySource is the source of a file with an entry point. The kernel starts a
// program there, so that nothing called what is there; ld.so's does not say so.
type entrySource struct {
	unwind.Source
	entry uint64
	start *unwind.Rules
}

// entrySize is how far, in bytes, code behind an entry point is still its: a few
// instructions that make arguments and call C.
const entrySize = 32

func (s entrySource) Rules(pc uint64) (*unwind.Rules, error) {
	rules, err := s.Source.Rules(pc)
	if err != nil && pc-s.entry < entrySize && errors.Is(err, cfi.ErrNoFDE) {
		return s.start, nil
	}
	return rules, err
}
