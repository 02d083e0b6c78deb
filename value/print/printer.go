// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

// Symbolizer names run-time addresses.
type Symbolizer interface {
	// Symbol returns the symbol that covers an address and the offset of the address in it
	// in bytes, or false if no symbol does. A Printer does not demangle the name.
	Symbol(address uint64) (name string, offset uint64, ok bool)
}

// Printer writes values as gdb 13 does with its default settings, and those of Go as Delve
// does. The zero value prints as in the C locale. Several goroutines may use a Printer if they
// may use its Symbolizer and the values' Frames.
type Printer struct {
	Symbols Symbolizer // nil for none

	// Demangle returns the source name of a virtual function by its linkage name. If it is
	// nil, linkage names are printed.
	Demangle func(symbol string) string

	Elements int // maximum number of elements of an array and characters of a string; 0 for 200
	Repeats  int // a longer run of equal elements is written once; 0 for 10
	Depth    int // maximum nesting of structures; 0 for 20

	// UTF8 writes characters that are not in ASCII unescaped, as gdb does in a locale with
	// UTF-8. Invisible characters, characters that change the text around them, and bytes
	// that are not UTF-8 are always escaped.
	UTF8 bool

	// Format is the letter of a command like gdb's print/x: one of x d u o t z c a f s, or 0
	// for the format of the type.
	Format byte

	// Present returns the text that replaces the members of a structure or class, or false
	// if the members are to be written. See package stdtype.
	Present func(v value.Value) (Presentation, bool)

	inLine bool // in values of Go: do not follow pointers in them, and omit addresses of parts not shown
}

// maxText bounds the text of one value, in bytes.
const maxText = 1 << 20

// Print returns the text that gdb's command print shows after "$1 = ": the type precedes
// pointers. It returns an error if the value cannot be read. A value that is optimized out is
// "<optimized out>".
func (p *Printer) Print(v value.Value) (string, error) {
	if err := v.ReadError(); err != nil {
		return "", err
	}
	w := p.start(v.Type())
	defer w.end()
	if v.LocationErr() != nil && !errors.Is(v.LocationErr(), value.ErrOptimizedOut) {
		w.value(v, 0, true)
		return string(w.text), nil
	}
	if v.OptimizedOut() || v.LocationErr() != nil || v.Missing() {
		return "<optimized out>", nil
	}
	t := v.Type().Strip()
	if v.Type().GoType() != nil && p.Format == 0 {
		return p.Text(v), nil
	}
	if shown, ok := w.presented(v); ok {
		w.present(shown, 0, false)
		return string(w.text), nil
	}
	isFormatted := p.Format != 0 && p.Format != 's' && isScalar(t)
	if t.Kind() == value.RvalueReference && p.Format != 0 && p.Format != 's' {
		if w.scalar(v, t); w.problem != nil { // as in gdb
			return "", w.problem
		}
		return string(w.text), nil
	}
	switch t.Kind() {
	case value.Pointer, value.Reference, value.RvalueReference:
		if t.Language() == value.Ada {
			if t.Kind() == value.Pointer && !isFormatted {
				w.add("(" + t.String() + ") ")
			}
			break
		}
		if name := bareName(v.Type()); !(isFormatted && t.Kind() == value.Pointer) && !(t.Kind() == value.Pointer && v.Type().Kind() != value.Typedef && isString(name) && t.Language() != value.Rust) {
			w.add("(" + v.Type().String() + ") ")
		}
	case value.Func:
		if p.Format != 0 && p.Format != 's' {
			w.function(v)
			if w.problem != nil {
				return "", w.problem
			}
			return string(w.text), nil
		}
		if address, ok := v.Address(); ok && v.Frame() != nil && v.Frame().ReadMemory(make([]byte, 1), address) != nil {
			return "", &value.MemoryError{Address: address}
		}
		w.add("{" + v.Type().Strip().String() + "} ")
	case value.Struct:
		if t.IsArrayDescriptor() && isNamed(v.Type()) {
			w.add("(" + v.Type().String() + ") ")
		}
	}
	w.value(v, 0, true)
	if (isScalar(t) || t.Kind() == value.Set) && w.problem != nil {
		return "", w.problem
	}
	return string(w.text), nil
}

// function writes a function in the format of a letter. As in gdb its value is its first byte.
func (w *printing) function(v value.Value) {
	if w.Format == 'a' || w.Format == 'c' {
		//lint:ignore ST1005 gdb's own sentence
		w.fail(fmt.Errorf("%w: Value can't be converted to integer.", value.ErrType))
		return
	}
	m := v.Type().Machine()
	address, _ := v.Address()
	code := value.At(value.IntOf(m, "unsigned char", 1, false), address, v.Frame())
	w.scalar(code, code.Type())
}

// maxTypes bounds the number of typedefs and qualifiers before a type, and how deep types
// nest.
const maxTypes = 64

// isString reports whether gdb prints a pointer to the type of a name as a string, without its
// type.
func isString(name string) bool {
	return name == "char" || name == "wchar_t" || name == "char16_t" || name == "char32_t"
}

// bareName returns the name of a pointer's target type, without qualifiers.
func bareName(t *value.Type) string {
	return without(without(t, qualifiers...).Elem(), qualifiers...).Name()
}

// Text returns the text of a value in a list of variables, with "<error: ...>" for parts that
// cannot be read.
func (p *Printer) Text(v value.Value) string {
	w := p.start(v.Type())
	defer w.end()
	w.value(v, 0, true)
	return string(w.text)
}

// Whole returns the text that Text returns, or an error if no part of the value is known. The
// error wraps value.ErrOptimizedOut if Text returns "<optimized out>".
func (p *Printer) Whole(v value.Value) (string, error) {
	w := p.start(v.Type())
	defer w.end()
	w.value(v, 0, true)
	switch text := string(w.text); {
	case text == "<"+optimizedOut+">":
		return "", value.ErrOptimizedOut
	case v.LocationErr() != nil && value.IsState(v.LocationErr()):
		return "", v.LocationErr()
	case w.problem != nil && text == "<error: "+message(w.problem)+">":
		return "", w.problem
	default:
		return text, nil
	}
}

// Variable returns the line of gdb's info locals and info args for a variable: "n = 5".
func (p *Printer) Variable(v *value.Variable, f value.Frame) string {
	val := v.Read(f)
	if err := val.ReadError(); err != nil {
		return v.Name + " = <error reading variable " + v.Name + " (" + message(err) + ")>"
	}
	if k := val.Type().Strip().Kind(); (k == value.Reference || k == value.RvalueReference) && !val.Synthetic() {
		if err := val.Deref().ReadError(); err != nil && val.Type().Language() == value.CPlusPlus {
			return v.Name + " = <error reading variable: " + message(err) + ">"
		}
	}
	return v.Name + " = " + p.Text(val)
}

// scalarType returns the type of the target of references.
func scalarType(t *value.Type) *value.Type {
	for range maxTypes {
		t = t.Strip()
		if t.Kind() != value.Reference && t.Kind() != value.RvalueReference {
			break
		}
		t = t.Elem()
	}
	return t
}

func isScalar(t *value.Type) bool {
	switch t.Kind() {
	case value.Struct, value.Class, value.Union, value.Array, value.Text, value.Set:
		return false
	}
	return true
}

// message returns gdb's text of an error.
func message(err error) string {
	if errors.Is(err, value.ErrNoLocation) {
		return value.ErrNoLocation.Error()
	}
	var memory *value.MemoryError
	if errors.As(err, &memory) {
		return "Cannot access memory at address 0x" + strconv.FormatUint(memory.Address, 16)
	}
	if errors.Is(err, value.ErrTooLarge) {
		return strings.TrimSuffix(err.Error(), ": "+value.ErrTooLarge.Error())
	}
	return err.Error()
}

// printing is one value being printed.
type printing struct {
	*Printer
	machine                  *arch.Machine
	text                     []byte
	buffer, other            [16]byte // buffers for reading
	elements, repeats, depth int
	children                 int                   // number of children that were listed
	problem                  error                 // the first one
	bare                     bool                  // write the next structure of Go without its type
	seen                     map[uint64]bool       // virtual base classes, by address; nil before the first
	around                   []*value.Type         // the structures that contain the current value
	arguments                *value.ArgumentReader // nil before the first argument
}

// printings keeps buffers: each argument of each frame needs a printing.
var printings = sync.Pool{New: func() any { return new(printing) }}

// maxKeptText bounds the capacity of a buffer in printings, in bytes.
const maxKeptText = 4096

// start returns a printing of a value of a type. The caller must call end.
func (p *Printer) start(t *value.Type) *printing {
	w := printings.Get().(*printing)
	w.Printer = p
	w.elements, w.repeats, w.depth = cmp.Or(max(p.Elements, 0), 200), cmp.Or(max(p.Repeats, 0), 10), cmp.Or(max(p.Depth, 0), 20)
	if t != nil {
		w.machine = t.Machine()
	}
	return w
}

// end returns a printing to printings. Its text is invalid from then on.
func (w *printing) end() {
	if cap(w.text) > maxKeptText {
		w.text = nil
	}
	*w = printing{text: w.text[:0], arguments: w.arguments}
	printings.Put(w)
}

// fail writes an error instead of a value.
func (w *printing) fail(err error) {
	if w.problem == nil {
		w.problem = err
	}
	w.add("<error: " + message(err) + ">")
}

// unreadable writes why a value cannot be read instead of the value.
func (w *printing) unreadable(err error) {
	if errors.Is(err, value.ErrOptimizedOut) {
		w.add("<" + optimizedOut + ">")
		return
	}
	w.fail(err)
}

func (w *printing) add(parts ...string) {
	for _, s := range parts {
		if len(w.text) < maxText {
			w.text = append(w.text, s...)
		}
	}
}

var (
	qualifiers = []value.Kind{value.Const, value.Volatile, value.Restrict, value.Atomic}
	named      = append([]value.Kind{value.Typedef}, qualifiers...)
)

// without returns the first type in a chain of typedefs and qualifiers that has none of several
// kinds.
func without(t *value.Type, kinds ...value.Kind) *value.Type {
	for k := 0; k < maxTypes && slices.Contains(kinds, t.Kind()); k++ {
		t = t.Elem()
	}
	return t
}

// unqualified returns a type without typedefs and qualifiers. Unlike Strip it does not look for the
// definition of a structure that is only declared, which would read all units.
func unqualified(t *value.Type) *value.Type { return without(t, named...) }

// count returns the number of an array's elements, or of the values that a set can contain.
func count(t *value.Type) uint64 {
	n, _ := t.Len()
	return n
}
