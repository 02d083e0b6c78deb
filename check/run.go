// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/unwind"
)

// T contains the methods of *testing.T that [Run] needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Run executes the first function of a batch one instruction at a time. It fails the test for
// each register of a caller that the unwind tables recover wrongly: in the function, and in
// the functions of the batch that it calls. It also fails the test if no table describes any
// code that ran. The arguments are passed as
// [session.Session.Call] passes them. Run returns the results of the comparison, and ignores
// the function's own result.
//
// The code must be at its address, in executable memory of this process: see [jit.Memory].
// Run needs what package session needs: Linux on amd64 or arm64.
func Run(t T, code *jit.Code, args ...uint64) *TraceResult {
	t.Helper()
	if len(code.Functions) == 0 {
		t.Errorf("check.Run: the batch has no function")
		return new(TraceResult)
	}
	return TraceOptions{}.Run(t, code, code.Functions[0].Name, args...)
}

// Run is like the function [Run], but calls the function with the given name, and uses the
// options.
func (o TraceOptions) Run(t T, code *jit.Code, name string, args ...uint64) *TraceResult {
	t.Helper()
	fail := func(err error) *TraceResult {
		t.Errorf("check.Run: %v", err)
		return new(TraceResult)
	}
	if code.Address == 0 {
		return fail(errors.New("the batch has no address; copy the code to executable memory, as of jit.NewMemory, and set Address"))
	}
	image, err := session.NewImage(code)
	if err != nil {
		return fail(err)
	}
	defer image.Close()
	address, ok := image.Symbol(name)
	if !ok {
		return fail(fmt.Errorf("the batch has no function %q", name))
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := session.New(&session.Options{Images: []*session.Image{image}, Locked: true})
	if err != nil {
		return fail(err)
	}
	defer s.Close()
	result, err := Session(s, address, session.Arguments{Words: args}, &o)
	if result == nil {
		return fail(err)
	}
	for i := range result.Mismatches {
		t.Errorf("%s", Describe(s, &result.Mismatches[i]))
	}
	switch {
	case err != nil:
		t.Errorf("check.Run: %v", err)
	case result.Agree+result.Disagree == 0:
		t.Errorf("check.Run: no unwind table describes %s, and nothing was compared; set Unwind of the function, or let check.Complete make it from the code", name)
	}
	return result
}

// ErrStopped is wrapped by the error of Session if the function did not return.
var ErrStopped = errors.New("the function did not return")

// Session calls a function in a session one instruction at a time and compares its frames, as
// Trace does, with those of the tables of all images that the session has. A call of a host
// function is one instruction. The error wraps [ErrStopped] if the function faulted or was
// stopped, and the result then covers the instructions before that. Afterwards the session is
// idle, or stopped where the function stopped. The options may be nil.
func Session(s *session.Session, function uint64, args session.Arguments, o *TraceOptions) (*TraceResult, error) {
	var modules unwind.Modules
	for _, image := range append(s.Images(), s.ReturnImage()) {
		addImage(&modules, image)
	}
	args.StopAtEntry = true
	stop, err := s.CallWith(function, args)
	if err != nil {
		return nil, err
	}
	image := s.Image(function)
	if image == nil || len(image.Files()) == 0 {
		return nil, fmt.Errorf("no image describes the code at %#x", function)
	}
	var failed error
	states := func(yield func(TraceState) bool) {
		for stop.Reason != session.Returned {
			if stop.Reason != session.AtEntry && stop.Reason != session.SteppedInstruction && stop.Reason != session.AtBreakpoint {
				failed = fmt.Errorf("%w: %v", ErrStopped, stop)
				return
			}
			registers, err := s.Registers()
			if err != nil {
				failed = err
				return
			}
			r := registers.Unwind()
			if !yield(TraceState{&r, s}) {
				// The function has returned to the session's own code.
				stop, failed = s.Continue()
				return
			}
			if stop, failed = s.StepInstruction(); failed != nil {
				return
			}
		}
	}
	file := image.Files()[0]
	result, err := Trace(file.Machine(), &modules, iter.Seq[TraceState](states), o)
	if err != nil {
		return nil, err
	}
	return result, failed
}

// addImage adds the code of an image with its unwind tables.
func addImage(modules *unwind.Modules, image *session.Image) {
	var tables unionOfTables
	for _, f := range image.Files() {
		sections, _ := f.CFISections() // a damaged part costs only itself
		for _, s := range sections {
			tables = append(tables, unwind.Compile(s))
		}
	}
	for _, r := range image.Ranges() {
		modules.Add(r.Start, r.End, &unwind.Module{Name: image.Name(), Source: tables})
	}
}

// unionOfTables finds rules in the first table that covers an address.
type unionOfTables []*unwind.Table

func (u unionOfTables) Rules(pc uint64) (rules *unwind.Rules, err error) {
	err = errNoTable
	for _, t := range u {
		if rules, err = t.Rules(pc); err == nil {
			return rules, nil
		}
	}
	return nil, err
}

var errNoTable = errors.New("the image has no unwind table")

// Describe returns the text of a mismatch: the function, the instructions around it, the
// value that the table gives, and the true value.
func Describe(s *session.Session, m *Mismatch) string {
	var b strings.Builder
	where := fmt.Sprintf("%#x", m.PC)
	start := m.PC
	if image := s.Image(m.PC); image != nil {
		if f, ok := image.Function(m.PC); ok {
			where, start = fmt.Sprintf("%s+%#x", f.Name, m.PC-f.Start), f.Start
		}
	}
	fmt.Fprintf(&b, "before the instruction at %s: the table is wrong about the %s\n", where, subject(m.Register))
	for _, i := range instructionsBefore(s, start, m.PC) {
		mark := "   "
		if i.Address == m.PC {
			mark = "=> "
		}
		fmt.Fprintf(&b, "  %s%#x  %s\n", mark, i.Address, i.Text)
	}
	rule := m.Rule
	if rule == "" {
		rule = "none, so that the caller's value is in the register itself"
	}
	fmt.Fprintf(&b, "  rule:     %s\n  expected: %#x\n", rule, m.Expected)
	if m.Err != nil {
		fmt.Fprintf(&b, "  found:    nothing: %v", m.Err)
	} else {
		fmt.Fprintf(&b, "  found:    %#x", m.Found)
	}
	return b.String()
}

// subject returns what the register of a mismatch is called in a sentence.
func subject(register string) string {
	if register == "CFA" || register == "return address" {
		return register
	}
	return "caller's " + register
}

// shownBefore is the number of instructions that Describe prints before the wrong one.
const shownBefore = 3

// instructionsBefore returns the last instructions from start up to the one at pc.
func instructionsBefore(s *session.Session, start, pc uint64) []session.Instruction {
	list, _ := s.Disassemble(start, int(min(pc-start, 4096))+1)
	for i := range list {
		if list[i].Address == pc {
			return list[max(0, i-shownBefore) : i+1]
		}
	}
	one, _ := s.Disassemble(pc, 1)
	return one
}
