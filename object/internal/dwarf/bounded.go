// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"errors"
)

// Bounded tells why the standard library's debug/dwarf must not read s: it
// decodes the abbreviations of every unit at once, for each offset that a unit
// names anew, so that a small file can claim any amount of memory.
func (s Sections) Bounded() error {
	d := &Data{order: s.Order}
	src := &source{Sections: s}
	known := make(map[uint64]bool)
	budget := len(s.Abbrev) + 64<<10
	c := d.cursor(".debug_info", s.Info)
	for c.remain() > 0 {
		u := unit{source: src, start: uint64(c.off)}
		n, is64 := c.length()
		if n > uint64(c.remain()) {
			c.fail("unit of %#x bytes, %#x left", n, c.remain())
		}
		if c.err != nil {
			return c.err
		}
		if n == 0 {
			continue
		}
		u.is64, u.end = is64, uint64(c.off)+n
		if err := d.readHeader(&u, c.off); err != nil {
			return err
		}
		c.off = int(u.end)
		if known[u.abbrev] {
			continue
		}
		known[u.abbrev] = true
		size, err := d.tableSize(&u, budget)
		if err != nil {
			return err
		}
		budget -= size
	}
	return nil
}

var errOverlap = errors.New(".debug_abbrev: tables overlap")

// tableSize returns how many bytes the table of a unit has,
// which must not be more than most.
func (d *Data) tableSize(u *unit, most int) (int, error) {
	c, err := d.abbreviationCursor(u)
	if err != nil {
		return 0, err
	}
	for c.uleb() != 0 {
		skip(&c)
		if c.off-int(u.abbrev) > most {
			return 0, errOverlap
		}
	}
	// Units that name ends of one table cost an entry each, if nothing else.
	return max(c.off-int(u.abbrev), 1), c.err
}
