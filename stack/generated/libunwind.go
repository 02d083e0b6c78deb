// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/region"
	"github.com/clewdev/clew/unwind"
)

// dynInfoLists reads the lists of dynamic unwind information of all copies of libunwind that
// the target has loaded.
func (r *Reader) dynInfoLists() (sources []*Source) {
	s := r.target.Snapshot
	if s.Memory == nil {
		return nil
	}
	seen := make(map[uint64]bool)
	for _, o := range r.target.Objects() {
		f, bias, err := o.Open()
		if err != nil {
			continue // a frame in the object reports the error
		}
		at, err := libunwind.Find(s.Machine, s.Memory, func(name string) (uint64, bool) {
			symbol, ok := f.Symbol(name)
			return symbol.Address + bias, ok
		})
		if errors.Is(err, libunwind.ErrNoList) || seen[at] && err == nil {
			continue
		}
		source := &Source{Kind: DynInfoList, Place: filepath.Base(o.Name), Err: err, machine: s.Machine}
		if err == nil {
			seen[at], source.address = true, at
			source.Place = fmt.Sprintf("%#x in %s", at, filepath.Base(o.Name))
			var list *libunwind.List
			if list, source.Err = libunwind.Read(s.Machine, s.Memory, at); list != nil {
				if len(list.Infos) == 0 && list.Err == nil {
					continue // every program with libunwind has one
				}
				source.Err = errors.Join(source.Err, list.Err, source.addInfos(r, list))
			}
		}
		if source.Err != nil {
			r.Skip(fmt.Errorf("dyn-info list of %s: %w", source.Place, source.Err))
		}
		sources = append(sources, source)
	}
	return sources
}

// addInfos adds the code of a list's infos. It returns the errors of invalid infos.
func (source *Source) addInfos(r *Reader, list *libunwind.List) error {
	var errs []error
	var procedures []*region.Procedure
	for i := range list.Infos {
		if p := list.Infos[i].Procedure; p != nil {
			procedures = append(procedures, p)
		}
	}
	source.Entries = len(list.Infos)
	for i := range list.Infos {
		info := &list.Infos[i]
		if info.Err != nil && len(errs) < maxSkipped {
			errs = append(errs, info.Err)
		}
		source.ranges.add(info.Start, info.End, len(source.codes))
		source.codes = append(source.codes, r.code(DynInfoList, &infoCode{info: info, procedures: procedures,
			machine: r.target.Snapshot.Machine, memory: r.target.Snapshot.Memory}))
	}
	source.ranges.sort()
	return errors.Join(errs...)
}

// infoCode is the code that one info describes.
type infoCode struct {
	undescribed
	info       *libunwind.Info
	procedures []*region.Procedure // of the whole list: one can be an alias of another
	machine    *arch.Machine
	memory     cfi.Memory

	read    bool
	section *cfi.Section // of the regions, or the whole table
	err     error
	tables  map[uint64]ruleTables // by an address of the function
}

func (c *infoCode) name() string {
	switch {
	case c.info.Procedure != nil:
		return c.info.Procedure.Name
	case c.info.Table != nil:
		return c.info.Table.Name
	}
	return ""
}

// function returns the whole info as a function, because a table has no names for its
// functions.
func (c *infoCode) function(pc uint64) (object.Symbol, bool) {
	s := object.Symbol{Name: c.name(), Address: c.info.Start, Size: c.info.End - c.info.Start, Source: object.StaticSymbols}
	return s, s.Name != "" && pc-s.Address < s.Size
}

func (c *infoCode) functions() iter.Seq[object.Symbol] {
	return func(yield func(object.Symbol) bool) {
		if c.info.Start < c.info.End {
			yield(object.Symbol{Name: c.name(), Address: c.info.Start, Size: c.info.End - c.info.Start})
		}
	}
}

// frames returns a section that has only the FDE of an address, because other data can lie
// between the FDEs of a table.
func (c *infoCode) frames(pc uint64) ([]*cfi.Section, error) {
	if !c.read {
		c.read = true
		if c.info.Procedure != nil {
			c.section, c.err = c.regions()
		} else {
			c.section, c.err = c.info.Section(c.machine, c.memory)
		}
	}
	if c.section == nil || c.info.Procedure != nil {
		return sectionOrNone(c.section), c.err
	}
	var f cfi.FDE
	if err := c.info.FDE(c.section, pc, &f); err != nil {
		if errors.Is(err, cfi.ErrNoFDE) {
			err = nil
		}
		return nil, err
	}
	e := cfi.Encoder{Kind: c.section.Kind, Machine: c.machine, Address: c.section.Address}
	if err := e.FDE(&f); err != nil {
		return nil, err
	}
	return []*cfi.Section{{Name: c.section.Name, Kind: e.Kind, Data: e.Data, Address: e.Address, Machine: c.machine}}, nil
}

// starts yields the addresses at which entries of the info's table start.
func (c *infoCode) starts() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		base := c.info.Table.SegmentBase
		if c.info.Format == libunwind.IPOffset {
			base = c.info.Start
		}
		for _, e := range c.info.Table.Entries {
			start := base + uint64(int64(e.Start))
			if start >= c.info.Start && start < c.info.End && !yield(start) {
				return
			}
		}
	}
}

func sectionOrNone(s *cfi.Section) []*cfi.Section {
	if s == nil {
		return nil
	}
	return []*cfi.Section{s}
}

// regions converts a procedure's regions to call frame information.
func (c *infoCode) regions() (*cfi.Section, error) {
	p := c.info.Procedure
	program, err := p.Program(c.machine, c.procedures...)
	if err != nil {
		return nil, err
	}
	// An address near the code, so that all distances fit their encoding.
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: c.machine, Address: p.Start}
	if err := e.Program(program, p.Start, p.End-p.Start); err != nil {
		return nil, err
	}
	return &cfi.Section{Name: fmt.Sprintf("regions of the dyn-info at %#x", c.info.Address), Kind: e.Kind, Data: e.Data, Address: e.Address, Machine: c.machine}, nil
}

func (c *infoCode) rules(pc uint64) (*unwind.Rules, error) {
	for _, t := range c.tables {
		if rules, err := t.rules(pc); err == nil || !errors.Is(err, cfi.ErrNoFDE) {
			return rules, err
		}
	}
	sections, err := c.frames(pc)
	if len(sections) == 0 {
		return nil, errors.Join(cfi.ErrNoFDE, err)
	}
	t := newRuleTables(sections)
	if c.tables == nil || len(c.tables) >= maxInfoTables {
		c.tables = make(map[uint64]ruleTables)
	}
	c.tables[pc] = t
	return t.rules(pc)
}

// maxInfoTables bounds the tables that are kept for one info, one for each function.
const maxInfoTables = 64

// covers keeps no table, because it is called for every info of a list.
func (c *infoCode) covers(pc uint64) bool {
	once := infoCode{info: c.info, procedures: c.procedures, machine: c.machine, memory: c.memory}
	_, err := once.rules(pc)
	return err == nil
}

func (c *infoCode) unwinds() bool { return c.info.Procedure != nil || c.info.Table != nil }
