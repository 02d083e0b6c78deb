// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"slices"

	"github.com/clewdev/clew/check/internal/lift"
)

// jumpTable is a table of targets as the code that reads it uses it.
type jumpTable struct {
	address uint64
	base    uint64 // is added to the shifted entry
	size    uint8  // bytes of an entry
	shift   uint8
	signed  bool // the entries are

	count int  // entries that the index can choose from, 0 if it is not known
	exact bool // the code compares the index with count

	// reread says that the code has read the address of the table back from the frame.
	reread bool
}

// tableValue returns the value of an entry or of a target of a table.
func (u *unit) tableValue(k valueKind, t jumpTable) value {
	n := slices.Index(u.tables, t)
	if n < 0 {
		if n = len(u.tables); n > maxArgument {
			return value(other)
		}
		u.tables = append(u.tables, t)
	}
	return makeValue(k, n, 0)
}

// loadTable returns the value that a load from a table yields.
func (u *unit) loadTable(s *state, o *lift.Operation, base value, number int) value {
	m := u.c.abi
	at := makeValue(constant, 0, o.Offset)
	index, register := value(other), o.Index
	if o.Index != lift.NoRegister {
		index = s.registers[o.Index]
	}
	if o.From != lift.NoRegister {
		if base.address(m) && index.kind() == constant || index.address(m) && base.kind() == constant {
			return value(unknown) // of the frame
		}
		if base.kind() != constant && index.kind() == constant {
			base, index, register = index, base, o.From
		}
		if base.kind() != constant && base.kind() != reloaded {
			if o.Size < 8 || base.plain() || base.kind() == entry && base.argument() != m.SP {
				return value(other)
			}
			return value(derived) // perhaps saved in the frame
		}
		at = base.add(o.Offset)
	}
	t := jumpTable{address: uint64(at.offset()), size: o.Size, signed: o.Signed}
	t.reread = at.kind() == reloaded
	limit, ok := index.bound()
	exact := ok && index.argument() != 0
	if !exact && number > 0 && register != lift.NoRegister {
		if compared, found := u.indexLimit(int32(number)-1, register, o.Size); found {
			limit, ok, exact = compared, true, true
		}
	}
	if ok && limit < maxTableEntries {
		t.count, t.exact = int(limit)+1, exact
	}
	if o.Size == 8 {
		return u.tableValue(tableTarget, t)
	}
	return u.tableValue(tableEntry, t)
}

// extendEntry returns an entry that was cut to a number of bytes and extended.
func (u *unit) extendEntry(v value, size uint8, bySign bool) value {
	t := u.tables[v.argument()]
	switch {
	case size < t.size:
		return value(other)
	case size == t.size:
		t.signed = bySign
	}
	return u.tableValue(tableEntry, t)
}

// entryTarget returns the sum of a base and an entry that is shifted left.
func (u *unit) entryTarget(v, base value, shift uint8) value {
	t := u.tables[v.argument()]
	t.base, t.shift = uint64(base.offset()), shift
	t.reread = t.reread || base.kind() == reloaded
	return u.tableValue(tableTarget, t)
}

// target returns the address that an entry leads to.
func (t *jumpTable) target(word uint64) uint64 {
	if unused := 64 - 8*uint(t.size); t.signed {
		word = uint64(int64(word<<unused) >> unused)
	}
	return t.base + word<<t.shift
}

// tableTargets are the addresses that a table leads to.
type tableTargets struct {
	known bool
	trust trust
	part  uint8 // in which the code reads the table
	list  []uint64
}

// jumpIndirect follows a jump through a table.
func (u *unit) jumpIndirect(i *instruction, s *state, k int32) {
	v := s.registers[i.Register]
	if v.kind() != tableTarget {
		sp := s.registers[u.c.abi.SP]
		u.open = u.open || sp != makeValue(entry, u.c.abi.SP, 0) && !sp.unrelated(u.c.abi) && len(u.stubs) == 0
		return
	}
	t := u.targetsOf(v.argument(), i.part)
	if t == nil {
		return
	}
	out := &u.taken
	out.assign(s, u.c.abi)
	out.trust = max(out.trust, t.trust)
	list := t.list
	if !u.c.spend(4 * len(list)) { // each is merged into a state
		u.failed = TooLarge
		return
	}
	for _, target := range list {
		u.jump(target, out, k)
	}
}

// targetsOf returns the targets of a table, or nil if the budget is spent. It reads a table
// once. The end of a table whose length is not known depends on the instructions that are.
func (u *unit) targetsOf(number int, part uint8) *tableTargets {
	for len(u.targets) <= number {
		if len(u.targets) < cap(u.targets) {
			u.targets = u.targets[:len(u.targets)+1]
		} else {
			u.targets = append(u.targets, tableTargets{})
		}
		u.targets[len(u.targets)-1].known = false
	}
	r, t := &u.targets[number], &u.tables[number]
	if r.known && r.part == part {
		if r.trust == guess {
			for n, target := range r.list {
				if !u.mayTarget(target, part) {
					r.list = r.list[:n]
					break
				}
			}
		}
		return r
	}
	r.known, r.part, r.list = true, part, r.list[:0]
	count, ends := t.count, t.count > 0
	if next := u.c.nextTable(t); next > 0 && (count == 0 || next < count) {
		count, ends = next, true // whatever the index may be
	}
	if count == 0 {
		count = maxTableEntries
	}
	end := u.parts[part].end
	n := 0
	for ; n < count; n++ {
		if !u.c.spend(4) {
			u.failed = TooLarge
			return nil
		}
		word, ok := u.c.word(t.address+uint64(n)*uint64(t.size), uint64(t.size))
		if !ok {
			break
		}
		target := t.target(word)
		if target == end {
			continue // LLVM's entry for an index that the program excludes
		}
		if !u.mayTarget(target, part) {
			break
		}
		r.list = append(r.list, target)
	}
	switch {
	case t.reread || n < count || !ends:
		r.trust = guess
	case t.exact && count == t.count:
		r.trust = sure
	default:
		r.trust = possible
	}
	u.c.tables = append(u.c.tables, t.address)
	if r.trust != guess {
		slices.Sort(r.list) // many entries are those of the default
		r.list = slices.Compact(r.list)
	}
	return r
}

// nextTable returns the number of entries between the start of a table and that of the next
// one that is known, 0 if none is.
func (c *checker) nextTable(t *jumpTable) int {
	n, _ := slices.BinarySearch(c.tableStarts, t.address+1)
	if n == len(c.tableStarts) || (c.tableStarts[n]-t.address)/uint64(t.size) > maxTableEntries {
		return 0
	}
	return int((c.tableStarts[n] - t.address) / uint64(t.size))
}

// mayTarget reports whether a table of a part can lead to an address.
func (u *unit) mayTarget(pc uint64, part uint8) bool {
	if pc%uint64(u.c.abi.MinSize) != 0 {
		return false
	}
	if u.partOf(pc) == int(part) {
		return !u.within(pc)
	}
	// Else to a cold part.
	index := u.c.fdeAt(pc)
	return index >= 0 && !u.c.startsFunction(index, u.c.fdes[index].Start)
}
