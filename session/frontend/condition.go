// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"cmp"
	"fmt"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
)

// Conditions is a front end's policy for the conditions of breakpoints.
type Conditions struct {
	// Everywhere: a condition must compile at all addresses of its breakpoint. Otherwise
	// one address is enough, and the breakpoint does not stop at the others.
	Everywhere bool

	// Variables: a condition may use convenience variables and the history. Otherwise all
	// types are known when the condition is set, and operators are checked then.
	Variables bool

	// Failed returns the error of a stop whose condition cannot be evaluated.
	Failed func(number int, condition string, err error) error
}

// located is an expression that is evaluated where a breakpoint stops. Its names can have
// other meanings at each address, so it is compiled for each.
type located struct {
	text   string
	values *Values
	policy *Conditions
	at     map[uint64]compiled // by program counter

	// A watchpoint stops anywhere. If its condition was set in an image, names keep the
	// meaning that they had there. set is the expression. Frames of function in image
	// have the local variables; static is a frame for the other variables. The debugging
	// information outside of images can change, so it is not kept.
	anywhere bool
	set      *expression.Expression
	image    *session.Image
	function session.Function
	static   value.Frame
}

// compiled is an expression for the code that info describes, or the error of compiling it.
type compiled struct {
	expression *expression.Expression
	info       *value.Info
	err        error
}

// locate compiles a text for addresses of images. Without addresses it compiles it in a
// frame, which is nil outside of calls.
func (v *Values) locate(text string, addresses []uint64, f *Frame, policy *Conditions) (*located, error) {
	l := &located{text: text, values: v, policy: policy, at: map[uint64]compiled{}, anywhere: len(addresses) == 0}
	if l.anywhere {
		x := v.Context(f)
		e, err := policy.compile(text, x)
		if err != nil {
			return nil, err
		}
		if f == nil || f.Physical.Image != nil {
			l.set, l.static = e, &objectFrame{value.Static(v.session, x.Info, 0), v}
		}
		if f != nil {
			l.image, l.function = f.Physical.Image, f.Physical.Function
		}
		return l, nil
	}
	failures := 0
	var failed error
	for _, a := range addresses {
		x := v.contextAt(a)
		e, err := policy.compile(text, x)
		if err != nil {
			failures, failed = failures+1, cmp.Or(failed, err)
		}
		l.at[a] = compiled{e, x.Info, err}
	}
	if failures == len(addresses) || failures > 0 && policy.Everywhere {
		return nil, failed
	}
	return l, nil
}

func (p *Conditions) compile(text string, x *expression.Context) (*expression.Expression, error) {
	if !p.Variables {
		x.Convenience, x.History = nil, nil
	}
	e, err := expression.Compile(text, x)
	if err == nil {
		err = session.CheckCondition(e)
	}
	if err != nil || p.Variables {
		return e, err
	}
	if e.IsType() {
		return nil, &expression.Error{Column: 1, Message: "Attempt to use a type name as an expression"}
	}
	if _, err := e.Type(); err != nil {
		return nil, err
	}
	return e, nil
}

// compiledFor returns the expression for the code of a frame. It compiles it once.
func (l *located) compiledFor(f *session.Frame) compiled {
	info := f.Info()
	c, known := l.at[f.PC]
	if !known || c.info != info {
		x := l.values.contextAt(f.LookupPC)
		x.Info, x.Address = info, f.LookupPC-f.Bias()
		e, err := l.policy.compile(l.text, x)
		c = compiled{e, info, err}
		l.at[f.PC] = c
	}
	return c
}

// holds evaluates a condition in a frame that has reached its breakpoint.
func (l *located) holds(f *session.Frame) (bool, error) {
	if l.set != nil {
		if l.image != nil && f.Image == l.image && f.PC-l.function.Start < l.function.Size {
			return l.set.True(f)
		}
		if yes, err := l.set.True(l.static); err == nil {
			return yes, nil
		}
	}
	c := l.compiledFor(f)
	switch {
	case c.err == nil:
		return c.expression.True(f)
	case l.anywhere || l.policy.Everywhere:
		return false, c.err
	}
	return false, nil
}

// Watchable returns the address and the size, in bytes, of a value that a watchpoint can
// watch. The error names the value and says why it cannot be watched.
func Watchable(name string, x value.Value) (address uint64, size int, err error) {
	if x.Type() == nil {
		return 0, 0, fmt.Errorf("%s has no value", name)
	}
	address, ok := x.Address()
	if !ok {
		return 0, 0, fmt.Errorf("%s is not in memory, and only memory can be watched; \"clew debug --gdb\" watches expressions", name)
	}
	n := x.Type().Size()
	if n != 1 && n != 2 && n != 4 && n != 8 || address%n != 0 {
		return 0, 0, fmt.Errorf("%s has %d bytes at %#x: only 1, 2, 4 or 8 bytes at an address that is a multiple of their number can be watched; watch a part of it", name, n, address)
	}
	return address, int(n), nil
}
