// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"bytes"
	"encoding/binary"
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

	mu        sync.RWMutex
	traps     map[uint64]*trap
	sequences map[uint64]*placedSlot // see trapTable.sequence
	areas     []*slotArea
}

// trap is one trap instruction.
type trap struct {
	address  uint64
	original []byte // replaced by the trap
	users    int
	slot     *placedSlot
	code     []byte // that the slot was made of
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
	slots  uint64
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
	trap, err := t.prepare(address)
	if err != nil {
		return err
	}
	if trap.users == 0 {
		if err := writeText(trapInstruction(t.image.machine), address); err != nil {
			return err
		}
	}
	trap.users++
	return nil
}

// prepare returns the trap at an address; a new one does not stand there yet.
func (t *trapTable) prepare(address uint64) (*trap, error) {
	existing := t.traps[address]
	if existing != nil && existing.users > 0 {
		return existing, nil
	}
	code := t.text(address, displace.Lookahead)
	if existing != nil && bytes.Equal(code, existing.code) {
		return existing, nil // the code is unchanged
	}
	size := len(trapInstruction(t.image.machine))
	if len(code) < size {
		return nil, failure(ErrAddress, "%#x is not in the code of %s", address, t.image.name)
	}
	if err := t.checkExclusive(address); err != nil {
		return nil, err
	}
	slot, err := t.place(code, address)
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

// makeSlot returns a slot for an instruction that no trap stands at.
func (t *trapTable) makeSlot(address uint64) (*placedSlot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	trap, err := t.prepare(address)
	if err != nil {
		return nil, err
	}
	return trap.slot, nil
}

// text returns at most size bytes of code from an address on, without traps. The
// caller holds mu.
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

func (t *trapTable) checkExclusive(address uint64) error {
	if start, inside := t.sequenceStartLocked(address); inside {
		return failure(ErrAddress, "%#x is inside of an exclusive sequence, which a breakpoint there never lets end; set it at %#x", address, start)
	}
	return nil
}

// sequenceStart returns where the exclusive sequence begins that an address is
// inside of.
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

// place makes the slot of an instruction.
func (t *trapTable) place(code []byte, pc uint64) (*placedSlot, error) {
	return t.placeWith(code, pc, func(*displace.Slot) {})
}

// placeWith is place of a slot that is changed first.
func (t *trapTable) placeWith(code []byte, pc uint64, change func(*displace.Slot)) (*placedSlot, error) {
	var area *slotArea
	for _, a := range t.areas {
		if a.slots < slotAreaSize/displace.MaxSlot && reaches(t.image.machine, a.memory.address, pc) {
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
	start := area.memory.address + area.slots*displace.MaxSlot
	slot, err := displace.Make(t.image.machine, code, pc, start)
	if err != nil {
		return nil, err
	}
	change(slot)
	if err := writeText(slot.Code, start); err != nil {
		return nil, err
	}
	area.slots++
	return &placedSlot{slot, start, pc}, nil
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
	if trap.users--; trap.users > 0 || !t.stands(address) {
		return nil
	}
	return writeText(trap.original, address)
}

// stands reports whether there is a trap instruction in memory, as far as that can
// be read: the program may have put other code over it.
func (t *trapTable) stands(address uint64) bool {
	instruction := trapInstruction(t.image.machine)
	code := make([]byte, len(instruction))
	_, err := readProcess(code, address)
	return err != nil || bytes.Equal(code, instruction)
}

// slotOf returns the slot of the trap that stands at an address, or nil.
func (t *trapTable) slotOf(address uint64) *placedSlot {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if trap := t.traps[address]; trap != nil && trap.users > 0 {
		return trap.slot
	}
	return nil
}

// patched reports whether a trap instruction that a worker has executed was put
// there. It may be gone since; where the program has one of its own below, the
// worker would only execute that.
func (t *trapTable) patched(address uint64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	trap := t.traps[address]
	if trap == nil || trap.users > 0 {
		return trap != nil
	}
	code := make([]byte, len(trapInstruction(t.image.machine)))
	_, err := readProcess(code, address)
	return err == nil && !traps(t.image.machine, code)
}

// traps reports whether code begins with a breakpoint instruction, which on arm64
// the program can write with another number than trapInstruction does.
func traps(m *arch.Machine, code []byte) bool {
	if m.CodeAlign == 1 {
		return bytes.Equal(code, trapInstruction(m))
	}
	return binary.LittleEndian.Uint32(code)&0xffe0001f == 0xd4200000
}

// read reads code as it would be without traps. Nobody sets or clears one meanwhile.
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
			// The trap stays in memory.
			overlay(patched, address, trapInstruction(t.image.machine), trap.address)
		}
	}
	if err := writeText(patched, address); err != nil {
		return err
	}
	clear(t.sequences)
	for _, trap := range t.traps {
		if trap.address >= address+uint64(len(p)) || trap.address+displace.Lookahead <= address {
			continue
		}
		if trap.users == 0 {
			continue // it stays known: a worker may be about to find that it is gone
		}
		overlay(trap.original, trap.address, p, address)
		code := t.text(trap.address, displace.Lookahead)
		if bytes.Equal(code, trap.code) {
			continue
		}
		slot, err := t.place(code, trap.address)
		if err != nil {
			failed = append(failed, fmt.Errorf("the breakpoint at %#x cannot be passed any more: %w", trap.address, err))
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
