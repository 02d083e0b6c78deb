// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
)

// Symbolizer names run-time addresses.
type Symbolizer interface {
	// Symbol returns the symbol that covers an address, how far into it the
	// address is in bytes, and false where there is none. Names are printed as
	// they are: demangled, where that is wanted.
	Symbol(address uint64) (name string, offset uint64, ok bool)
}

// Printer writes values as gdb 13 prints them with its default settings. The zero
// value is good, and stands for the C locale. It may be used from several goroutines as
// far as the Symbolizer and the values' Frames may.
type Printer struct {
	Symbols Symbolizer // nil for none

	// Demangle returns the name of a virtual function as the source has it, of its
	// linkage name, which stands for itself where Demangle is nil.
	Demangle func(symbol string) string

	Elements int // most elements of an array and characters of a string; 0 for 200
	Repeats  int // more equal elements in a row are written once; 0 for 10
	Depth    int // most nesting of structures; 0 for 20

	// UTF8 says that text is written as it is, as gdb does where the locale has UTF-8:
	// the characters beyond ASCII of strings in UTF-8 and of wide ones. Those that
	// would not be seen, or would change what stands around them, and bytes that are
	// not UTF-8 are escaped all the same. Else all are.
	UTF8 bool

	// Format is the letter of gdb's print/x: one of x d u o t z c a f s, 0 for
	// the type's own.
	Format byte

	// Present returns what stands for a value of a structure or class, and false where its
	// members are written; nil writes them of all. See package stdtype.
	Present func(v Value) (Presentation, bool)

	inLine bool // of Go, pointers in values are not followed, and what is left out has no address
}

// maxText bounds what one value is printed as, in bytes.
const maxText = 1 << 20

// Print returns what the command print shows after "$1 = ", where pointers have
// their type before them. The error is that of reading the value, but for
// ErrOptimizedOut, which is "<optimized out>".
func (p *Printer) Print(v Value) (string, error) {
	if err := v.ReadError(); err != nil {
		return "", err
	}
	w := p.start(v)
	defer w.end()
	if v.err != nil && !errors.Is(v.err, ErrOptimizedOut) {
		w.value(v, 0, true)
		return string(w.text), nil
	}
	if v.OptimizedOut() || v.err != nil || v.absent() {
		return "<optimized out>", nil
	}
	t := v.typ.Strip()
	if v.typ.goType() != nil && p.Format == 0 {
		return p.Text(v), nil
	}
	if shown, ok := w.presented(v); ok {
		w.present(shown, 0, false)
		return string(w.text), nil
	}
	isFormatted := p.Format != 0 && p.Format != 's' && isScalar(t)
	switch t.kind {
	case Pointer, Reference, RvalueReference:
		if t.language == Ada {
			if t.kind == Pointer && !isFormatted {
				w.add("(" + t.String() + ") ")
			}
			break
		}
		if name := bareName(v.typ); !(isFormatted && t.kind == Pointer) && !(t.kind == Pointer && v.typ.kind != Typedef && isString(name)) {
			w.add("(" + v.typ.String() + ") ")
		}
	case Func:
		w.add("{" + v.typ.String() + "} ")
	case Struct:
		if t.isFatPointer() && v.typ.isNamed() {
			w.add("(" + v.typ.String() + ") ")
		}
	}
	w.value(v, 0, true)
	if (isScalar(t) || t.kind == Set) && w.problem != nil {
		return "", w.problem
	}
	return string(w.text), nil
}

// isString reports whether gdb takes a pointer to a type for a string, and does
// not show its type.
func isString(name string) bool {
	return name == "char" || name == "wchar_t" || name == "char16_t" || name == "char32_t"
}

// bareName returns the name of what a pointer leads to, without qualifiers.
func bareName(t *Type) string {
	for range maxChain {
		switch t.kind {
		case Const, Volatile, Restrict, Atomic:
			t = t.Elem()
			continue
		}
		break
	}
	e := t.Elem()
	for range maxChain {
		switch e.kind {
		case Const, Volatile, Restrict, Atomic:
			e = e.Elem()
			continue
		}
		break
	}
	return e.name
}

// Text returns what stands for the value in a list of variables: it never fails,
// and says "<error: ...>" for what cannot be read.
func (p *Printer) Text(v Value) string {
	w := p.start(v)
	defer w.end()
	w.value(v, 0, true)
	return string(w.text)
}

// Whole returns what Text does; where nothing of the value is known, it returns why: the
// error wraps ErrOptimizedOut where Text says "<optimized out>".
func (p *Printer) Whole(v Value) (string, error) {
	w := p.start(v)
	defer w.end()
	w.value(v, 0, true)
	switch text := string(w.text); {
	case text == "<"+optimizedOut+">":
		return "", ErrOptimizedOut
	case v.err != nil && isState(v.err):
		return "", v.err
	case w.problem != nil && text == "<error: "+message(w.problem)+">":
		return "", w.problem
	default:
		return text, nil
	}
}

// Variable returns what info locals and info args show of a variable: "n = 5".
func (p *Printer) Variable(v *Variable, f Frame) string {
	val := v.Read(f)
	if err := val.ReadError(); err != nil {
		return v.Name + " = <error reading variable " + v.Name + " (" + message(err) + ")>"
	}
	return v.Name + " = " + p.Text(val)
}

// ReadError returns why a value cannot be shown, nil where it can be, or is
// optimized out: what a list of variables has in its place.
func (v Value) ReadError() error {
	err := v.Err()
	if err == nil {
		_, err = v.frozen()
	}
	if isState(err) || v.isInParts() {
		return nil
	}
	return err
}

// isState reports whether an error says what has become of a value: it is shown in the
// value's place.
func isState(err error) bool {
	return errors.Is(err, ErrOptimizedOut) || errors.Is(err, ErrNotAllocated) || errors.Is(err, ErrNotAssociated)
}

// scalarType returns what references lead to.
func scalarType(t *Type) *Type {
	for range maxChain {
		t = t.Strip()
		if t.kind != Reference && t.kind != RvalueReference {
			break
		}
		t = t.Elem()
	}
	return t
}

func isScalar(t *Type) bool {
	switch t.kind {
	case Struct, Class, Union, Array, Text, Set:
		return false
	}
	return true
}

// message is what gdb says of an error.
func message(err error) string {
	if errors.Is(err, errNoLocation) {
		return errNoLocation.Error()
	}
	var memory *MemoryError
	if errors.As(err, &memory) {
		return "Cannot access memory at address 0x" + strconv.FormatUint(memory.Address, 16)
	}
	if errors.Is(err, ErrTooLarge) {
		return strings.TrimSuffix(err.Error(), ": "+ErrTooLarge.Error())
	}
	return err.Error()
}

// printing is one value being printed.
type printing struct {
	*Printer
	machine                  *arch.Machine
	text                     []byte
	room, other              [16]byte // room for what is read
	elements, repeats, depth int
	children                 int             // that were listed of presented values
	problem                  error           // the first one
	bare                     bool            // the next structure of Go's is written without its type, which stands before it
	seen                     map[uint64]bool // virtual base classes, by address; nil before the first
	around                   []*Type         // the structures that what is printed lies in
	arguments                *evaluator      // evaluates those of frames; nil before the first
}

// printings are kept, with their room: each argument of each frame takes one.
var printings = sync.Pool{New: func() any { return new(printing) }}

// maxKeptText is how much room for text is kept, in bytes.
const maxKeptText = 4096

// start returns what prints a value. It is to be ended.
func (p *Printer) start(v Value) *printing {
	w := printings.Get().(*printing)
	w.Printer, w.elements, w.repeats, w.depth = p, p.Elements, p.Repeats, p.Depth
	if w.elements <= 0 {
		w.elements = 200
	}
	if w.repeats <= 0 {
		w.repeats = 10
	}
	if w.depth <= 0 {
		w.depth = 20
	}
	if v.typ != nil {
		w.machine = v.typ.machine
	}
	return w
}

// end ends the use of what prints a value, and of its text.
func (w *printing) end() {
	if cap(w.text) > maxKeptText {
		w.text = nil
	}
	*w = printing{text: w.text[:0], arguments: w.arguments}
	printings.Put(w)
}

// fail writes an error in the place of a value.
func (w *printing) fail(err error) {
	if w.problem == nil {
		w.problem = err
	}
	w.add("<error: " + message(err) + ">")
}

func (w *printing) add(s string) {
	if len(w.text) < maxText {
		w.text = append(w.text, s...)
	}
}

// snapshot is a frame in which some memory was read already.
type snapshot struct {
	Frame
	start uint64
	bytes []byte
}

func (s *snapshot) ReadMemory(p []byte, address uint64) error {
	if at := address - s.start; at < uint64(len(s.bytes)) && uint64(len(p)) <= uint64(len(s.bytes))-at {
		copy(p, s.bytes[at:])
		return nil
	}
	return s.Frame.ReadMemory(p, address)
}

// ThreadAddress asks the frame behind the snapshot.
func (s *snapshot) ThreadAddress(offset uint64) (uint64, error) {
	if storage, ok := s.Frame.(ThreadStorage); ok {
		return storage.ThreadAddress(offset)
	}
	return 0, refuse("the frame does not know its thread-local storage")
}

// frozen reads a value that lies in memory once, for all of its parts.
func (v Value) frozen() (Value, error) {
	if err := v.Err(); err != nil {
		return v, err
	}
	address, ok := v.Address()
	if !ok || v.frame == nil || v.typ.Strip().kind == Func {
		return v, nil
	}
	if _, done := v.frame.(*snapshot); done {
		return v, nil
	}
	if v.typ.isSpread() {
		return v, nil
	}
	b, err := v.Bytes()
	if err != nil {
		return v, err
	}
	v.frame = &snapshot{v.frame, address, b}
	return v, nil
}
