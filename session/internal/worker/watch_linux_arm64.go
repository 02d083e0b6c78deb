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

// MaxWatches is the number of watchpoints that processors have at least, and
// mostly. Breakpoints have registers of their own, of which there are more.
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

// watchState is what a worker's debug registers do.
type watchState struct {
	watches int    // debug registers in use
	met     uint32 // of them, a bit each, by their places in the list of SetWatches
	debug   debugState
}

// A debugState is a worker's debug registers, and the step with which the worker
// leaves an instruction that one of them has matched: here that is told before
// the instruction has run, and would be again and again.
type debugState struct {
	list           []Watch
	breaks, watchs hardware
	pc             uint64 // as the registers were last read or set

	passed uint64 // where a breakpoint has matched last
	step   stepOver
	event  Event // to be told when the step is done

	interrupted bool // meanwhile
}

// stepOver is what a step with the debug registers off is for.
type stepOver uint8

const (
	noStep   stepOver = iota
	toTell            // of the watchpoint that has matched
	toGoOn            // from a breakpoint
	asWished          // by Step, from a breakpoint
)

// Bits of a control register (Arm ARM D2.8 and D2.9, as ptrace takes them).
const (
	controlEnabled = 1
	controlUser    = 2 << 1
	controlLoad    = 1 << 3
	controlStore   = 2 << 3
	controlBytes   = 5 // the first of 8 bits, one a byte from the aligned address on
)

func (h *hardware) add(n int, address uint64, control uint32) {
	h.slots[n].address, h.slots[n].control = address, control|controlEnabled|controlUser
}

// Watches reports whether any debug register is set.
func (w *Worker) Watches() bool { return w.watches > 0 }

// SetWatches sets the debug registers; ErrWatches where there are not that many.
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
	// Off first: an address is checked against the control word that holds.
	if err := w.disarm(true); err != nil {
		return err
	}
	before := w.debug
	w.debug.list, w.debug.breaks, w.debug.watchs = slices.Clone(list), breaks, watchs
	if err := w.rearm(); err != nil {
		// An address that the kernel refuses costs those that were there nothing. What
		// was set before it is off again, and what comes behind it never was on.
		w.disarm(true)
		w.debug = before
		return errors.Join(err, w.rearm())
	}
	w.watches, w.met, w.debug.passed = len(list), 0, 0
	return nil
}

func (w *Worker) hardwareCount(set uintptr) (int, error) {
	var h hardware
	if _, err := w.getSet(set, unsafe.Pointer(&h), unsafe.Sizeof(h)); err != nil {
		return 0, fmt.Errorf("reading debug registers: %w", err)
	}
	return int(h.info & 0xff), nil
}

// used is the number of slots in use.
func (h *hardware) used() (n int) {
	for n < len(h.slots) && h.slots[n].control != 0 {
		n++
	}
	return n
}

// disarm switches debug registers off: those of breakpoints, or all.
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
func (w *Worker) Continue() error { return w.resume(unix.PTRACE_CONT, toGoOn) }

// Step resumes the worker for one instruction.
func (w *Worker) Step() error { return w.resume(unix.PTRACE_SINGLESTEP, asWished) }

func (w *Worker) resume(request int, over stepOver) error {
	w.request, w.debug.step = request, noStep
	if _, left := w.Breaks(w.debug.pc); left {
		return w.leave(over)
	}
	w.debug.passed = 0
	return w.again()
}

// Breaks reports whether a breakpoint in a debug register will be met at an
// address that the worker goes on at, or has been, so that the worker has to
// leave it by a step.
func (w *Worker) Breaks(pc uint64) (met, left bool) {
	if w.watches == 0 {
		return false, false
	}
	if w.debug.passed == pc && pc != 0 {
		return false, true
	}
	return slices.ContainsFunc(w.debug.list, func(watch Watch) bool { return watch.Access == Execute && watch.Address == pc }), false
}

// Anew says that the worker comes to where it goes on from elsewhere, so that
// breakpoints there are met.
func (w *Worker) Anew() { w.debug.passed = 0 }

// leave steps over the instruction that runs next with debug registers off.
func (w *Worker) leave(over stepOver) error {
	if err := w.disarm(over == toTell); err != nil {
		return err
	}
	w.request, w.debug.step = unix.PTRACE_SINGLESTEP, over
	return w.again()
}

// absorb takes stops that are not to be told of, or not yet.
func (w *Worker) absorb(e *Event) (absorbed bool, err error) {
	if e.IsStep() && e.Code == 0 {
		// The kernel has told of a step over svc in words of its own, and forgot that
		// the processor will tell of it too, when it is let to. To set the registers
		// sets its state right (arch/arm64/kernel/debug-monitors.c,
		// user_regs_reset_single_step).
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
	if d.step != toTell && e.Signal == int(unix.SIGTRAP) && e.Code == trapHardware && w.match(e.Addr) {
		d.event = *e
		if passes, err := w.passSequence(); passes || err != nil {
			return passes, err
		}
		return true, w.leave(toTell)
	}
	over := d.step
	if over == noStep {
		return false, nil
	}
	if over == toTell && e.IsStop() {
		// It came before the instruction, and has to be seen after it.
		d.interrupted = true
		return true, w.again()
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
	if !e.IsStep() && !(over == toTell && w.request == unix.PTRACE_CONT && e.IsTrapInstruction()) {
		w.met = 0
		return false, nil
	}
	d.passed = 0
	switch over {
	case toTell:
		*e = d.event
	case toGoOn:
		w.request = unix.PTRACE_CONT
		return true, w.again()
	}
	return false, nil
}

// passSequence is leave for a worker that goes on to a trap: see Worker.Pass.
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
	w.request, w.debug.step = unix.PTRACE_CONT, toTell
	return true, w.again()
}

// match notes which debug registers have matched, and reports whether the
// instruction has to be left before that is told. Execution is told of where
// it is about to happen.
func (w *Worker) match(address uint64) (data bool) {
	for n, watch := range w.debug.list {
		if watch.Access == Execute && watch.Address == address {
			w.met |= 1 << n
			w.debug.passed = address
			return false
		}
	}
	// An access that begins before what is watched, or is wider than the processor
	// tells of, has an address beside it: the nearest is meant (Arm ARM D2.9.6).
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
			w.met |= 1 << n
		}
		if distance < nearest {
			nearest, at = distance, n
		}
	}
	if at >= 0 {
		w.met |= 1 << at
	}
	return at >= 0
}

// IsWatch reports whether debug registers have matched: Met says which.
func (w *Worker) IsWatch(e *Event) bool {
	return w.met != 0 && e.Signal == int(unix.SIGTRAP) && e.Code == trapHardware
}

// Met returns which watches have matched since it was last called, by their places
// in the list of SetWatches.
func (w *Worker) Met() []int {
	var list []int
	for n := range w.debug.list {
		if w.met>>n&1 != 0 {
			list = append(list, n)
		}
	}
	w.met = 0
	return list
}
