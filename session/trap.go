// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/session/internal/displace"
)

// trapTable holds the trap instructions that stand in an image's code, for all
// sessions. A trap stays while any session wants it; every worker that meets it
// and does not want it goes on through the trap's slot, and so do those that
// want it, afterwards.
type trapTable struct {
	image *Image

	mu    sync.RWMutex
	traps map[uint64]*trap
	areas []*slotArea
}

// trap is one trap instruction.
type trap struct {
	address  uint64
	original []byte // what it replaced
	users    int
	slot     *placedSlot
}

// placedSlot is a slot in memory. It is never changed: workers may be in it at
// any time, also after its trap is gone.
type placedSlot struct {
	*displace.Slot
	start uint64
	pc    uint64 // of the original
}

// slotArea is memory for slots near the code that they stand for.
type slotArea struct {
	memory executable
	slots  []*placedSlot // by their place
}

const slotAreaSize = 64 << 10

// trapInstruction returns the bytes of the machine's trap instruction: int3; brk 0.
func trapInstruction(m *arch.Machine) []byte {
	if m.CodeAlign == 1 {
		return []byte{0xcc}
	}
	return []byte{0x00, 0x00, 0x20, 0xd4}
}

// set puts a trap at an address, or counts one more user of it.
func (t *trapTable) set(address uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if existing := t.traps[address]; existing != nil {
		if existing.users == 0 {
			if err := writeText(trapInstruction(t.image.machine), address); err != nil {
				return err
			}
		}
		existing.users++
		return nil
	}
	code := t.text(address, displace.Lookahead)
	if len(code) == 0 {
		return fmt.Errorf("%#x is not in the code of %s: %w", address, t.image.name, ErrAddress)
	}
	if err := t.checkExclusive(address); err != nil {
		return err
	}
	slot, err := t.place(code, address)
	if err != nil {
		return fmt.Errorf("no breakpoint at %#x: %w: %w", address, ErrAddress, err)
	}
	instruction := trapInstruction(t.image.machine)
	added := &trap{address: address, original: code[:len(instruction):len(instruction)], users: 1, slot: slot}
	if err := writeText(instruction, address); err != nil {
		return err
	}
	if t.traps == nil {
		t.traps = map[uint64]*trap{}
	}
	t.traps[address] = added
	return nil
}

// text is Image.text under the lock.
func (t *trapTable) text(address uint64, size int) []byte {
	r, ok := t.image.rangeOf(address)
	if !ok {
		return nil
	}
	code := append([]byte(nil), memoryAt(address, min(uint64(size), r.End-address))...)
	t.restoreLocked(code, address)
	return code
}

func (t *trapTable) checkExclusive(address uint64) error {
	start := address
	if r, ok := t.image.rangeOf(address); ok {
		start = max(r.Start, address-min(address, displace.Lookahead))
	}
	code := t.text(start, int(address-start)+displace.Lookahead)
	if at, inside := displace.InExclusive(t.image.machine, code, int(address-start)); inside {
		return fmt.Errorf("%#x is inside of an exclusive sequence, which a breakpoint there never lets end; set it at %#x: %w", address, start+uint64(at), ErrAddress)
	}
	return nil
}

// place makes the slot of an instruction.
func (t *trapTable) place(code []byte, pc uint64) (*placedSlot, error) {
	var area *slotArea
	for _, a := range t.areas {
		if len(a.slots) < slotAreaSize/displace.MaxSlot && reaches(t.image.machine, a.memory.address, pc) {
			area = a
			break
		}
	}
	if area == nil {
		memory, err := newExecutable(pc, slotAreaSize, reach(t.image.machine))
		if err != nil {
			return nil, err
		}
		area = &slotArea{memory: memory}
		t.areas = append(t.areas, area)
	}
	start := area.memory.address + uint64(len(area.slots))*displace.MaxSlot
	slot, err := displace.Make(t.image.machine, code, pc, start)
	if err != nil {
		return nil, err
	}
	if err := writeText(slot.Code, start); err != nil {
		return nil, err
	}
	placed := &placedSlot{slot, start, pc}
	area.slots = append(area.slots, placed)
	return placed, nil
}

// reach is how far slots may be from the code they stand for: see displace.Make.
func reach(m *arch.Machine) uint64 {
	if m.CodeAlign == 1 {
		return 1<<30 - slotAreaSize
	}
	return 100_000_000 - slotAreaSize
}

func reaches(m *arch.Machine, a, b uint64) bool { return max(a, b)-min(a, b) <= reach(m) }

// clear takes back one set. A worker that has met the trap already and finds it
// gone goes on at its address.
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
	return writeText(trap.original, address)
}

// find returns the trap that stands at an address, or nil.
func (t *trapTable) find(address uint64) *trap {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if trap := t.traps[address]; trap != nil && trap.users > 0 {
		return trap
	}
	return nil
}

// known reports whether a trap stands at an address or has stood there.
func (t *trapTable) known(address uint64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.traps[address] != nil
}

// slotAt returns the slot that an address is in, or nil.
func (t *trapTable) slotAt(address uint64) *placedSlot {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, a := range t.areas {
		if n := address - a.memory.address; n < uint64(len(a.slots))*displace.MaxSlot {
			return a.slots[n/displace.MaxSlot]
		}
	}
	return nil
}

// restore makes p, memory that was read at an address, what it would be without
// traps.
func (t *trapTable) restore(p []byte, address uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.restoreLocked(p, address)
}

func (t *trapTable) restoreLocked(p []byte, address uint64) {
	for _, trap := range t.traps {
		if trap.users > 0 {
			overlay(p, address, trap.original, trap.address)
		}
	}
}

// overlay copies what part lies in p, both with their addresses.
func overlay(p []byte, address uint64, part []byte, at uint64) {
	switch {
	case at >= address && at-address < uint64(len(p)):
		copy(p[at-address:], part)
	case at < address && address-at < uint64(len(part)):
		copy(p, part[address-at:])
	}
}

// write writes to the code. Where traps stand the original changes below them,
// and what passes them.
func (t *trapTable) write(p []byte, address uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var failed []error
	patched := append([]byte(nil), p...)
	for _, trap := range t.traps {
		if trap.users > 0 {
			// The trap stays what it is in memory.
			overlay(patched, address, trapInstruction(t.image.machine), trap.address)
		}
	}
	if err := writeText(patched, address); err != nil {
		return err
	}
	for _, trap := range t.traps {
		end := trap.address + uint64(trap.slot.Size)
		if end <= address || trap.address >= address+uint64(len(p)) {
			continue
		}
		if trap.users == 0 {
			delete(t.traps, trap.address)
			continue
		}
		overlay(trap.original, trap.address, p, address)
		slot, err := t.place(t.text(trap.address, displace.Lookahead), trap.address)
		if err != nil {
			failed = append(failed, fmt.Errorf("the breakpoint at %#x cannot be passed any more: %w", trap.address, err))
			continue
		}
		trap.slot = slot
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
	t.areas, t.traps = nil, nil
	return errors.Join(failed...)
}
