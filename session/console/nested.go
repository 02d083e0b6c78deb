// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

// callNested makes a call while another one is stopped. If it returns, c.ended is its end, and
// nothing else changes. Otherwise the stop is printed, and the error says that the expression has no value.
func (c *Console) callNested(call *Call) error {
	if call.Main != nil {
		return errors.New("main cannot be called while a call is stopped; \"continue\" or \"kill\" it first")
	}
	selected, outer := c.selected, c.runningText()
	stop, err := c.begin(call, false)
	if err != nil {
		return err
	}
	c.outer, c.running = append(c.outer, c.running), call
	if stop.Outer != nil && stop.Reason == session.Returned {
		if call.Stopped != nil {
			err = call.Stopped()
		}
		c.leaveNested(stop)
		c.selected = selected
		return err
	}
	err = c.stopped(stop)
	name := call.name
	if name == "" {
		name, _, _ = strings.Cut(call.Text, "(")
	}
	abandoned := &frontend.AbandonedError{Function: name, Stop: stop, Setting: true}
	without := errors.New("the expression has no value")
	switch {
	case c.session.State() != session.Stopped || stop.Outer != nil:
	case c.unwind && stop.Reason.Kind() == session.KindSignal:
		aborted, abortErr := c.session.Abort()
		if abortErr != nil {
			return abortErr
		}
		c.leaveNested(aborted)
		c.selected, abandoned.Unwound = selected, true
	default:
		without = fmt.Errorf("%w; \"finish\" or \"abort\" goes back to the stop in %s", without, outer)
	}
	c.printf("%v\n", abandoned)
	return errors.Join(err, without)
}

// callWhileStopped is the command call while a call is stopped.
func (c *Console) callWhileStopped(text string) error {
	call, err := c.language.Call(text)
	if err != nil {
		return err
	}
	if err := c.callNested(call); err != nil {
		return err
	}
	if call.Result == nil {
		return nil
	}
	result, err := call.Result(c.ended)
	if err == nil && result != "" {
		c.printf("$%d = %s\n", c.values.Recorded(), result) // as gdb does
	}
	return err
}

// leaveNested records the end of the nested call: the session is at the previous stop again.
func (c *Console) leaveNested(stop *session.Stop) {
	c.frames.Forget() // memory may have changed
	c.selected = 0
	c.ended, c.stop = stop, stop.Outer
	if n := len(c.outer) - 1; n >= 0 {
		c.running, c.outer = c.outer[n], c.outer[:n]
	}
	c.leaveScopes()
}

// reportNested reports the end of a nested call that was stopped.
func (c *Console) reportNested(stop *session.Stop) error {
	text := c.runningText()
	c.leaveNested(stop)
	if stop.Reason == session.Aborted {
		c.printf("[%s was aborted]\n", text)
	}
	c.showHere()
	return c.showDisplays()
}

// mustRun returns an error for a frame outside of a nested call, which cannot return before the
// nested call has ended.
func (c *Console) mustRun(f *frontend.Frame) error {
	for level := range f.Level + 1 {
		inner, err := c.frame(level)
		if err != nil {
			return err
		}
		if inner.Physical.Marker {
			return fmt.Errorf("frame %d waits for the end of the nested call: \"finish\" or \"abort\" that first", f.Level)
		}
	}
	return nil
}
