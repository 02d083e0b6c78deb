// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// repeat makes a number of steps, or fewer if it stops for another reason.
func (c *Console) repeat(args string, step func() (*session.Stop, error)) error {
	n, err := c.count(args)
	if err != nil {
		return err
	}
	if err := c.mustBeStopped(); err != nil {
		return err
	}
	for {
		start := c.here()
		stop, err := step()
		if err != nil {
			return err
		}
		n--
		ended := stop.Reason == session.SteppedInstruction || stop.Reason == session.SteppedLine || stop.Reason == session.SteppedOver
		if !ended || n == 0 || c.interrupt.Load() {
			c.shown = start
			return c.stopped(stop)
		}
		c.frames.Forget()
	}
}

func (c *Console) finish(args string) error {
	if args != "" {
		return errors.New("finish takes no argument: it runs to the end of the selected frame")
	}
	f, err := c.selectedFrame()
	if err != nil {
		return err
	}
	if f.Inlined && f.Level > 0 {
		return fmt.Errorf("%s is inlined into its caller and does not return; \"next\" or \"until\" leaves it", f.Name)
	}
	if err := c.mustRun(f); err != nil {
		return err
	}
	c.printf("Run till exit from ")
	c.printFrame(f, true)
	var fn *value.Function
	if f.Scope != nil {
		fn = f.Scope.Function
	}
	run := c.session.Finish
	if f.Inlined {
		run = c.session.StepOut
	}
	stop, err := run(f.Physical.Level)
	if err != nil {
		return err
	}
	nested, end := c.running, (*session.Stop)(nil)
	if stop.Outer != nil {
		end = stop
	}
	if err := c.stopped(stop); err != nil || end == nil && stop.Reason != session.SteppedOut || f.Inlined {
		return err
	}
	var r *frontend.Result
	switch {
	case end != nil && nested != nil && nested.result != nil:
		r = nested.result
	case fn == nil || fn.Type == nil:
		return nil
	default:
		if r, err = c.values.Result(fn.Type.Elem()); err != nil {
			return err
		}
	}
	v, err := r.Value(end)
	if err != nil || v.Type() == nil {
		return err
	}
	v = v.As(v.Type().WithoutTypedefs()) // as in gdb
	text, err := c.printer(0).Print(v)
	if err != nil {
		return err
	}
	c.printf("Value returned is $%d = %s\n", c.values.Record(v), text)
	return nil
}

// returnCommand makes the selected frame return without running the rest of its function.
func (c *Console) returnCommand(args string) error {
	f, err := c.selectedFrame()
	switch {
	case err != nil:
		return err
	case f.Inlined:
		return errors.New("can not force return from an inlined function")
	}
	var r *frontend.Result
	var result []byte
	if args != "" {
		if r, result, err = c.resultOf(f, args); err != nil {
			return err
		}
	}
	if err := c.session.Pop(f.Physical.Level); err != nil {
		return err
	}
	c.frames.Forget()
	c.selected = 0
	if r != nil && r.InMemory() {
		c.printf("The location at which to store the function's return value is unknown.\n" +
			"If you continue, the return value that you specified will be ignored.\n")
	} else if r != nil {
		err = r.Set(result)
	}
	switch now, failed := c.frame(0); {
	case failed != nil:
		c.showHere()
		return err
	case now.Physical.Marker: // the end of a nested call
		stop, failed := c.session.Abort()
		if failed != nil {
			return failed
		}
		c.leaveNested(stop)
	}
	return errors.Join(err, c.selectFrame(0))
}

// resultOf evaluates an expression as the result of a frame's function.
func (c *Console) resultOf(f *frontend.Frame, text string) (*frontend.Result, []byte, error) {
	v, err := c.evaluate(text)
	if err != nil {
		return nil, nil, err
	}
	v = v.Decay()
	t := v.Type()
	switch scope := f.Scope; {
	case scope != nil && scope.Function != nil && scope.Function.Type != nil:
		t = scope.Function.Type.Elem()
	case !strings.HasPrefix(text, "("):
		return nil, nil, errors.New("return value type not available for selected stack frame.\nPlease use an explicit cast of the value to return")
	}
	r, err := c.values.Result(t)
	if err != nil || t.Strip().Kind() == value.Void || r.InMemory() {
		return r, nil, err
	}
	if !v.Type().Equal(t) {
		if v = v.Cast(t); v.Err() != nil {
			return nil, nil, fmt.Errorf("%s is not of type %s: %w", text, t, v.Err())
		}
	}
	result, err := v.Bytes()
	return r, result, err
}

func (c *Console) until(args string) error {
	f, err := c.selectedFrame()
	if err != nil {
		return err
	}
	if args != "" {
		return c.runTo(args, true)
	}
	end := f.Physical.LookupPC + 1
	if r := frontend.Row(c.session, f.Physical.LookupPC); r.End > end {
		end = r.End
	}
	start, id := f.Physical.Function.Start, c.here()
	for {
		stop, err := c.session.NextLine()
		if err != nil {
			return err
		}
		c.frames.Forget()
		back := stop.Reason == session.SteppedOver && c.here().cfa == id.cfa && stop.PC >= start && stop.PC < end
		if !back || c.interrupt.Load() {
			c.shown = id
			return c.stopped(stop)
		}
	}
}

func (c *Console) advance(args string) error {
	if args == "" {
		return errors.New("advance to where? Name a function, a line (fib.c:3), or *ADDRESS")
	}
	return c.runTo(args, false)
}

// runTo runs to a location, or to the caller of the selected frame. If that is of a tail call, its
// place on the stack is the caller's, as in gdb. With within, runTo passes the location in other
// frames, as in deeper calls of the same function.
func (c *Console) runTo(location string, within bool) error {
	selected, err := c.selectedFrame()
	if err != nil {
		return err
	}
	frame := selected.Physical
	if caller := frame.ReturnsTo(); frame.TailCall && caller != nil {
		frame = caller
	}
	addresses, err := c.locate(location)
	if err != nil {
		return err
	}
	var condition func(*session.Frame) (bool, error)
	if within {
		entry := c.entryOf(frame.LookupPC)
		addresses = slices.DeleteFunc(addresses, func(a uint64) bool {
			other := c.entryOf(a)
			return other != 0 && other != entry
		})
		if cfa, ok := frame.CFA(); ok {
			condition = func(now *session.Frame) (bool, error) {
				nowCFA, ok := now.CFA()
				return !ok || nowCFA == cfa, nil
			}
		}
	}
	var set []*session.Breakpoint
	defer func() {
		for _, b := range set {
			_ = c.session.Remove(b.ID)
		}
	}()
	for _, a := range addresses {
		b, err := c.session.Break(a, &session.BreakpointOptions{Condition: condition})
		if err != nil {
			return err
		}
		set = append(set, b)
	}
	if b := c.breakAtEnd(frame); b != nil {
		set = append(set, b)
	}
	return c.resume(c.session.Continue)
}

// breakAtEnd sets a breakpoint at the return address of a frame. It returns nil if that is not
// possible.
func (c *Console) breakAtEnd(f *session.Frame) *session.Breakpoint {
	caller := f.ReturnsTo()
	if caller == nil {
		return nil
	}
	column := uint64(jit.Host().StackPointer)
	sp, ok := caller.Register(column)
	if !ok {
		return nil
	}
	b, err := c.session.Break(caller.PC, &session.BreakpointOptions{
		Condition: func(now *session.Frame) (bool, error) {
			// Deeper calls of the same function return here too.
			nowSP, ok := now.Register(column)
			return !ok || nowSP >= sp, nil
		},
	})
	if err != nil {
		return nil
	}
	return b
}
