// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"unsafe"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

// Calls prepares and starts calls of functions: it passes arguments and finds results by their
// types and the machine's calling convention. Only one goroutine may use it.
type Calls struct {
	values  *Values
	symbols *Symbols
	memory  [][]byte // strings and buffers for results; the code may keep their addresses
}

// NewCalls returns the calls of a session.
func NewCalls(v *Values, s *Symbols) *Calls { return &Calls{values: v, symbols: s} }

// Call is a prepared call.
type Call struct {
	Name      string // of the function, or its address
	Function  uint64 // address
	Arguments session.Arguments
	Result    *Result // nil if the caller reads the result itself
}

// Prepare prepares the call of a function in an expression: expression.Context.Call passes it
// the function and the arguments, which have the types of the parameters. The error says which
// argument or result cannot be passed.
func (c *Calls) Prepare(function value.Value, arguments []value.Value) (*Call, error) {
	call := &Call{}
	call.Function, _ = function.Address()
	name, _, ok := c.symbols.Symbol(call.Function)
	if name = style.DemangleCode(name); !ok {
		name = fmt.Sprintf("%#x", call.Function)
	}
	call.Name = name
	t := function.Type()
	if len(t.Strip().Params()) == 0 && !c.described(call.Function) {
		t = nil // a symbol without a type
	}
	if t != nil && c.isRust(call.Function) && !returnedLikeC(t.Strip().Elem()) {
		return nil, fmt.Errorf("%s cannot be called here: Rust returns a %s in its own way; call a function that stores it", name, t.Strip().Elem())
	}
	var err error
	if call.Result, err = c.PassResult(&call.Arguments, name, t); err != nil {
		return nil, err
	}
	for i, v := range arguments {
		if err := c.Pass(&call.Arguments, v, true); err != nil {
			return nil, fmt.Errorf("argument %d of %s: %w", i+1, name, err)
		}
	}
	return call, nil
}

// isRust reports whether the function at an address is of Rust.
func (c *Calls) isRust(address uint64) bool {
	image := c.values.session.Image(address)
	if image == nil {
		return false
	}
	info := image.Info(address)
	return info != nil && info.Language(address) == value.Rust
}

// returnedLikeC reports whether functions of Rust return a type in the same place as those of C.
// Rust returns each of two members in a register of its own; C packs small members.
func returnedLikeC(t *value.Type) bool {
	for range 16 { // of nested members
		t = t.Strip()
		switch t.Kind() {
		case value.Struct, value.Class, value.Union, value.Array:
		default:
			return true
		}
		fields := t.Fields()
		switch {
		case t.Size() > 16:
			return true
		case t.HasVariants() || t.Kind() != value.Struct:
			return false
		case len(fields) == 2 && t.Size() == 16 && fields[0].Type.Size() == 8 && fields[1].Type.Size() == 8:
			return returnedLikeC(fields[0].Type) && returnedLikeC(fields[1].Type)
		case len(fields) != 1:
			return len(fields) == 0
		}
		t = fields[0].Type
	}
	return false
}

// described reports whether debugging information describes the function at an address.
func (c *Calls) described(address uint64) bool {
	image := c.values.session.Image(address)
	if image == nil {
		return false
	}
	info := image.Info(address)
	if info == nil {
		return false
	}
	fn, err := info.FunctionAt(address)
	return err == nil && fn != nil
}

// clone matches the names of functions whose parameters GCC changed.
var clone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[. ](constprop|isra|part)\b`) })

// PassResult returns the place of the result of a function of type t, and allocates the memory
// for the result if it needs memory. The address of the memory can be the first argument, so
// PassResult precedes Pass. A nil t is unknown: the result is a long.
func (c *Calls) PassResult(a *session.Arguments, name string, t *value.Type) (*Result, error) {
	result := value.Base(jit.Host(), "long")
	if t != nil {
		result = t.Strip().Elem()
	}
	if clone().MatchString(name) {
		return nil, fmt.Errorf("%s cannot be called here: the compiler changed its parameters", name)
	}
	r, err := c.values.Result(result)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be called here: %w", name, err)
	}
	if r.inMemory {
		size := result.Size()
		if size > value.MaxSize {
			return nil, fmt.Errorf("%s cannot be called here: it returns %d bytes", name, size)
		}
		r.address = c.Store(make([]byte, size))
		if resultRules().Address == 0 {
			a.Words = append(a.Words, r.address)
		}
	}
	return r, nil
}

// Pass adds a value to the arguments. converted reports that it has the parameter's type.
func (c *Calls) Pass(a *session.Arguments, v value.Value, converted bool) error {
	if _, ok := v.Address(); !ok && v.Type().Strip().Kind() == value.Array {
		b, err := v.Bytes()
		if err != nil {
			return err
		}
		a.Words = append(a.Words, c.Store(b)) // a string
		return nil
	}
	v = v.Decay()
	stripped := v.Type().Strip()
	switch stripped.Kind() {
	case value.Float:
		f, err := v.Float()
		if err != nil {
			return err
		}
		switch {
		case stripped.Size() == 4 && converted:
			f = session.Float32(float32(f))
		case stripped.Size() > 8:
			return fmt.Errorf("%s cannot be passed: only float and double can", v.Type())
		}
		a.Floats = append(a.Floats, f)
	case value.Struct, value.Class, value.Union, value.Complex, value.Array:
		return fmt.Errorf("%s cannot be passed: only numbers, pointers and strings can", v.Type())
	default:
		if stripped.Size() > 8 {
			return fmt.Errorf("%s cannot be passed: it has more than 8 bytes", v.Type())
		}
		w, err := v.Uint()
		if err != nil {
			return err
		}
		a.Words = append(a.Words, w)
	}
	return nil
}

// Store copies bytes to memory that stays allocated, aligned for every type, and returns the
// address.
func (c *Calls) Store(p []byte) uint64 {
	const alignment = 64
	b := make([]byte, len(p)+alignment)
	c.memory = append(c.memory, b)
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	padding := -address % alignment
	copy(b[padding:], p)
	return address + padding
}

// Start makes a call, and returns its first stop. The call is nested if the session is stopped in
// another one: see session.CallNested. With a.StopAtEntry it stops before the first instruction.
// r can be nil.
func (c *Calls) Start(function uint64, a session.Arguments, r *Result) (*session.Stop, error) {
	s := c.values.session
	start := s.CallWith
	if s.State() == session.Stopped {
		start = s.CallNested
	}
	if r == nil || !r.InRegister() {
		return start(function, a)
	}
	atEntry := a.StopAtEntry
	a.StopAtEntry = true
	stop, err := start(function, a)
	if err != nil {
		return nil, err
	}
	name := jit.Host().RegisterName(uint64(resultRules().Address))
	if err := s.SetRegister(name, binary.LittleEndian.AppendUint64(nil, r.address)); err != nil {
		_, failed := s.Abort()
		return nil, errors.Join(err, failed)
	}
	if stop.Reason == session.AtEntry && !atEntry {
		return s.Continue()
	}
	return stop, nil
}

// AbandonedError is the error of an expression with a nested call that has not returned, in
// gdb's words.
type AbandonedError struct {
	Function string        // name
	Stop     *session.Stop // of the nested call
	Setting  bool          // the front end has gdb's setting unwindonsignal
	Unwound  bool          // the call was aborted after the stop
}

func (e *AbandonedError) Error() string {
	what, where := "stopped", ""
	switch e.Stop.Reason.Kind() {
	case session.KindExit:
		if what = "exited"; e.Stop.Outer != nil {
			what = "was interrupted" // by an abort
		}
	case session.KindSignal:
		what = "was signaled"
		where = "Clew remains in the frame where the signal was received.\n"
		setting := "on"
		if e.Unwound {
			where, setting = "Clew has restored the context to what it was before the call.\n", "off"
		}
		if e.Setting {
			where += "To change this behavior use \"set unwindonsignal " + setting + "\".\n"
		}
	}
	return fmt.Sprintf("The program being debugged %s while in a function called from Clew.\n%sEvaluation of the expression containing the function\n(%s) will be abandoned.", what, where, e.Function)
}
