// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxWatches is the number of debug registers for watchpoints: most processors have 4, none fewer.
// Breakpoints use other registers, of which there are more.
const MaxWatches = 4

// hardware is struct user_hwdebug_state of asm/ptrace.h.
type hardware struct {
	info, _ uint32
	slots   [16]struct {
		address    uint64
		control, _ uint32
	}
}

const hardwareHeader = unsafe.Offsetof(hardware{}.slots)

// watchState is the state of a worker's debug registers.
type watchState struct {
	watches int    // number of debug registers in use
	matched uint32 // a bit for each, by index in the list of SetWatches
	debug   debugState
}

// debugState is the content of a worker's debug registers, and the state of the step over an
// instruction that one of them has matched. The processor reports a match before the instruction,
// and would report it again at each resume, so the worker steps over the instruction with the debug
// registers off.
type debugState struct {
	list           []Watch
	breaks, watchs hardware
	pc             uint64 // when the registers were last read or set

	passed uint64 // address of the last match of a breakpoint
	step   stepOver
	event  Event // to report after the step

	interrupted bool // Interrupt was called during the step
}

// stepOver is the purpose of a step with the debug registers off.
type stepOver uint8

const (
	noStep      stepOver = iota
	toReport             // reports a watchpoint's match afterwards
	forContinue          // Continue from a breakpoint
	forStep              // Step from a breakpoint
)

// Bits of a control register (Arm ARM D2.8 and D2.9, as ptrace takes them).
const (
	controlEnabled = 1
	controlUser    = 2 << 1
	controlLoad    = 1 << 3
	controlStore   = 2 << 3
	controlBytes   = 5 // the first of 8 bits, one for each byte from the aligned address on
)

func (h *hardware) add(n int, address uint64, control uint32) {
	h.slots[n].address, h.slots[n].control = address, control|controlEnabled|controlUser
}

// SetWatches sets the debug registers. The error is ErrWatches if the processor has fewer.
func (w *Worker) SetWatches(list []Watch) error {
	var breaks, watchs hardware
	b, d := 0, 0
	for _, watch := range list {
		if b == len(breaks.slots) || d == len(watchs.slots) {
			return ErrWatches
		}
		switch watch.Access {
		case Execute:
			breaks.add(b, watch.Address, 0xf<<controlBytes)
			b++
		default:
			control := uint32(controlStore)
			if watch.Access == ReadWrite {
				control |= controlLoad
			}
			watchs.add(d, watch.Address&^7, control|(1<<watch.Size-1)<<(watch.Address&7)<<controlBytes)
			d++
		}
	}
	haveBreaks, err := w.hardwareCount(ntHWBreak)
	if err != nil {
		return err
	}
	haveWatchs, err := w.hardwareCount(ntHWWatch)
	if err != nil {
		return err
	}
	if b > haveBreaks || d > haveWatchs {
		return ErrWatches
	}
	// They are off first because the kernel checks an address against the current control word.
	if err := w.disarm(true); err != nil {
		return err
	}
	previous := w.debug
	w.debug.list, w.debug.breaks, w.debug.watchs = slices.Clone(list), breaks, watchs
	if err := w.rearm(); err != nil {
		// The kernel has refused an address: restore the previous registers.
		w.disarm(true)
		w.debug = previous
		return errors.Join(err, w.rearm())
	}
	w.watches, w.matched, w.debug.passed = len(list), 0, 0
	return nil
}

func (w *Worker) hardwareCount(set uintptr) (int, error) {
	var h hardware
	if _, err := w.getSet(set, unsafe.Pointer(&h), unsafe.Sizeof(h)); err != nil {
		return 0, fmt.Errorf("reading debug registers: %w", err)
	}
	return int(h.info & 0xff), nil
}

// used returns the number of slots in use.
func (h *hardware) used() (n int) {
	for n < len(h.slots) && h.slots[n].control != 0 {
		n++
	}
	return n
}

// disarm switches debug registers off: all, or those of breakpoints.
func (w *Worker) disarm(all bool) error {
	err := w.putHardware(ntHWBreak, &w.debug.breaks, false)
	if !all {
		return err
	}
	return errors.Join(err, w.putHardware(ntHWWatch, &w.debug.watchs, false))
}

// rearm switches the debug registers on.
func (w *Worker) rearm() error {
	if err := w.putHardware(ntHWBreak, &w.debug.breaks, true); err != nil {
		return err
	}
	return w.putHardware(ntHWWatch, &w.debug.watchs, true)
}

func (w *Worker) putHardware(set uintptr, state *hardware, on bool) error {
	n := state.used()
	if n == 0 {
		return nil
	}
	h := *state
	if !on {
		for n := range h.slots {
			h.slots[n].control &^= controlEnabled
		}
	}
	if err := w.setSet(set, unsafe.Pointer(&h), hardwareHeader+uintptr(n)*unsafe.Sizeof(h.slots[0])); err != nil {
		return fmt.Errorf("debug registers: %w", err)
	}
	return nil
}

// Continue resumes the worker.
func (w *Worker) Continue() error { return w.resume(unix.PTRACE_CONT, forContinue) }

// Step resumes the worker for one instruction.
func (w *Worker) Step() error { return w.resume(unix.PTRACE_SINGLESTEP, forStep) }

func (w *Worker) resume(request int, over stepOver) error {
	w.request, w.debug.step = request, noStep
	if _, left := w.Breaks(w.debug.pc); left {
		return w.leave(over)
	}
	w.debug.passed = 0
	return w.restart()
}

// Breaks reports whether a worker that resumes at an address hits a breakpoint in a debug register
// there (met), or has already reported it and must leave it by a step (left).
func (w *Worker) Breaks(pc uint64) (met, left bool) {
	if w.watches == 0 {
		return false, false
	}
	if w.debug.passed == pc && pc != 0 {
		return false, true
	}
	return slices.ContainsFunc(w.debug.list, func(watch Watch) bool { return watch.Access == Execute && watch.Address == pc }), false
}

// Moved records that the worker's next instruction was set, so that a breakpoint there is hit.
func (w *Worker) Moved() { w.debug.passed = 0 }

// leave steps over the next instruction with debug registers off.
func (w *Worker) leave(over stepOver) error {
	if err := w.disarm(over == toReport); err != nil {
		return err
	}
	w.request, w.debug.step = unix.PTRACE_SINGLESTEP, over
	return w.restart()
}

// absorb reports whether a stop must not be reported, or not yet. It then has resumed the worker.
func (w *Worker) absorb(e *Event) (absorbed bool, err error) {
	if e.IsStep() && e.Code == 0 {
		// The kernel has reported a step over svc, but the processor will report it too when the
		// worker resumes. Setting the registers resets that state
		// (arch/arm64/kernel/debug-monitors.c, user_regs_reset_single_step).
		var r General
		if err := w.Registers(&r); err != nil {
			return false, err
		}
		if err := w.SetRegisters(&r); err != nil {
			return false, err
		}
	}
	if w.watches == 0 {
		return false, nil
	}
	d := &w.debug
	if d.step != toReport && e.Signal == int(unix.SIGTRAP) && e.Code == trapHardware && w.match(e.Addr) {
		d.event = *e
		if passes, err := w.passSequence(); passes || err != nil {
			return passes, err
		}
		return true, w.leave(toReport)
	}
	over := d.step
	if over == noStep {
		return false, nil
	}
	if over == toReport && e.IsStop() {
		d.interrupted = true // interrupt again after the instruction
		return true, w.restart()
	}
	d.step = noStep
	if err := w.rearm(); err != nil {
		return false, err
	}
	if d.interrupted {
		d.interrupted = false
		if err := w.Interrupt(); err != nil {
			return false, err
		}
	}
	if !e.IsStep() && !(over == toReport && w.request == unix.PTRACE_CONT && e.IsTrapInstruction()) {
		w.matched = 0
		return false, nil
	}
	d.passed = 0
	switch over {
	case toReport:
		*e = d.event
	case forContinue:
		w.request = unix.PTRACE_CONT
		return true, w.restart()
	}
	return false, nil
}

// passSequence is leave for a worker that runs to a trap: see Worker.Pass.
func (w *Worker) passSequence() (passes bool, err error) {
	if w.Pass == nil {
		return false, nil
	}
	var r General
	if err := w.Registers(&r); err != nil || !w.Pass(&r) {
		return false, err
	}
	if err := w.SetRegisters(&r); err != nil {
		return false, err
	}
	if err := w.disarm(true); err != nil {
		return false, err
	}
	w.request, w.debug.step = unix.PTRACE_CONT, toReport
	return true, w.restart()
}

// match records which debug registers have matched. It returns true for an access, which is reported
// after the instruction, and false for a breakpoint, which is reported before.
func (w *Worker) match(address uint64) (data bool) {
	for n, watch := range w.debug.list {
		if watch.Access == Execute && watch.Address == address {
			w.matched |= 1 << n
			w.debug.passed = address
			return false
		}
	}
	// The reported address can be outside the watched memory if a wide access begins before it. The
	// nearest watchpoint has then matched (Arm ARM D2.9.6).
	nearest, at := ^uint64(0), -1
	for n, watch := range w.debug.list {
		if watch.Access == Execute {
			continue
		}
		distance := uint64(0)
		switch end := watch.Address + uint64(watch.Size); {
		case address < watch.Address:
			distance = watch.Address - address
		case address >= end:
			distance = address - end + 1
		}
		if distance == 0 {
			w.matched |= 1 << n
		}
		if distance < nearest {
			nearest, at = distance, n
		}
	}
	if at >= 0 {
		w.matched |= 1 << at
	}
	return at >= 0
}

// IsWatch reports whether debug registers have matched. Matches returns which.
func (w *Worker) IsWatch(e *Event) bool {
	return w.matched != 0 && e.Signal == int(unix.SIGTRAP) && e.Code == trapHardware
}
