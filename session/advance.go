// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/session/internal/displace"
	"github.com/clewdev/clew/session/internal/worker"
)

// inSlot is where a worker is that stands in a slot.
type inSlot struct {
	slot  *placedSlot
	point displace.Point
	entry worker.General // the registers that it went into the slot with
}

// happening is what ended one resume of the worker.
type happening uint8

const (
	stepped    happening = iota // one instruction is done
	trapped                     // at a trap of the images', which was not considered yet
	ownTrap                     // a trap instruction of the code itself
	watched                     // an access that a debug register matches is done
	atHardware                  // a debug register matches the next instruction
	atHost                      // the stub of a host function is next
	returned                    // from the call
	signalled                   // by s.event
	stopSignal                  // asked for
	exited                      // s.event says how
)

// advance resumes the worker, for one instruction or until something happens, and
// shows its registers. Where the worker stands at a trap that was not considered,
// nothing runs.
func (s *Session) advance(single bool) (happening, worker.Event, error) {
	for {
		pc := s.registers.PC()
		if pc != s.considered && !s.restarts() && s.isTrap(pc) {
			return trapped, worker.Event{}, nil
		}
		if i := s.Image(pc); i != nil && i.hostAt(pc) != nil {
			return atHost, worker.Event{}, nil
		}
		what, event, err := s.resume(single)
		if err != nil || what != advanceAgain {
			return what, event, err
		}
	}
}

const advanceAgain = happening(0xff)

// isTrap reports whether there is a trap at an address.
func (s *Session) isTrap(address uint64) bool {
	i := s.Image(address)
	if i == nil {
		return false
	}
	if i.hostAt(address) == nil {
		return i.traps.slotOf(address) != nil
	}
	return len(s.breakpointsAt(address)) > 0 || slices.ContainsFunc(s.internals, func(at internal) bool { return at.address == address })
}

// restarts reports whether the worker was stopped in a system call that the
// kernel will restart: by moving the program counter back, which then has to be
// the one that the kernel knows.
func (s *Session) restarts() bool {
	return s.registers.PC() == s.shown && s.kernel.InSystemCall()
}

// isWhole reports whether the slot's instruction, or some of its repetitions, have been
// executed, so that the worker may leave the slot.
func (in *inSlot) isWhole() bool {
	return in.slot == nil || in.point.Done || in.slot.Instruction.Kind == displace.Repeat
}

// enter prepares the registers that the worker goes on with.
func (s *Session) enter(single bool) {
	pc := s.registers.PC()
	if s.restarts() {
		s.registers.SetPC(s.kernel.PC())
		return
	}
	s.in = inSlot{}
	if i := s.Image(pc); i != nil {
		slot := i.traps.slotOf(pc)
		if slot == nil && single && s.decode(pc).Kind == displace.Inhibit {
			// The step takes the next instruction too: in a slot that is its jump.
			slot, _ = i.traps.makeSlot(pc)
		}
		if slot != nil {
			s.in = inSlot{slot: slot, entry: s.registers}
			pc = slot.start
		}
	}
	if pc != s.kernel.PC() {
		s.registers.Enter(pc)
	} else {
		s.registers.SetPC(pc) // in a slot, and not what is shown
	}
}

func (s *Session) resume(single bool) (happening, worker.Event, error) {
	pc := s.registers.PC()
	if met, left := s.worker.Breaks(pc); left || single && !met {
		if slot := s.sequence(pc); slot != nil {
			what, event, err := s.runSequence(slot)
			if !single && what == stepped && err == nil {
				what = advanceAgain
			}
			return what, event, err
		}
	}
	registers, in, considered := s.registers, s.in, s.considered
	s.enter(single)
	s.considered = 0
	if s.registers != s.kernel {
		if err := s.worker.SetRegisters(&s.registers); err != nil && err != worker.ErrGone {
			// The session stays where it is, with what was refused to be set again.
			s.registers, s.in, s.considered = registers, in, considered
			return 0, worker.Event{}, fmt.Errorf("setting the worker's registers: %w", err)
		}
		s.kernel = s.registers
	}
	whole := stepped
	if !single {
		what, event, err := s.wait(s.worker.Continue())
		if what != watched || err != nil || s.in.isWhole() {
			return what, event, err
		}
		whole = watched
	}
	own := s.kernel.TrapFlag()
	for {
		what, event, err := s.step(own)
		switch {
		case err != nil || what != stepped && what != watched:
			return what, event, err
		case what == watched:
			whole = watched
		}
		if s.in.isWhole() {
			return whole, event, nil
		}
		// In the middle of a slot: its instruction is not done yet.
	}
}

// step executes one instruction of the worker's, and hides the flag that this
// needs, unless it is the code's own.
func (s *Session) step(own bool) (happening, worker.Event, error) {
	pc, sp := s.kernel.PC(), s.kernel.SP()
	kind := s.decode(pc).Kind
	what, event, err := s.wait(s.worker.Step())
	if err != nil || what == exited {
		return what, event, err
	}
	if what == stepped && kind == displace.Trap {
		what = ownTrap // int1
	}
	if own {
		return what, event, nil
	}
	switch kind {
	case displace.PopFlags, displace.InterruptReturn:
		if s.kernel.PC() != pc {
			return what, event, nil // its return address is popped
		}
	case displace.PushFlags:
		var flags [2]byte
		if at := s.registers.SP(); at != sp && s.ReadMemory(flags[:], at) == nil {
			flags[1] &^= 1 // TF is bit 8
			s.WriteMemory(flags[:], at)
		}
	case displace.Syscall:
		s.registers.HideTrapFlag()
	}
	// The kernel hides it, but not once it has stepped over popf or iret (see
	// enable_single_step in arch/x86/kernel/step.c): there it stays set.
	s.registers.ClearTrapFlag()
	return what, event, nil
}

// decode decodes the instruction that a single step is about to execute.
func (s *Session) decode(pc uint64) displace.Instruction {
	var instruction displace.Instruction
	if i := s.Image(pc); i != nil {
		r, _ := i.rangeOf(pc)
		reachable(func() {
			instruction, _ = displace.Decode(s.machine, memoryAt(pc, min(maxInstruction, r.End-pc)), pc)
		})
		return instruction
	}
	code := make([]byte, maxInstruction)
	n, _ := readProcess(code, pc)
	instruction, _ = displace.Decode(s.machine, code[:n], pc)
	return instruction
}

// wait waits for the worker and classifies what happened.
func (s *Session) wait(resumed error) (happening, worker.Event, error) {
	if resumed != nil && resumed != worker.ErrGone {
		return 0, worker.Event{}, fmt.Errorf("resuming the worker: %w", resumed)
	}
	event, err := s.worker.Wait()
	if err != nil {
		return 0, event, err
	}
	if event.Kind != worker.Stopped {
		return exited, event, s.lose()
	}
	if err := s.worker.Registers(&s.kernel); err != nil {
		if err == worker.ErrGone {
			return s.wait(nil)
		}
		return 0, event, fmt.Errorf("reading the worker's registers: %w", err)
	}
	s.registers = s.kernel
	what := s.classify(&event)
	s.shown = s.registers.PC()
	return what, event, nil
}

// lose gives up a worker that has ended. The next call starts another.
func (s *Session) lose() error {
	err := s.worker.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worker = nil
	if s.state == Closed {
		return ErrClosed
	}
	return err
}

func (s *Session) classify(event *worker.Event) happening {
	if event.IsTrapInstruction() {
		pc := s.registers.PC() - worker.TrapAdvance
		if pc == returnAddress(s.returns) {
			s.registers.SetPC(pc)
			return returned
		}
		if i := s.Image(pc); i != nil {
			if i.hostAt(pc) != nil || i.traps.patched(pc) {
				// advance checks what is there, because it may just have been removed.
				s.registers.SetPC(pc)
				return advanceAgain
			}
		}
		s.showSlot()
		if s.in.slot != nil && event.Addr == pc {
			event.Addr = s.registers.PC() - worker.TrapAdvance // arm64 names it
		}
		return ownTrap
	}
	pc := s.registers.PC()
	s.showSlot()
	if s.in.slot != nil && event.Addr == pc {
		event.Addr = s.registers.PC() // SIGILL and SIGFPE name the instruction
	}
	switch {
	case s.worker.IsWatch(event):
		return s.match()
	case event.IsStep():
		return stepped
	case event.IsStop():
		return stopSignal
	}
	return signalled
}

// showSlot makes the registers of a worker that is in a slot those of the
// instruction that the slot stands for.
func (s *Session) showSlot() {
	pc := s.registers.PC()
	if s.in.slot == nil || pc-s.in.slot.start >= displace.MaxSlot {
		s.in = inSlot{}
		return
	}
	point, ok := s.in.slot.At(int(pc - s.in.slot.start))
	if !ok {
		return
	}
	s.in.point = point
	if !point.Done && s.in.slot.Instruction.Kind != displace.Repeat {
		s.considered = point.PC // the trap was; the original instruction is still to be executed
	}
	s.registers.SetPC(point.PC)
	column := uint64(point.Fix.Register)
	switch point.Fix.Op {
	case displace.FixAdd:
		v, _ := s.registers.Column(column)
		s.registers.SetColumn(column, v+point.Fix.Value)
	case displace.FixSet:
		s.registers.SetColumn(column, point.Fix.Value)
	case displace.FixEntry:
		v, _ := s.in.entry.Column(column)
		s.registers.SetColumn(column, v)
	}
}
