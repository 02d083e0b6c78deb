// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/codefile"
	"github.com/clewdev/clew/unwind"
)

// Source is one place in which a target describes code that it generated. It is not safe for
// concurrent use.
type Source struct {
	Kind  Kind
	Place string // the path of a file, as the target sees it, or the address of a list: "0x7f… in libunwind.so.8"

	// Entries is the number of entries: symbol files of a GDB JIT list, records of a jitdump
	// that describe code, infos of a dyn-info list, lines of a perf map, modules of Go's list.
	Entries int
	// Err is the error of the parts that could not be read, nil if all could.
	Err error
	// Note names entries that are valid but not read: those of a GDB JIT list that are not
	// ELF files. Erlang registers such entries, for a gdb plug-in of its own. It is "" if
	// there are none.
	Note string

	address uint64        // of a list
	machine *arch.Machine // nil if the source does not name it
	codes   []*Code
	ranges  codeRanges // of the codes; empty if there is one for all addresses
}

// description describes the code of one entry. All addresses are run-time addresses.
type description interface {
	// function returns the function that covers an address.
	function(pc uint64) (object.Symbol, bool)
	// functions yields all functions that have code.
	functions() iter.Seq[object.Symbol]
	// former yields the functions with matching names that are no longer where they were.
	former(match func(name string) bool) iter.Seq[codefile.Former]
	// locate returns the source lines of an address, as object.File.Locate does.
	locate(pc uint64) ([]object.Location, error)
	// lines yields the source lines of the function at an address, in the order
	// of the source.
	lines(pc uint64) iter.Seq[jit.Line]
	// frames returns the call frame information that covers an address.
	frames(pc uint64) ([]*cfi.Section, error)
	// rules returns the rules of an address. The error wraps cfi.ErrNoFDE if the source has
	// none.
	rules(pc uint64) (*unwind.Rules, error)
	// covers reports whether an address has rules, and unwinds whether any can have.
	covers(pc uint64) bool
	unwinds() bool
	// bytes returns the source's copy of a function's code, nil if it has none.
	bytes(pc uint64) []byte
	// image returns the symbol file as it was registered, nil if there is none.
	image() []byte
}

// undescribed has the methods of a description that most sources lack.
type undescribed struct{}

func (undescribed) former(func(string) bool) iter.Seq[codefile.Former] {
	return func(func(codefile.Former) bool) {}
}
func (undescribed) locate(uint64) ([]object.Location, error) { return nil, nil }
func (undescribed) lines(uint64) iter.Seq[jit.Line]          { return func(func(jit.Line) bool) {} }
func (undescribed) frames(uint64) ([]*cfi.Section, error)    { return nil, nil }
func (undescribed) rules(uint64) (*unwind.Rules, error)      { return nil, cfi.ErrNoFDE }
func (undescribed) covers(uint64) bool                       { return false }
func (undescribed) unwinds() bool                            { return false }
func (undescribed) bytes(uint64) []byte                      { return nil }
func (undescribed) image() []byte                            { return nil }

// Code is code that an entry of a source describes: one symbol file, one info, one module, or
// all of a jitdump or perf map.
type Code struct {
	Kind Kind
	// Bare says that the source has no unwind table for any of the code. Reader.Find sets it
	// for an address without rules.
	Bare bool

	snapshot *snapshot.Snapshot // nil if the source was read without one
	is       description
}

// Function returns the function at a run-time address.
func (c *Code) Function(pc uint64) (object.Symbol, bool) { return c.is.function(pc) }

// SwitchesStack reports whether the function at a run-time address changes stacks, as
// [jit.Function] says.
func (c *Code) SwitchesStack(pc uint64) bool {
	is, ok := c.is.(interface{ switchesStack(pc uint64) bool })
	return ok && is.switchesStack(pc)
}

// Locate returns the source lines of a run-time address, as [object.File.Locate] does.
func (c *Code) Locate(pc uint64) ([]object.Location, error) { return c.is.locate(pc) }

// find returns the code that covers an address, nil if there is none. If several do, it
// returns the one that has a function there.
func (s *Source) find(pc uint64) (found *Code) {
	if len(s.codes) == 1 && len(s.ranges.list) == 0 {
		if _, ok := s.codes[0].is.function(pc); ok {
			return s.codes[0]
		}
		return nil
	}
	for i := range s.ranges.covering(pc) {
		c := s.codes[i]
		if _, ok := c.is.function(pc); ok {
			return c
		}
		if found == nil {
			found = c
		}
	}
	return found
}

// Function is a function that a Source describes.
type Function struct {
	Name        string
	Start, Size uint64 // run-time address, and bytes

	code *Code
}

// Functions yields the functions of the source, in no particular order. A perf map can still
// have lines of code that has been replaced.
func (s *Source) Functions() iter.Seq[Function] {
	return func(yield func(Function) bool) {
		for _, c := range s.codes {
			for f := range c.is.functions() {
				if !yield(Function{f.Name, f.Address, f.Size, c}) {
					return
				}
			}
		}
	}
}

// Former yields the functions with matching names that were overwritten or moved. Only
// jitdumps and perf maps have them: lists in a target's memory have no history.
func (s *Source) Former(match func(name string) bool) iter.Seq[codefile.Former] {
	return func(yield func(codefile.Former) bool) {
		for _, c := range s.codes {
			for f := range c.is.former(match) {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// Executable reports whether the function is in executable memory, since runtimes describe
// bytecode too. It returns true if the target's mappings are not known.
func (f *Function) Executable() bool {
	s := f.code.snapshot
	if s == nil || s.Mappings == nil {
		return true
	}
	m := s.Mapping(f.Start)
	return m != nil && m.Executable
}

// Unwinds reports whether the source has an unwind table for the function's
// first byte.
func (f *Function) Unwinds() bool { return f.code.is.covers(f.Start) }

// Frames returns the sections of call frame information that cover the function, at run-time
// addresses. It returns nil if the source has none.
func (f *Function) Frames() ([]*cfi.Section, error) { return f.code.is.frames(f.Start) }

// AllFrames yields the sections of call frame information for all of the function's code: the
// result of Frames, or for a table of libunwind, whose functions have no names, one for each
// of its entries.
func (f *Function) AllFrames() iter.Seq2[[]*cfi.Section, error] {
	return func(yield func([]*cfi.Section, error) bool) {
		info, ok := f.code.is.(*infoCode)
		if !ok || info.info.Table == nil {
			yield(f.Frames())
			return
		}
		for start := range info.starts() {
			if !yield(info.frames(start)) {
				return
			}
		}
	}
}

// Locate returns the source of the instruction at an address of the function, as
// object.File.Locate does.
func (f *Function) Locate(address uint64) ([]object.Location, error) {
	return f.code.is.locate(address)
}

// Image returns the symbol file as the runtime registered it, or nil if the source is not a
// GDB JIT list. The caller must not change it.
func (f *Function) Image() []byte { return f.code.is.image() }

// Code returns the function's machine code: the source's copy, or else the bytes in the
// target's memory, which are the current ones if the target is live.
func (f *Function) Code() ([]byte, error) {
	if code := f.code.is.bytes(f.Start); code != nil {
		return code, nil
	}
	s := f.code.snapshot
	if s == nil || s.Memory == nil {
		return nil, errNoCode
	}
	const step = 1 << 16
	var code []byte
	for at := uint64(0); at < f.Size; at += step {
		n := min(f.Size-at, step)
		code = append(code, make([]byte, n)...)
		if err := s.Memory.ReadMemory(code[at:], f.Start+at); err != nil {
			return nil, err
		}
	}
	return code, nil
}

// Memory returns the memory that contains the function's code, at run-time addresses: the
// source's copy of the function, or else the target's memory. It is nil if there is neither.
func (f *Function) Memory() cfi.Memory {
	if code := f.code.is.bytes(f.Start); code != nil {
		return copiedCode{f.Start, code}
	}
	if s := f.code.snapshot; s != nil {
		return s.Memory
	}
	return nil
}

// copiedCode is a copy of code.
type copiedCode struct {
	start uint64
	bytes []byte
}

// ReadMemory implements cfi.Memory.
func (c copiedCode) ReadMemory(p []byte, address uint64) error {
	size := uint64(len(c.bytes))
	offset := address - c.start
	if offset > size || uint64(len(p)) > size-offset {
		return fmt.Errorf("%d bytes at %#x: the function is [%#x, %#x)", len(p), address, c.start, c.start+size)
	}
	copy(p, c.bytes[offset:])
	return nil
}

var errNoCode = errors.New("the file has addresses and names, but no code")

// codeRanges are pieces of code by address.
type codeRanges struct {
	list []codeRange // by start, once sorted
	ends []uint64    // by index of list: the highest end up to it
}

type codeRange struct {
	start, end uint64
	index      int
}

// maxCovering bounds the ranges that are examined for one address. In a correct target
// ranges do not overlap.
const maxCovering = 256

func (r *codeRanges) add(start, end uint64, index int) {
	if start < end {
		r.list = append(r.list, codeRange{start, end, index})
	}
}

func (r *codeRanges) sort() {
	slices.SortStableFunc(r.list, func(a, b codeRange) int { return cmp.Compare(a.start, b.start) })
	r.ends = make([]uint64, len(r.list))
	highest := uint64(0)
	for i := range r.list {
		highest = max(highest, r.list[i].end)
		r.ends[i] = highest
	}
}

// covering yields the indexes of the ranges that cover an address, the one with the highest
// start first.
func (r *codeRanges) covering(pc uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		at := sort.Search(len(r.list), func(i int) bool { return r.list[i].start > pc })
		for n := 0; at > 0 && n < maxCovering; n++ {
			at--
			if r.ends[at] <= pc {
				return
			}
			if r.list[at].end > pc && !yield(r.list[at].index) {
				return
			}
		}
	}
}

// ruleTables are sections of call frame information. Only the rows that a walk needs are
// compiled.
type ruleTables []*unwind.Sections

func newRuleTables(sections []*cfi.Section) ruleTables {
	t := make(ruleTables, len(sections))
	for i, s := range sections {
		t[i] = &unwind.Sections{EHFrame: s}
	}
	return t
}

func (t ruleTables) rules(pc uint64) (rules *unwind.Rules, err error) {
	err = cfi.ErrNoFDE
	for _, s := range t {
		if rules, err = s.Rules(pc); err == nil || !errors.Is(err, cfi.ErrNoFDE) {
			return rules, err
		}
	}
	return nil, err
}

// Kind is a kind of source.
type Kind uint8

const (
	None            Kind = iota // no generated code
	GDBList                     // the list of the GDB JIT interface, found by its symbol
	GDBListSearched             // that list, found by a search of the target's memory
	Jitdump                     // a jitdump, which the target has mapped for perf
	DynInfoList                 // libunwind's list of dynamic unwind information
	PerfMap                     // /tmp/perf-PID.map of the target
	GoModuleList                // the list of modules of the target's Go runtime
)

// kinds has the name of each kind and of its entries.
var kinds = [...]struct{ name, entry string }{
	None:            {"not generated", ""},
	GDBList:         {"GDB JIT list", "symbol file"},
	GDBListSearched: {"GDB JIT list that a search found", "symbol file"},
	Jitdump:         {"jitdump", "record"},
	DynInfoList:     {"dyn-info list of libunwind", "info"},
	PerfMap:         {"perf map", "line"},
	GoModuleList:    {"Go module list", "module"},
}

// String returns the name of the kind: "perf map".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Entry returns the name of an entry of a source of the kind: "record".
func (k Kind) Entry() string {
	if int(k) < len(kinds) {
		return kinds[k].entry
	}
	return "entry"
}
