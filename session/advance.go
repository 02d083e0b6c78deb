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

// inSlot describes a worker that is in a slot. slot is nil if it is in none.
type inSlot struct {
	slot  *placedSlot
	point displace.Point
	entry worker.General // the registers with which the worker entered the slot
}

// happening is the reason why the worker stopped after one resume.
type happening uint8

const (
	stepped    happening = iota // executed one instruction
	trapped                     // at a trap of the session that is not considered yet
	ownTrap                     // at a trap instruction of the code itself
	watched                     // after an access that a debug register matches
	atHardware                  // before an instruction that a debug register matches
	atHost                      // at the stub of a host function
	returned                    // from the call
	signalled                   // the event has the signal
	stopSignal                  // by Worker.Interrupt
	exited                      // the event has the reason

	advanceAgain = happening(0xff) // look again at the place where the worker is
)

// advance resumes the worker, for one instruction or until something happens, and updates
// s.registers. At a trap that is not considered yet, it runs nothing.
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

// isTrap reports whether an address has a trap of the session or of another one.
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

// restarts reports whether the worker was stopped in a system call that the kernel will restart.
// The kernel does so by moving the program counter back, so it must get the value that it knows.
func (s *Session) restarts() bool {
	return s.registers.PC() == s.shown && s.kernel.InSystemCall()
}

// isWhole reports whether the worker may leave the slot: it has executed the slot's instruction, or
// whole repetitions of it.
func (in *inSlot) isWhole() bool {
	return in.slot == nil || in.point.Done || in.slot.Instruction.Kind == displace.Repeat
}

// enter prepares the registers with which the worker resumes.
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
			// The step also executes the next instruction. In a slot that is the slot's jump.
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
		s.registers.SetPC(pc) // in a slot, where s.registers has the original address
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
			s.registers, s.in, s.considered = registers, in, considered // the session stays where it is
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
	}
}

// step executes one instruction of the worker, and hides the trap flag that this needs. With own
// the code has set the flag itself, and it stays visible.
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
			return what, event, nil // the instruction has popped the flags
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
	// The kernel hides the flag, but not after a step over popf or iret: enable_single_step in
	// arch/x86/kernel/step.c.
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

// wait waits for the worker and classifies the event. resumed is the error of the resume.
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

// lose closes the worker. The next call starts another one.
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
				// Another goroutine may just have removed the trap: advance checks.
				s.registers.SetPC(pc)
				return advanceAgain
			}
		}
		s.showSlot()
		if s.in.slot != nil && event.Addr == pc {
			event.Addr = s.registers.PC() - worker.TrapAdvance // arm64 reports the trap's address
		}
		return ownTrap
	}
	pc := s.registers.PC()
	s.showSlot()
	if s.in.slot != nil && event.Addr == pc {
		event.Addr = s.registers.PC() // SIGILL and SIGFPE report the instruction's address
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

// showSlot changes the registers of a worker in a slot to those that it would have at the original
// instruction.
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
		s.considered = point.PC // the original instruction is not executed yet
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
