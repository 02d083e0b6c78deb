// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"errors"
	"fmt"
)

// splitName is how a skeleton unit names its file.
type splitName struct{ name, directory string }

// splitFile is a file with split units.
type splitFile struct {
	sources []*source
	err     error
}

// openSplit finds the split unit of a skeleton (DWARF 5 §3.1.3). Without it the
// skeleton has the lines, and what clang leaves there of the functions.
func (d *Data) openSplit(o *openUnit) error {
	o.codeRoot = o.root
	if o.root.split.class == other {
		return nil
	}
	code, err := d.splitUnit(o)
	if errors.Is(err, ErrNotSought) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("split unit: %w", err)
	}
	if code.skeleton != nil && code.skeleton != o {
		return fmt.Errorf("split unit %016x belongs to the unit at %#x too", code.id, code.skeleton.unit.start)
	}
	code.skeleton = o
	root, err := d.readRoot(code)
	if err != nil {
		return err
	}
	o.code, o.codeRoot = code, root
	return nil
}

// splitUnit looks for the split unit of a skeleton in the package of split
// units, then in the file that the skeleton names.
func (d *Data) splitUnit(o *openUnit) (*unit, error) {
	id := o.unit.id
	if o.unit.version < 5 {
		if o.root.id.class != constant {
			return nil, errors.New("the unit that names its file has no ID")
		}
		id = o.root.id.u
	}
	code, packageErr := d.packagedUnit(id)
	if code != nil {
		return code, nil
	}
	name := splitName{
		string(d.text(o.unit, &o.root, o.root.split)),
		string(d.text(o.unit, &o.root, o.root.dir)),
	}
	file, ok := d.splits[name]
	if !ok {
		file = &splitFile{}
		file.sources, file.err = d.openSplitFile(name)
		d.splits[name] = file
	}
	if file.err != nil {
		return nil, errors.Join(packageErr, file.err)
	}
	var other uint64
	for _, src := range file.sources {
		for _, u := range d.unitsOf(src) {
			if u.typeUnit {
				continue
			}
			if u.version < 5 {
				r, err := d.readRoot(u)
				if err != nil {
					return nil, err
				}
				u.id = r.id.u
			}
			if u.id == id {
				return u, nil
			}
			other = u.id
		}
	}
	return nil, fmt.Errorf("%s: its ID is %016x, %016x expected: it is of another build", name.name, other, id)
}

func (d *Data) openSplitFile(name splitName) ([]*source, error) {
	if d.files == nil {
		return nil, ErrNotSought
	}
	if name.name == "" {
		return nil, errors.New("a file without name")
	}
	s, err := d.files.Split(name.name, name.directory)
	if err != nil {
		return nil, err
	}
	if len(s.Info) == 0 || len(s.Abbrev) == 0 {
		return nil, fmt.Errorf("%s: no .debug_info.dwo", name.name)
	}
	return d.addFile(len(d.sources), d.linked(s), true), nil
}

// linked gives the sections of a file with split units those that stay in the
// one that was linked: addresses, and the range lists of DWARF 4.
func (d *Data) linked(s Sections) Sections {
	s.Addr, s.Ranges = d.sources[0].Addr, d.sources[0].Ranges
	return s
}

// setDefaults sets the bases that a split unit does not say: its part of each
// section starts with the header of the only table there (DWARF 5 §7.26, §7.28,
// §7.29). Sections of DWARF 4 have none.
func (u *unit) setDefaults(r *root) {
	if !u.source.split {
		return
	}
	r.strOffsetsBase, r.rnglistsBase, r.loclistsBase = u.part.strOffsets, u.part.rnglists, u.part.locations
	if u.version < 5 {
		return
	}
	r.strOffsetsBase += 8
	r.rnglistsBase += 12
	r.loclistsBase += 12
	if u.is64 {
		r.strOffsetsBase += 8
		r.rnglistsBase += 8
		r.loclistsBase += 8
	}
}

// inherit sets what a split unit has from its skeleton.
func (u *unit) inherit(r *root) {
	if u.skeleton == nil {
		return
	}
	from := &u.skeleton.root
	r.low, r.addrBase, r.rangesBase = from.low, from.addrBase, from.splitRangesBase
	r.dir, r.line = from.dir, from.line
}
