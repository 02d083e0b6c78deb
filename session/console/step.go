// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"

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
	stop, err := c.session.StepOut(f.Physical.Level)
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
	text, err := c.printer(0).Print(v)
	if err != nil {
		return err
	}
	c.printf("Value returned is $%d = %s\n", c.values.Record(v), text)
	return nil
}

func (c *Console) until(args string) error {
	if args != "" {
		return c.advance(args)
	}
	f, err := c.selectedFrame()
	if err != nil {
		return err
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
	if err := c.mustBeStopped(); err != nil {
		return err
	}
	addresses, err := c.locate(args)
	if err != nil {
		return err
	}
	var set []*session.Breakpoint
	defer func() {
		for _, b := range set {
			_ = c.session.Remove(b.ID)
		}
	}()
	for _, a := range addresses {
		b, err := c.session.Break(a, nil)
		if err != nil {
			return err
		}
		set = append(set, b)
	}
	if b := c.breakAtEnd(); b != nil {
		set = append(set, b)
	}
	return c.resume(c.session.Continue)
}

// breakAtEnd sets a breakpoint at the return address of the selected frame. It returns nil
// if that is not possible.
func (c *Console) breakAtEnd() *session.Breakpoint {
	f, err := c.selectedFrame()
	if err != nil {
		return nil
	}
	cfa, ok := f.Physical.CFA()
	caller := c.caller(f)
	if !ok || caller == nil {
		return nil
	}
	b, err := c.session.Break(caller.Physical.PC, &session.BreakpointOptions{
		Condition: func(now *session.Frame) (bool, error) {
			// Deeper calls of the same function return here too.
			nowCFA, ok := now.CFA()
			return !ok || nowCFA > cfa, nil
		},
	})
	if err != nil {
		return nil
	}
	return b
}
