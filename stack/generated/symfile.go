// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/symfile"
)

// SymbolFile returns an ELF symbol file of functions of the source, in the format of package
// jit/symfile. It has their names, unwind tables and lines at run-time addresses, and no code.
// ([Function.Image] returns the file that a runtime registered.) If functions have the same
// start, the last one is used. If m is nil, the source's machine is used.
//
// The error names the functions that lack a table or lines. The file is nil if it could not
// be made at all.
func (s *Source) SymbolFile(m *arch.Machine, functions []Function) ([]byte, error) {
	if m == nil {
		m = s.Machine()
	}
	if m == nil {
		return nil, fmt.Errorf("%s: a %v does not say for which machine its code is", s.Place, s.Kind)
	}
	functions = slices.Clone(functions)
	slices.SortStableFunc(functions, func(a, b Function) int { return cmp.Compare(a.Start, b.Start) })
	var errs []error
	fail := func(err error) {
		if len(errs) < maxSkipped {
			errs = append(errs, err)
		}
	}
	var images [][]byte
	var text []byte // only its length counts: a symbol file holds no code
	for at := 0; at < len(functions); {
		// Adjacent functions share a section.
		code := jit.Code{Name: s.Kind.String(), Machine: m, Address: functions[at].Start}
		end := functions[at].Start
		for ; at < len(functions); at++ {
			f := &functions[at]
			if f.Size > maxFunction {
				fail(fmt.Errorf("%s at %#x has %d bytes, and is left out", f.Name, f.Start, f.Size))
				continue
			}
			if f.Size == 0 || at+1 < len(functions) && functions[at+1].Start == f.Start {
				continue
			}
			if f.Start < end {
				fail(fmt.Errorf("%s at %#x begins inside another function, and is left out", f.Name, f.Start))
				continue
			}
			if f.Start+f.Size-code.Address > maxBatch || len(code.Functions) > 0 && f.Start-end > maxGap {
				if len(code.Functions) > 0 {
					break
				}
				code.Address = f.Start
			}
			described, err := f.describe(f.Start - code.Address)
			if err != nil {
				fail(err)
			}
			code.Functions = append(code.Functions, described)
			end = f.Start + f.Size
		}
		if len(code.Functions) == 0 {
			continue
		}
		if n := end - code.Address; n > uint64(len(text)) {
			text = make([]byte, n)
		}
		code.Text = text[:end-code.Address]
		image, err := symfile.Append(nil, &code)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Place, err)
		}
		images = append(images, image)
	}
	switch len(images) {
	case 0:
		return nil, errors.Join(append(errs, fmt.Errorf("%s: no function has code", s.Place))...)
	case 1:
		return images[0], errors.Join(errs...)
	}
	file, err := symfile.Merge(nil, images, nil)
	return file, errors.Join(append(errs, err)...)
}

// Functions more than maxGap bytes apart, and those beyond maxBatch bytes, get a section of
// their own. Functions larger than maxFunction are left out.
const (
	maxFunction = 1 << 26 // bytes
	maxBatch    = 1 << 20
	maxGap      = 1 << 12
)

// Machine returns the machine of the source's code, nil if the source does not name it.
func (s *Source) Machine() *arch.Machine { return s.machine }

// describe returns the function as package jit describes it. If it returns an error, parts
// are missing.
func (f *Function) describe(offset uint64) (jit.Function, error) {
	name, _, _ := strings.Cut(f.Name, "\x00")
	if name == "" {
		name = fmt.Sprintf("jit_%x", f.Start)
	}
	out := jit.Function{Name: name, Offset: offset, Size: f.Size, SwitchesStack: f.code.SwitchesStack(f.Start)}
	last := uint64(0)
	for l := range f.code.is.lines(f.Start) {
		if l.Offset >= last && l.Offset < f.Size {
			out.Lines = append(out.Lines, l)
			last = l.Offset
		}
	}
	sections, err := f.Frames()
	for _, s := range sections {
		var fde cfi.FDE
		if findErr := s.Index().Find(f.Start, &fde); findErr != nil {
			if !errors.Is(findErr, cfi.ErrNoFDE) {
				err = errors.Join(err, findErr)
			}
			continue
		}
		p, programErr := fde.Program()
		switch {
		case programErr != nil:
			err = errors.Join(err, programErr)
		case p.End > f.Size || fde.Start != f.Start:
			err = errors.Join(err, fmt.Errorf("its unwind table covers %#x-%#x", fde.Start, fde.End))
		default:
			out.Unwind = withoutHandlers(p)
		}
		break
	}
	if err != nil {
		err = fmt.Errorf("%s at %#x: %w", f.Name, f.Start, err)
	}
	return out, err
}

// withoutHandlers returns a program without personality routine and LSDA. A debugger does not
// need them, and they are too far from the new file to be encoded.
func withoutHandlers(p *cfi.Program) *cfi.Program {
	cie := *p.CIE
	cie.DWARF64, cie.Version, cie.AddressSize, cie.SegmentSize = false, 0, 0, 0
	cie.Augmentation, cie.AugmentationData, cie.EHData = "", nil, 0
	cie.PointerEncoding = cfi.EncAbsptr
	cie.LSDAEncoding, cie.PersonalityEnc, cie.Personality = cfi.EncOmit, cfi.EncOmit, cfi.Pointer{}
	return &cfi.Program{CIE: &cie, Instructions: p.Instructions, End: p.End}
}
