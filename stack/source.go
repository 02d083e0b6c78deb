// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"debug/elf"
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
		if f.Entry() != 0 {
			_, _, covered := f.EHFrameHdr()
			s = entrySource{s, f, covered, golang.Start(f.Machine())}
		}
		return s, false
	}
	return newGoSource(s, f), true
}

// FunctionStart returns what tells where the functions of a file start, for
// unwind.Module: the call frame information that covers an address, else symbols.
func FunctionStart(s *unwind.Sections, f *object.File) func(pc uint64) (start uint64, ok bool) {
	return func(pc uint64) (uint64, bool) {
		if start, ok := s.Function(pc); ok {
			return start, true
		}
		return f.FunctionStart(pc)
	}
}

// entrySource is the source of a file with an entry point. The kernel starts a
// program there, so that nothing called what is there. The tables of ld.so, of older
// glibc on arm64, and of glibc on MIPS, m68k and sparc64 do not say so.
type entrySource struct {
	unwind.Source
	file    *object.File
	covered bool // the file has a table of all its functions, but for a few in assembly
	start   *unwind.Rules
}

func (s entrySource) Rules(pc uint64) (*unwind.Rules, error) {
	rules, err := s.Source.Rules(pc)
	if err != nil && !errors.Is(err, cfi.ErrNoFDE) || err == nil && leadsOn(rules) || !s.isEntry(pc) {
		return rules, err
	}
	return s.start, nil
}

// isEntry reports whether an address is in the function at the entry point. Where no
// symbol says how large that is it has a few instructions, which make arguments and
// call C; on arm64 up to 23, of which only the call's place is taken, as other
// functions can follow. In a file without a table many functions are not covered: there
// a symbol has to say so, and no other may stand in between, not even a label.
func (s entrySource) isEntry(pc uint64) bool {
	const few, mostOfARM64, most = 32, 92, 1 << 10
	entry := s.file.Entry()
	switch {
	case pc-entry > most: // or before it
		return false
	case !s.covered:
		symbols, _ := s.file.FindSymbols([]uint64{pc})
		return symbols[0].Name != "" && symbols[0].Address == entry
	case pc-entry < few:
		return true
	}
	if start, ok := s.file.FunctionStart(pc); ok {
		return start == entry
	}
	called := pc&3 == 3 // the byte before a return address
	return s.file.Machine().ELF == elf.EM_AARCH64 && pc-entry < mostOfARM64 && called
}

// leadsOn reports whether rules say where the return address is. A function that calls
// others cannot have it in its register all the time.
func leadsOn(r *unwind.Rules) bool {
	for i := range r.Registers {
		if rule := &r.Registers[i]; uint64(rule.Column) == r.ReturnAddress {
			return rule.Kind != cfi.SameValue
		}
	}
	return false
}
