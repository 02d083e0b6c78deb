// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"errors"
	"fmt"
)

// Bounded tells why the standard library's debug/dwarf must not read s: it
// decodes the abbreviations of every unit at once, for each offset that a unit
// names anew, so that a small file can claim any amount of memory.
func (s Sections) Bounded() error {
	d := &Data{s: s}
	known := make(map[uint64]bool)
	budget := len(s.Abbrev) + 64<<10
	c := d.cursor(".debug_info", s.Info)
	for c.remain() > 0 {
		u := unit{start: uint64(c.off)}
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
		size, err := d.tableSize(u.abbrev, budget)
		if err != nil {
			return err
		}
		budget -= size
	}
	return nil
}

var errOverlap = errors.New(".debug_abbrev: tables overlap")

// tableSize returns how many bytes the table at an offset of .debug_abbrev has,
// which must not be more than most.
func (d *Data) tableSize(offset uint64, most int) (int, error) {
	if offset > uint64(len(d.s.Abbrev)) {
		return 0, fmt.Errorf(".debug_abbrev: offset %#x in %#x bytes", offset, len(d.s.Abbrev))
	}
	c := d.cursor(".debug_abbrev", d.s.Abbrev)
	c.off = int(offset)
	for c.uleb() != 0 {
		skip(&c)
		if c.off-int(offset) > most {
			return 0, errOverlap
		}
	}
	// Units that name ends of one table cost an entry each, if nothing else.
	return max(c.off-int(offset), 1), c.err
}
