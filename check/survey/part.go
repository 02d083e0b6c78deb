// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"errors"
	"iter"
	"path/filepath"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/internal/errorlist"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/stack/generated"
)

// Code reads the instructions of a part and their places in the source.
type Code interface {
	cfi.Memory
	Locate(address uint64) ([]object.Location, error)
}

// Part is code that is checked as one, with its unwind tables: an ELF file, an object file that
// a target has mapped, or a source of generated code.
type Part struct {
	Name      string         // path of the file, or place of the source of generated code
	Generated generated.Kind // None for a file
	Machine   *arch.Machine  // nil if it is not known
	Code      Code           // at the addresses of findings

	// Key identifies the part in a baseline, in any directory and any process.
	Key string

	check     func(check.Options) (*check.Report, error)
	functions func() int // FDEs, for an estimate
	symbols   iter.Seq[object.Symbol]

	// Of a relocatable file:
	file    *object.File
	moved   moves
	imports map[uint64]string // names of stubs
}

// Listed reports whether the part is generated code that a list in memory describes, not a file.
func (p *Part) Listed() bool {
	switch p.Generated {
	case generated.None, generated.Jitdump, generated.PerfMap:
		return false
	}
	return true
}

// File returns an ELF file as a part; for a relocatable file see [Relocatable]. It must stay open until the part is reported.
func File(f *object.File) *Part {
	return &Part{
		Name: f.Name(), Key: filepath.Base(f.Name()), Machine: f.Machine(), Code: f, symbols: f.Symbols(), file: f,
		check:     func(o check.Options) (*check.Report, error) { return check.File(f, o) },
		functions: func() int { return countFDEs(f) },
	}
}

// countFDEs returns the number of FDEs that check.File checks.
func countFDEs(f *object.File) (n int) {
	_ = object.Guard(func() error { // check.File reports the errors
		for _, open := range []func() (*cfi.Section, error){f.EHFrame, f.DebugFrame} {
			if section, err := open(); err == nil && section != nil {
				n += len(section.Index().Ranges())
			}
		}
		return nil
	})
	return n
}

// Target returns the parts of a process or core: each object file that it has mapped as code,
// with the mapped bytes, the vDSO, and each source of generated code. The error says what
// cannot be checked. The objects must stay open until the parts are reported.
func Target(objects *stack.Objects) (parts []*Part, err error) {
	s := objects.Snapshot()
	var problems errorlist.List
	for _, o := range objects.CodeObjects() {
		f, err := o.File()
		if err != nil {
			if !errors.Is(err, object.ErrNotELF) { // as the marker of a jitdump
				problems.Add(err)
			}
			continue
		}
		p := File(f)
		p.Name, p.Key = o.Name, filepath.Base(o.Name)
		code := &mappedCode{File: f, snapshot: s, bias: o.Bias}
		p.Code = code
		p.check = func(options check.Options) (*check.Report, error) {
			options.Code = code
			return check.File(f, options)
		}
		parts = append(parts, p)
	}
	sources, err := objects.GeneratedCode()
	problems.Add(err)
	for _, source := range sources {
		if source.Kind == generated.PerfMap {
			continue // it has names only
		}
		parts = append(parts, Source(source, s.Machine))
	}
	return parts, problems.Err()
}

// mappedCode is an object file whose code is read from the memory of a target, at addresses of
// the file.
type mappedCode struct {
	*object.File
	snapshot *snapshot.Snapshot
	bias     uint64
}

// ReadMemory reads code from the target's memory, and other bytes from the file: the dynamic
// linker has changed addresses in the target's data.
func (m *mappedCode) ReadMemory(p []byte, address uint64) error {
	at := address + m.bias
	if r := m.snapshot.Mapping(at); r != nil && r.Executable && uint64(len(p)) <= r.End-at && m.snapshot.Memory != nil &&
		m.snapshot.Memory.ReadMemory(p, at) == nil {
		return nil
	}
	return m.File.ReadMemory(p, address)
}
