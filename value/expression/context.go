// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/spelling"
)

// Context defines the meaning of names in an expression. Only Machine must be set. A Context is not
// modified. Its functions are called by the goroutine that compiles or evaluates.
type Context struct {
	Machine *arch.Machine

	// Info is the debugging information of the object that contains the frames, or nil. Address
	// is the address in the object's file that determines the scope: the lookup address of
	// value.Frame.ProgramCounter minus the bias.
	Info    *value.Info
	Address uint64

	// Inlined is the number of inlined calls at Address to skip: 0 selects the scope of the
	// innermost one.
	Inlined int

	// Objects are frames of other objects (see value.Static). Their globals, functions and types
	// are visible if Info does not have the name.
	Objects []value.Frame

	// Symbol returns the run-time address of a symbol without debugging information, and whether
	// it is code. It may be nil.
	Symbol func(name string) (address uint64, code, ok bool)

	// Convenience has the variables that begin with $ and are not registers. It may be nil.
	Convenience Convenience

	// History returns the n-th value of the history, or, if relative is true, the n-th before the
	// last. It may be nil.
	History func(n int, relative bool) (value.Value, error)

	// Warn receives the warnings of an evaluation, sentences as in gdb. It may be nil.
	Warn func(text string)

	// Call calls a function of the program and returns its result. The type of function is the
	// one with which it is called. If Call is nil, calls are errors.
	Call func(f value.Frame, function value.Value, arguments []value.Value) (value.Value, error)
}

// Convenience keeps convenience variables. Names are without "$".
type Convenience interface {
	Get(name string) (value.Value, bool)
	Set(name string, v value.Value) error
}

// Error is an error in an expression.
type Error struct {
	Column  int    // in the expression's text, in bytes from 1
	Message string // a sentence, as in gdb
	Err     error  // the cause, or nil
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// at adds a column to an error that has none.
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

// Sentence returns gdb's text for an error of package value that occurs when a value is printed or
// its bytes are read: "Cannot access memory at address 0x0". For other errors it returns the
// error's text.
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

// symbol is the meaning of a name: a variable, a function, an enumerator, a type, or code or data
// without debugging information.
type symbol struct {
	name     string
	variable *value.Variable
	form     form        // of the variable
	typ      *value.Type // of a type
	constant operand     // of an enumerator
	function *value.Function
	others   []*value.Function // with the name of function, in the same object
	chosen   bool              // function fits the arguments of a call
	address  uint64            // run-time, of a symbol or of a variable that is only declared
	code     bool              // the symbol is code
	object   value.Frame       // of the variable or function, nil if it is the frame's
	of       *value.Function   // the function in which a variable was looked up, which need not be the frame's
}

// declared reports whether it is a variable that another object defines.

func (s *symbol) declared() bool { return s.variable != nil && s.variable.Declared() }

func (c *Context) machine() *arch.Machine { return c.Machine }

// language returns the language of the code at Address, or, as in gdb, outside of all code that of
// the objects.
func (c *Context) language() value.Language {
	if c.Info == nil {
		return c.objectLanguage()
	}
	return c.Info.Language(c.Address)
}

// objectLanguage returns the language of all objects, or, if they have several, that of main.
func (c *Context) objectLanguage() value.Language {
	language := value.OtherLanguage
	for _, o := range c.objects() {
		l, same := o.info.CommonLanguage()
		if !same || language != value.OtherLanguage && l != value.OtherLanguage && l != language {
			return c.mainLanguage()
		}
		language = cmp.Or(l, language)
	}
	return language
}

func (c *Context) mainLanguage() value.Language {
	for _, o := range c.objects() {
		if list, err := o.info.Functions("main"); err == nil {
			return list[0].Language
		}
	}
	return value.OtherLanguage
}

// truthType returns the type of the results of comparisons in C++ and Rust.
func truthType(m *arch.Machine, l value.Language) *value.Type { return value.BoolOf(m, l) }

func noSymbol(name string) error {
	return &Error{Message: fmt.Sprintf("No symbol %q in current context.", name), Err: value.ErrNotFound}
}

func (c *Context) symbol(scope, name string) (*symbol, error) {
	switch scope {
	case "":
		if s := c.local(name); s != nil {
			return s, nil
		}
		if s := c.templateParameter(name); s != nil {
			return s, nil
		}
		if s := c.aroundInlined(name); s != nil {
			return s, nil
		}
	case "::":
	default:
		return c.scoped(scope, name)
	}
	var declared *symbol // without a definition in the debugging information
	for _, o := range c.objects() {
		s := o.symbol(scope + name)
		if s != nil && !s.declared() {
			return s, nil
		}
		declared = cmp.Or(declared, s)
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
	if t := c.standardType(name); t != nil {
		return &symbol{name: name, typ: t}, nil
	}
	return nil, noSymbol(name)
}

// inlinedScopes returns the prefixes with which a name means something in the inlined function of
// the frame, innermost first: "ns::class::", "ns::".
func (c *Context) inlinedScopes() (list []string) {
	if c.Info == nil {
		return nil
	}
	scopes, err := c.Info.Scopes(c.Address)
	if err != nil || c.Inlined < 0 || c.Inlined >= len(scopes)-1 || scopes[c.Inlined].Function == nil {
		return nil
	}
	name := scopes[c.Inlined].Function.Display()
	for {
		last := spelling.Last(name)
		if len(last) == len(name) {
			return list
		}
		name = name[:len(name)-len(last)-2]
		list = append(list, name+"::")
	}
}

// aroundInlined returns the symbol that a name means because of the class and the namespaces around
// the inlined function of the frame, or nil.
func (c *Context) aroundInlined(name string) *symbol {
	for _, prefix := range c.inlinedScopes() {
		for _, o := range c.objects() {
			if s := o.symbol(prefix + name); s != nil {
				return s
			}
		}
	}
	return nil
}

// local returns the variable with a name in the blocks around Address, or nil.
func (c *Context) local(name string) *symbol {
	if c.Info == nil {
		return nil
	}
	scopes, err := c.Info.Scopes(c.Address)
	if err != nil || c.Inlined < 0 || c.Inlined >= len(scopes) {
		return nil
	}
	if v := scopes[c.Inlined].Lookup(name); v != nil {
		return new(objectFile).variable(v)
	}
	return nil
}

// templateParameter returns the value or the type of a parameter of the template that the function
// of the frame is an instance of, or nil.
func (c *Context) templateParameter(name string) *symbol {
	if c.language() != value.CPlusPlus || c.Info == nil {
		return nil
	}
	scopes, err := c.Info.Scopes(c.Address)
	if err != nil || c.Inlined < 0 || c.Inlined >= len(scopes) || scopes[c.Inlined].Function == nil {
		return nil
	}
	switch v, t := scopes[c.Inlined].Function.TemplateParameter(name); {
	case v != nil:
		return new(objectFile).variable(v)
	case t != nil:
		return &symbol{name: name, typ: t}
	}
	return nil
}

// objectFile is an object file in which names are looked up.
type objectFile struct {
	frame   value.Frame // nil for the object of the frames
	info    *value.Info
	address uint64 // in the object's file, determines the scope
}

// objects returns the objects with debugging information, that of the frames first.
func (c *Context) objects() (list []objectFile) {
	if c.Info != nil {
		list = append(list, objectFile{info: c.Info, address: c.Address})
	}
	for _, f := range c.Objects {
		if f.Info() != nil {
			list = append(list, objectFile{frame: f, info: f.Info()})
		}
	}
	return list
}

// symbol returns the symbol with a name at file scope, or nil. "::name" is one in the global namespace.
func (o *objectFile) symbol(full string) *symbol {
	name := strings.TrimPrefix(full, "::")
	if v, err := o.info.Global(full, o.address); err == nil {
		return o.variable(v)
	}
	if f := o.functions(full); len(f) > 0 {
		return &symbol{name: name, function: f[0], others: f[1:], object: o.frame}
	}
	if v, err := o.info.Enumerator(full, o.address); err == nil {
		if bits, err := v.Uint(); err == nil {
			return &symbol{name: name, constant: scalar(v.Type(), bits), object: o.frame}
		}
	}
	if t, err := o.info.Type(full, o.address); err == nil && (t.Name() == name || strings.HasSuffix(t.Name(), "::"+name)) && t.Kind() == value.Typedef {
		return &symbol{name: name, typ: t, object: o.frame}
	}
	return nil
}

// functions returns the functions that a name means at the address. A name in C++ is that in the
// global namespace, or in one around the function there.
func (o *objectFile) functions(name string) []*value.Function {
	around := ""
	if f, err := o.info.FunctionAt(o.address); err == nil && !strings.HasPrefix(name, "::") {
		around = f.Name
	}
	list := o.functionsIn(around, strings.TrimPrefix(name, "::"))
	if len(list) == 0 {
		for _, imported := range o.info.Imported(name, o.address) {
			list = append(list, o.functionsIn("", imported)...)
		}
	}
	return list
}

func (o *objectFile) functionsIn(around, name string) []*value.Function {
	list, err := o.info.Functions(name)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(f *value.Function) bool {
		full := strings.ReplaceAll(f.Name, "(anonymous namespace)::", "")
		prefix, ok := strings.CutSuffix(full, name)
		if !ok && strings.Contains(name, "<") { // "max<long>" of a max<long int>
			prefix, ok = strings.CutSuffix(spelling.Canonical(full), spelling.Canonical(name))
		}
		return f.LinkageName != name && (!ok || !strings.HasPrefix(around, prefix))
	})
}

func (o *objectFile) variable(v *value.Variable) *symbol {
	return &symbol{name: v.Name, variable: v, form: formOf(v.Type), object: o.frame}
}

// scoped returns the symbol with a name in a file, a function or a class.
func (c *Context) scoped(scope, name string) (*symbol, error) {
	if s := c.aroundInlined(scope + "::" + name); s != nil {
		return s, nil
	}
	for _, o := range c.objects() {
		if s, found := o.inFunction(scope, name); s != nil {
			return s, nil
		} else if found {
			return nil, &Error{Message: fmt.Sprintf("No symbol %q in specified context.", name), Err: value.ErrNotFound}
		}
		if v, err := o.info.FileGlobal(scope, name); err == nil {
			return o.variable(v), nil
		}
		if s := o.symbol(scope + "::" + name); s != nil { // C++
			return s, nil
		}
		if t, err := o.info.Type(scope+"::"+name, o.address); err == nil {
			return &symbol{name: name, typ: t, object: o.frame}, nil
		}
		if t, err := o.info.Type(scope, o.address); err == nil && t.Kind() == value.Typedef && t.Strip().Name() != "" {
			if s := o.symbol(t.Strip().Name() + "::" + name); s != nil {
				return s, nil
			}
		}
	}
	return nil, noSymbol(scope)
}

// inFunction returns the variable with a name in a function, or nil, and whether there is such a
// function.
func (o *objectFile) inFunction(function, name string) (*symbol, bool) {
	functions, err := o.info.Functions(function)
	if err != nil {
		return nil, false
	}
	for _, f := range functions {
		scopes, err := o.info.Scopes(f.Entry)
		if err != nil {
			continue
		}
		own := *scopes[len(scopes)-1]
		own.Blocks = own.Blocks[max(len(own.Blocks)-1, 0):] // the function's first instruction can be in an inner block
		if v := own.Lookup(name); v != nil {
			s := o.variable(v)
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
	for _, o := range c.objects() {
		if keyword == "" {
			for _, prefix := range c.inlinedScopes() {
				if t, err := o.info.Type(prefix+full, o.address); err == nil {
					return t, nil
				}
			}
		}
		if t, err := o.info.Type(full, o.address); err == nil {
			return t, nil
		}
		if t := o.inTypedef(full); t != nil && keyword == "" {
			return t, nil
		}
	}
	if keyword != "" {
		return nil, c.otherTag(keyword, name)
	}
	if t := c.standardType(name); t != nil {
		return t, nil
	}
	return nil, errorf("No type named %s.", name)
}

// inTypedef returns the type with a qualified name whose scope is a typedef of a class, or nil.
func (o *objectFile) inTypedef(name string) *value.Type {
	scope, ok := strings.CutSuffix(name, "::"+spelling.Last(name))
	if !ok {
		return nil
	}
	class, err := o.info.Type(scope, o.address)
	if err != nil || class.Kind() != value.Typedef || class.Strip().Name() == "" {
		return nil
	}
	t, err := o.info.Type(class.Strip().Name()+"::"+spelling.Last(name), o.address)
	if err != nil {
		return nil
	}
	return t
}

// otherTag returns the error for a tag without a type. The text is different if the name has another tag.
func (c *Context) otherTag(keyword, name string) error {
	for _, other := range [...]string{"struct", "union", "enum"} {
		if other == keyword || c.Info == nil {
			continue
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

// standardTypes are the base types of types that need no header here, in the ABIs of Linux.
var standardTypes = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
		"int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long long", "uint64_t": "unsigned long long",
		"size_t": "unsigned long", "ssize_t": "long", "ptrdiff_t": "long", "intptr_t": "long", "uintptr_t": "unsigned long",
		"_Bool": "_Bool", "bool": "_Bool",
	}
})

// standardType returns a type that the language has without a declaration, or nil.
func (c *Context) standardType(name string) *value.Type {
	switch l := c.language(); {
	case l == value.Rust:
		return rustNumberType(c.Machine, name)
	case l == value.CPlusPlus && name == "bool":
		return value.BoolOf(c.Machine, l)
	}
	return standardType(c.Machine, name)
}

// rustNumberType returns a type of numbers of Rust, or nil.
func rustNumberType(m *arch.Machine, name string) *value.Type {
	switch {
	case name == "f32" || name == "f64":
		return value.Base(m, name)
	case len(name) < 2 || name[0] != 'i' && name[0] != 'u':
		return nil
	}
	size, ok := map[string]int{"8": 1, "16": 2, "32": 4, "64": 8, "size": m.AddressSize}[name[1:]]
	if !ok {
		return nil
	}
	return value.IntOf(m, name, size, name[0] == 'i')
}

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
