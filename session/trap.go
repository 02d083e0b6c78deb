// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/clewdev/clew/session/internal/displace"
)

// trapTable holds the trap instructions in an image's code, for all sessions. A trap remains while
// any session uses it. A worker that passes the trap executes the original instruction in the trap's
// slot: when its session resumes, or at once if its session has no breakpoint there.
type trapTable struct {
	image *Image

	mu        sync.RWMutex
	traps     map[uint64]*trap
	sequences map[uint64]*placedSlot // see trapTable.sequence
	areas     []*slotArea
}

// trap is one trap instruction.
type trap struct {
	address  uint64
	original []byte // that the trap replaces
	users    int
	slot     *placedSlot
	code     []byte // from which the slot was made
}

// placedSlot is a slot in memory. It never changes: workers may be in it at any time, also after its
// trap is removed.
type placedSlot struct {
	*displace.Slot
	start uint64
}

// slotArea is memory for slots near the code that they replace.
type slotArea struct {
	memory executable
	slots  uint64
}

const slotAreaSize = 64 << 10

// set puts a trap at an address, or adds a user to it.
func (t *trapTable) set(address uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	trap, err := t.prepare(address)
	if err != nil {
		return err
	}
	if trap.users == 0 {
		if err := writeText(t.image.machine.Processor.Trap, address); err != nil {
			return err
		}
	}
	trap.users++
	return nil
}

// prepare returns the trap for an address. A new one is not in memory yet.
func (t *trapTable) prepare(address uint64) (*trap, error) {
	existing := t.traps[address]
	if existing != nil && existing.users > 0 {
		return existing, nil
	}
	code := t.text(address, displace.Lookahead)
	if existing != nil && bytes.Equal(code, existing.code) {
		return existing, nil // the code is unchanged
	}
	size := len(t.image.machine.Processor.Trap)
	if len(code) < size {
		return nil, failure(ErrAddress, "%#x is not in the code of %s", address, t.image.name)
	}
	if start, inside := t.sequenceStartLocked(address); inside {
		return nil, failure(ErrAddress, "%#x is inside an exclusive sequence, which would never end with a breakpoint there; set it at %#x", address, start)
	}
	slot, err := t.place(code, address, nil)
	if err != nil {
		advice := ""
		if !errors.Is(err, displace.ErrInvalid) {
			advice = "; a hardware breakpoint can be there"
		}
		return nil, failure(ErrAddress, "no trap can be at %#x%s: %w", address, advice, err)
	}
	if t.traps == nil {
		t.traps = map[uint64]*trap{}
	}
	t.traps[address] = &trap{address: address, original: bytes.Clone(code[:size]), slot: slot, code: code}
	return t.traps[address], nil
}

// makeSlot returns a slot for an instruction without a trap.
func (t *trapTable) makeSlot(address uint64) (*placedSlot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	trap, err := t.prepare(address)
	if err != nil {
		return nil, err
	}
	return trap.slot, nil
}

// text returns at most size bytes of code from an address on, without traps. The caller holds mu.
func (t *trapTable) text(address uint64, size int) []byte {
	r, ok := t.image.rangeOf(address)
	if !ok {
		return nil
	}
	code := make([]byte, min(uint64(size), r.End-address))
	n, _ := readProcess(code, address)
	t.restoreLocked(code[:n], address)
	return code[:n]
}

// sequenceStart returns the start of the exclusive sequence around an address, and whether the
// address is inside one.
func (t *trapTable) sequenceStart(address uint64) (start uint64, inside bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.sequenceStartLocked(address)
}

func (t *trapTable) sequenceStartLocked(address uint64) (start uint64, inside bool) {
	start = address
	if r, ok := t.image.rangeOf(address); ok {
		start = max(r.Start, address-min(address, displace.Lookahead))
	}
	code := t.text(start, int(address-start)+displace.Lookahead)
	at, inside := displace.InExclusive(t.image.machine, code, int(address-start))
	return start + uint64(at), inside
}

// place makes the slot of an instruction. change, unless it is nil, changes the slot before it is
// written.
func (t *trapTable) place(code []byte, pc uint64, change func(*displace.Slot)) (*placedSlot, error) {
	var area *slotArea
	reach := displace.Reach(t.image.machine) - slotAreaSize // of the area's start
	n := slices.IndexFunc(t.areas, func(a *slotArea) bool {
		return a.slots < slotAreaSize/displace.MaxSlot && max(a.memory.address, pc)-min(a.memory.address, pc) <= reach
	})
	if n >= 0 {
		area = t.areas[n]
	} else {
		memory, err := newExecutable(pc, slotAreaSize, reach)
		if err != nil {
			return nil, err
		}
		area = &slotArea{memory: memory}
		t.areas = append(t.areas, area)
	}
	start := area.memory.address + area.slots*displace.MaxSlot
	slot, err := displace.Make(t.image.machine, code, pc, start)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(slot)
	}
	if err := writeText(slot.Code, start); err != nil {
		return nil, err
	}
	area.slots++
	return &placedSlot{slot, start}, nil
}

// clear removes a user of the trap at an address, and the trap after the last user. A worker that has
// already executed the trap continues at the trap's address.
func (t *trapTable) clear(address uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	trap := t.traps[address]
	if trap == nil || trap.users == 0 {
		return nil
	}
	if trap.users--; trap.users > 0 {
		return nil
	}
	code := make([]byte, len(trap.original))
	if _, err := readProcess(code, address); err == nil && !bytes.Equal(code, t.image.machine.Processor.Trap) {
		return nil // the program has written other code
	}
	return writeText(trap.original, address)
}

// slotOf returns the slot of the trap at an address, or nil.
func (t *trapTable) slotOf(address uint64) *placedSlot {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if trap := t.traps[address]; trap != nil && trap.users > 0 {
		return trap.slot
	}
	return nil
}

// patched reports whether a trap instruction that a worker has executed is or was a trap of the
// table. If the code has a trap instruction now and the table none, it is the code's own.
func (t *trapTable) patched(address uint64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	trap := t.traps[address]
	if trap == nil || trap.users > 0 {
		return trap != nil
	}
	code := make([]byte, len(trap.original))
	if _, err := readProcess(code, address); err != nil {
		return false
	}
	p := &t.image.machine.Processor
	for i := range code {
		if (code[i]^p.Trap[i])&^p.TrapOperand[i] != 0 {
			return true
		}
	}
	return false
}

// read reads code without traps.
func (t *trapTable) read(p []byte, address uint64) (int, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, err := readProcess(p, address)
	t.restoreLocked(p[:n], address)
	return n, err
}

// restoreLocked removes the traps from p, which was read from memory at an address.
func (t *trapTable) restoreLocked(p []byte, address uint64) {
	for _, trap := range t.traps {
		if trap.users > 0 {
			overlay(p, address, trap.original, trap.address)
		}
	}
}

// overlay copies part, which belongs at the address at, to p, which begins at address, as far as they
// overlap.
func overlay(p []byte, address uint64, part []byte, at uint64) {
	switch {
	case at >= address && at-address < uint64(len(p)):
		copy(p[at-address:], part)
	case at < address && address-at < uint64(len(part)):
		copy(p, part[address-at:])
	}
}

// write writes to the code. Traps in it remain; write changes their originals and makes new slots.
func (t *trapTable) write(p []byte, address uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var failed []error
	patched := bytes.Clone(p)
	for _, trap := range t.traps {
		if trap.users > 0 {
			overlay(patched, address, t.image.machine.Processor.Trap, trap.address)
		}
	}
	if err := writeText(patched, address); err != nil {
		return err
	}
	clear(t.sequences)
	for _, trap := range t.traps {
		if trap.users == 0 || trap.address >= address+uint64(len(p)) || trap.address+displace.Lookahead <= address {
			continue // an unused trap stays in the table: a worker may just have executed it
		}
		overlay(trap.original, trap.address, p, address)
		code := t.text(trap.address, displace.Lookahead)
		if bytes.Equal(code, trap.code) {
			continue
		}
		slot, err := t.place(code, trap.address, nil)
		if err != nil {
			failed = append(failed, fmt.Errorf("execution cannot continue from the breakpoint at %#x any more: %w", trap.address, err))
			continue
		}
		trap.slot, trap.code = slot, code
	}
	return errors.Join(failed...)
}

func (t *trapTable) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var failed []error
	for _, a := range t.areas {
		failed = append(failed, a.memory.close())
	}
	t.areas, t.traps, t.sequences = nil, nil, nil
	return errors.Join(failed...)
}
