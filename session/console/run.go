// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

func (c *Console) call(args string) error {
	if args == "" {
		return errors.New("call what? " + c.callHint())
	}
	if l, ok := c.language.(*cLanguage); ok {
		switch {
		case l.isExpression(args):
			return c.callExpression(args)
		case c.session.State() == session.Stopped:
			return c.callWhileStopped(args)
		}
	} // calls of other languages may share memory, such as Forth's data stack
	c.callText = args
	return c.startCall(false)
}

// callExpression is print without a line for an expression that has no value.
func (c *Console) callExpression(args string) error {
	text, v, err := c.printed(args)
	if err != nil || v.Type() == nil || v.Type().Strip().Kind() == value.Void {
		return err
	}
	c.printf("$%d = %s\n", c.values.Record(v), text)
	return nil
}

func (c *Console) run(args string) error   { return c.rerun(args, false) }
func (c *Console) start(args string) error { return c.rerun(args, true) }

// rerun makes a call, the last one if args is empty.
func (c *Console) rerun(args string, atBeginning bool) error {
	if args != "" {
		c.callText = args
	}
	if c.callText == "" {
		return errors.New("no function has been called yet: " + c.callHint())
	}
	return c.startCall(atBeginning)
}

func (c *Console) callHint() string {
	names := c.language.Functions()
	switch {
	case len(names) == 0:
		return "there is no function in the images"
	case len(names) > 8:
		names = append(names[:8:8], "… (\"info functions\" lists all)")
	}
	return "write it like fib(10); the functions are " + strings.Join(names, ", ")
}

func (c *Console) startCall(atBeginning bool) error {
	if c.session.State() == session.Stopped {
		return fmt.Errorf("%s is stopped; \"continue\" or \"kill\" it first", c.runningText())
	}
	call, err := c.language.Call(c.callText)
	if err != nil {
		return err
	}
	c.planned = &planned{call, atBeginning}
	return c.startPlanned()
}

func (c *Console) begin(call *Call, atBeginning bool) (*session.Stop, error) {
	a := call.Arguments
	a.StopAtEntry = atBeginning
	var stop *session.Stop
	var err error
	if call.Main != nil {
		stop, err = c.session.CallMain(call.Function, call.Main, a)
	} else {
		stop, err = c.calls.Start(call.Function, a, call.result)
	}
	if err == nil && stop.Reason == session.AtEntry && call.Begin != 0 && call.Begin != stop.PC {
		stop, err = c.session.RunTo(call.Begin)
	}
	return stop, err
}

func (c *Console) runningText() string {
	if c.running == nil {
		return "the call"
	}
	return c.running.Text
}

func (c *Console) mustBeStopped() error {
	if c.session.State() == session.Stopped {
		return nil
	}
	hint := "set a breakpoint and \"call\" a function"
	if c.callText != "" {
		hint = "\"run\" calls " + c.callText + ", \"start\" stops at its beginning"
	}
	return fmt.Errorf("no call is stopped: %s", hint)
}

// resume continues with a function of the session, and reports the stop.
func (c *Console) resume(run func() (*session.Stop, error)) error {
	if err := c.mustBeStopped(); err != nil {
		return err
	}
	stop, err := run()
	if err != nil {
		return err
	}
	return c.stopped(stop)
}

func (c *Console) continueCall(args string) error {
	if err := c.mustBeStopped(); err != nil {
		return err
	}
	if args != "" {
		n, err := c.count(args)
		if err != nil {
			return err
		}
		b := c.breakpointOf(c.stop)
		if b == nil {
			return errors.New("a count needs a stop at a breakpoint; use \"continue\" without a count")
		}
		b.Ignore = n - 1
		c.printf("%s  ", ignoreText(b))
	}
	c.printf("Continuing.\n")
	return c.resume(c.session.Continue)
}

func (c *Console) abort(string) error { return c.resume(c.session.Abort) }

// kill aborts the call and all calls that are nested in it.
func (c *Console) kill(string) error {
	for c.session.Nested() > 0 {
		stop, err := c.session.Abort()
		if err != nil {
			return err
		}
		c.leaveNested(stop)
	}
	return c.resume(c.session.Abort)
}

// jump continues at a location, in the frame that is the innermost.
func (c *Console) jump(args string) error {
	if err := c.mustBeStopped(); err != nil {
		return err
	}
	if args == "" {
		return errors.New("argument required (starting address)")
	}
	addresses, err := c.locate(args)
	if err != nil {
		return err
	}
	if len(addresses) > 1 {
		return fmt.Errorf("unreasonable jump request: %s is at %d addresses", args, len(addresses))
	}
	if err := c.session.SetRegister("pc", binary.LittleEndian.AppendUint64(nil, addresses[0])); err != nil {
		return err
	}
	c.printf("Continuing at %#x.\n", addresses[0])
	return c.resume(c.session.Continue)
}

// count evaluates a number of repetitions, 1 without text.
func (c *Console) count(text string) (int, error) {
	if text == "" {
		return 1, nil
	}
	v, err := c.evaluate(text)
	if err != nil {
		return 0, err
	}
	n, err := v.Uint()
	if err != nil {
		return 0, err
	}
	if n == 0 || n > maxCount {
		return 0, fmt.Errorf("invalid count %d: expected 1 to %d", int64(n), maxCount)
	}
	return int(n), nil
}

// stopped records a stop and reports it.
func (c *Console) stopped(stop *session.Stop) error {
	c.frames.Forget()
	c.selected = 0
	c.list = listing{}
	var flushed error
	if c.running != nil && c.running.Stopped != nil {
		flushed = c.running.Stopped()
	}
	if stop.Outer != nil {
		return errors.Join(c.reportNested(stop), flushed)
	}
	if stop.Reason.Kind() == session.KindExit {
		if len(c.outer) > 0 {
			c.running, c.outer = c.outer[0], nil // all calls have ended
		}
		ended := c.running
		defer func() {
			if c.running == ended { // startPlanned may have begun another call
				c.running = nil
			}
		}()
	}
	c.stop = stop
	if c.running != nil && c.running.constructor {
		switch {
		case stop.Reason == session.Returned:
			c.leaveScopes()
			return c.startPlanned()
		case stop.Reason.Kind() == session.KindExit:
			c.planned = nil
		}
	}
	return errors.Join(c.report(stop), flushed)
}

// planned is a call that waits for the return of the constructors.
type planned struct {
	call        *Call
	atBeginning bool
}

// constructors returns the constructors that were not called yet, in order. Each is called
// once, before the first call.
func (c *Console) constructors() (list []uint64) {
	images := c.session.Images()
	c.constructed = slices.DeleteFunc(c.constructed, func(i *session.Image) bool { return !slices.Contains(images, i) })
	for _, image := range images {
		if !slices.Contains(c.constructed, image) {
			c.constructed = append(c.constructed, image)
			list = append(list, image.Constructors()...)
		}
	}
	return list
}

func (c *Console) constructor(address uint64) *Call {
	name, _, ok := c.symbols.Symbol(address)
	if !ok {
		name = fmt.Sprintf("*%#x", address)
	}
	return &Call{Text: "the constructor " + name, Function: address, constructor: true}
}

// startPlanned calls the remaining constructors, then makes the planned call. If a
// constructor stops, the others wait for its end.
func (c *Console) startPlanned() error {
	c.toConstruct = append(c.toConstruct, c.constructors()...)
	for len(c.toConstruct) > 0 {
		c.running = c.constructor(c.toConstruct[0])
		c.toConstruct = c.toConstruct[1:]
		stop, err := c.begin(c.running, false)
		if err != nil {
			return err
		}
		if stop.Reason != session.Returned {
			c.printf("Running %s.\n", c.running.Text)
			return c.stopped(stop)
		}
	}
	next := c.planned
	c.planned = nil
	if next == nil {
		return nil
	}
	c.running = next.call
	stop, err := c.begin(next.call, next.atBeginning)
	if err != nil {
		return err
	}
	return c.stopped(stop)
}
