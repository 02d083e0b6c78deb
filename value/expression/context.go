// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

// Context gives the names in an expression their meanings. Only Machine must be set.
// It is not changed, and its functions are called by the goroutine that compiles
// or evaluates.
type Context struct {
	Machine *arch.Machine

	// Info is the debugging information of the object that the frames will be in,
	// nil where there is none, and Address the address in the object's file whose
	// scope is meant: the lookup address of value.Frame.ProgramCounter less the bias.
	Info    *value.Info
	Address uint64

	// Inlined is the number of inlined calls at Address to pass over: 0 is the
	// scope of the innermost one.
	Inlined int

	// Objects are frames of other objects (see value.Static): of their Info the
	// globals, functions and types are seen where Info has none of the name.
	Objects []value.Frame

	// Symbol returns the run-time address of a symbol that no debugging
	// information describes, and whether it is code. It may be nil.
	Symbol func(name string) (address uint64, code, ok bool)

	// Convenience are the variables that begin with $ and are no registers. If it
	// is nil, there are none.
	Convenience Convenience

	// History returns the n-th value of the history, or, where relative is set,
	// the one that is n before the last. If it is nil, there is none.
	History func(n int, relative bool) (value.Value, error)

	// Call calls a function of the program, whose value has the type that it is to
	// be called with, and returns its result. If it is nil, calls are errors.
	Call func(f value.Frame, function value.Value, arguments []value.Value) (value.Value, error)
}

// Convenience keeps convenience variables. Names are without "$".
type Convenience interface {
	Get(name string) (value.Value, bool)
	Set(name string, v value.Value) error
}

// Error is what is wrong with an expression.
type Error struct {
	Column  int    // in the expression's text, bytes from 1
	Message string // a sentence, as gdb says it
	Err     error  // what was the cause; may be nil
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// at gives an error the place where it was met, unless it has one.
func at(err error, column int) error {
	var e *Error
	if errors.As(err, &e) {
		if e.Column == 0 {
			return &Error{column, e.Message, e.Err}
		}
		return err
	}
	return &Error{column, Sentence(err), err}
}

// Sentence returns what gdb says for an error of package value, which is met
// where a value is printed or its bytes are read: "Cannot access memory at address
// 0x0". Of other errors it is the text.
func Sentence(err error) string {
	var memory *value.MemoryError
	if errors.As(err, &memory) {
		return fmt.Sprintf("Cannot access memory at address %#x", memory.Address)
	}
	return err.Error()
}

func errorf(format string, arguments ...any) error {
	return &Error{Message: fmt.Sprintf(format, arguments...)}
}

// symbol is what a name means: one of variable, function, constant, code or data
// without debugging information, or a type.
type symbol struct {
	name     string
	variable *value.Variable
	form     form        // of the variable
	typ      *value.Type // of a type
	constant operand     // of an enumerator
	function *value.Function
	address  uint64            // of a symbol, or of a variable that is only declared, run-time
	others   []*value.Function // of the name that function has, in the same object
	code     bool              // of a symbol
	object   value.Frame       // that the variable or function is in, nil for the object of the frame
	of       *value.Function   // of a variable looked up in a function, which need not be the frame's
}

// declared reports whether it is a variable that another object defines.
func (s *symbol) declared() bool { return s.variable != nil && s.variable.Declared() }

func (c *Context) machine() *arch.Machine { return c.Machine }

func noSymbol(name string) error {
	return &Error{Message: fmt.Sprintf("No symbol %q in current context.", name), Err: value.ErrNotFound}
}

func variableSymbol(v *value.Variable) *symbol {
	return &symbol{name: v.Name, variable: v, form: formOf(v.Type)}
}

func (c *Context) symbol(scope, name string) (*symbol, error) {
	switch scope {
	case "":
		if s := c.local(name); s != nil {
			return s, nil
		}
	case "::":
	default:
		return c.scoped(scope, name)
	}
	var declared *symbol // of which no debugging information has the definition
	if c.Info != nil {
		if s := inObject(c.Info, c.Address, name); s != nil {
			if !s.declared() {
				return s, nil
			}
			declared = s
		}
	}
	for _, o := range c.Objects {
		if s := inObject(o.Info(), 0, name); s != nil {
			s.object = o
			if !s.declared() {
				return s, nil
			}
			if declared == nil {
				declared = s
			}
		}
	}
	if declared != nil {
		if c.Symbol != nil {
			if address, code, ok := c.Symbol(name); ok && !code {
				declared.address = address
			}
		}
		return declared, nil
	}
	if c.Symbol != nil {
		if address, code, ok := c.Symbol(name); ok {
			return &symbol{name: name, address: address, code: code}, nil
		}
	}
	if t := standardType(c.Machine, name); t != nil {
		return &symbol{name: name, typ: t}, nil
	}
	return nil, noSymbol(name)
}

// local looks a name up in the blocks around Address.
func (c *Context) local(name string) *symbol {
	if c.Info == nil {
		return nil
	}
	scopes, err := c.Info.Scopes(c.Address)
	if err != nil || c.Inlined < 0 || c.Inlined >= len(scopes) {
		return nil
	}
	if v := scopes[c.Inlined].Lookup(name); v != nil {
		return variableSymbol(v)
	}
	return nil
}

// inObject looks a name up at file scope.
func inObject(i *value.Info, pc uint64, name string) *symbol {
	if i == nil {
		return nil
	}
	if v, err := i.Global(name, pc); err == nil {
		return variableSymbol(v)
	}
	if f, err := i.Functions(name); err == nil && len(f) > 0 {
		return &symbol{name: name, function: f[0], others: f[1:]}
	}
	if v, err := i.Enumerator(name, pc); err == nil {
		bits, err := v.Uint()
		if err == nil {
			return &symbol{name: name, constant: scalar(v.Type(), bits)}
		}
	}
	if t, err := i.Type(name, pc); err == nil && t.Name() == name && t.Kind() == value.Typedef {
		return &symbol{name: name, typ: t}
	}
	return nil
}

// scoped looks a name up in a file or a function.
func (c *Context) scoped(scope, name string) (*symbol, error) {
	objects := c.Objects
	if c.Info != nil {
		objects = append([]value.Frame{nil}, objects...)
	}
	for _, o := range objects {
		info := c.Info
		if o != nil {
			info = o.Info()
		}
		if info == nil {
			continue
		}
		if s, found := inFunction(info, scope, name); s != nil {
			s.object = o
			return s, nil
		} else if found {
			return nil, &Error{Message: fmt.Sprintf("No symbol %q in specified context.", name), Err: value.ErrNotFound}
		}
		if v, err := info.FileGlobal(scope, name); err == nil {
			s := variableSymbol(v)
			s.object = o
			return s, nil
		}
		if s := inObject(info, c.Address, scope+"::"+name); s != nil { // C++
			s.object = o
			return s, nil
		}
	}
	return nil, noSymbol(scope)
}

// inFunction looks a name up among the variables of a function, and reports whether
// there is such a function.
func inFunction(i *value.Info, function, name string) (*symbol, bool) {
	functions, err := i.Functions(function)
	if err != nil {
		return nil, false
	}
	for _, f := range functions {
		scopes, err := i.Scopes(f.Entry)
		if err != nil {
			continue
		}
		if v := scopes[len(scopes)-1].Lookup(name); v != nil {
			s := variableSymbol(v)
			s.of = f
			return s, true
		}
	}
	return nil, len(functions) > 0
}

func (c *Context) typeNamed(keyword, name string) (*value.Type, error) {
	full := name
	if keyword != "" {
		full = keyword + " " + name
	}
	if c.Info != nil {
		if t, err := c.Info.Type(full, c.Address); err == nil {
			return t, nil
		}
	}
	for _, o := range c.Objects {
		if o.Info() != nil {
			if t, err := o.Info().Type(full, 0); err == nil {
				return t, nil
			}
		}
	}
	if keyword != "" {
		return nil, c.otherTag(keyword, name)
	}
	if t := standardType(c.Machine, name); t != nil {
		return t, nil
	}
	return nil, errorf("No type named %s.", name)
}

// otherTag says that there is no type with a tag, or one of another kind.
func (c *Context) otherTag(keyword, name string) error {
	for _, other := range [...]string{"struct", "union", "enum"} {
		if other == keyword {
			continue
		}
		if c.Info == nil {
			break
		}
		if _, err := c.Info.Type(other+" "+name, c.Address); err == nil {
			switch keyword {
			case "struct", "class":
				return errorf("This context has class, union or enum %s, not a struct.", name)
			case "union":
				return errorf("This context has class, struct or enum %s, not a union.", name)
			}
			return errorf("This context has class, struct or union %s, not an enum.", name)
		}
	}
	return errorf("No %s type named %s.", keyword, name)
}

// standardTypes are names of types that need no header here, by the base types
// that the ABIs of Linux have for them.
var standardTypes = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
		"int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long long", "uint64_t": "unsigned long long",
		"size_t": "unsigned long", "ssize_t": "long", "ptrdiff_t": "long", "intptr_t": "long", "uintptr_t": "unsigned long",
		"_Bool": "_Bool", "bool": "_Bool",
	}
})

func standardType(m *arch.Machine, name string) *value.Type {
	base, ok := standardTypes()[name]
	if !ok {
		return nil
	}
	if m.AddressSize == 8 {
		base = strings.Replace(base, "long long", "long", 1)
	}
	return value.Base(m, base)
}
