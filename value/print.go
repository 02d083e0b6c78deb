// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// value writes a value; top says that it stands in no other.
func (w *printing) value(v Value, depth int, top bool) {
	if len(w.text) >= maxText {
		return
	}
	if p, ok := w.presented(v); ok {
		w.present(p, depth, false)
		return
	}
	if v.err == nil && v.typ != nil && v.typ.Strip().partial {
		w.add("<incomplete type>")
		return
	}
	v, err := v.frozen()
	switch {
	case errors.Is(err, ErrNotAllocated), errors.Is(err, ErrNotAssociated):
		w.add("<" + err.Error() + ">")
		return
	case errors.Is(err, ErrOptimizedOut):
		w.add("<optimized out>")
		return
	case err != nil && v.isInParts():
	case err != nil:
		w.fail(err)
		return
	}
	if t := v.typ.goType(); t != nil && w.Format == 0 {
		w.golang(v, t, depth)
		return
	}
	t := v.typ.Strip()
	if t.language == Fortran && w.fortran(v, t, depth) || t.language == Ada && w.ada(v, t, depth) {
		return
	}
	switch t.kind {
	case Struct, Class, Union:
		if t.language == Rust && t.kind != Class {
			w.rust(v, t, depth)
			return
		}
		w.structure(v, t, depth)
	case Array:
		w.array(v, t, depth)
	case Set:
		w.set(v, t)
	case Reference, RvalueReference:
		w.reference(v, t, depth, top)
	case Func:
		address, _ := v.Address()
		w.address(address, true)
	case Void:
		w.add("void")
	case Complex:
		if !top && w.Format != 0 {
			w.complexParts(v, t)
			return
		}
		w.scalar(v, t)
	default:
		w.scalar(v, t)
	}
}

// complexParts writes the parts of a number that stands in another value in a format,
// where one that stands alone is written as one number.
func (w *printing) complexParts(v Value, t *Type) {
	open, between, end := "", " + ", "i"
	if t.language == Fortran {
		open, between, end = "(", ",", ")"
	}
	half := t.Size() / 2
	part := t.elem
	if part == nil {
		part = &Type{machine: t.machine, language: t.language, kind: Float, format: t.format, size: half, sized: true, ready: true}
	}
	w.add(open)
	w.scalar(v.part(part, 0), part)
	w.add(between)
	w.scalar(v.part(part, int64(half)), part)
	w.add(end)
}

func (w *printing) scalar(v Value, t *Type) {
	if v.implicit() != nil {
		w.add("<synthetic pointer>")
		return
	}
	b, err := w.bytes(&w.room, v)
	switch {
	case errors.Is(err, ErrOptimizedOut):
		w.add("<optimized out>")
	case err != nil:
		w.fail(err)
	default:
		w.number(v, t, b)
	}
}

// number writes a value of a type without qualifiers, and of these bytes.
func (w *printing) number(v Value, t *Type, b []byte) {
	if w.Format != 0 && w.Format != 's' {
		w.formatted(v, t, b)
		return
	}
	n := uintOf(t.machine.Order, lowBytes(t.machine, b, 8))
	if t.language == Ada && w.adaScalar(v, t, b, n) {
		return
	}
	switch t.kind {
	case Bool:
		no, yes := "false", "true"
		if t.language == Fortran {
			no, yes = ".FALSE.", ".TRUE."
		}
		switch n {
		case 0:
			w.add(no)
		case 1:
			w.add(yes)
		default:
			w.add(strconv.FormatUint(n, 10))
		}
	case Char, Int:
		if name := t.goConstant(b); name != "" {
			w.add(name + " (")
			w.decimal(t, b)
			w.add(")")
			return
		}
		if t.language == Rust && w.rustScalar(t, b, n) {
			return
		}
		w.decimal(t, b)
		if t.language == Pascal && t.kind == Char && len(b) == 1 {
			w.add(" ")
			w.literal(Pascal, n)
			return
		}
		if prefix, ok := textual(v.typ); ok {
			w.add(" " + prefix + "'")
			w.appendChar(n, len(b), '\'')
			w.add("'")
		}
	case Float:
		w.add(floatText(t, b))
	case Decimal:
		w.add(decimalText(t.machine, b))
	case Complex:
		half := len(b) / 2
		if t.elem != nil { // integers
			w.decimal(t.elem, b[:half])
			w.add(" + ")
			w.decimal(t.elem, b[half:])
			w.add("i")
			return
		}
		if t.language == Fortran {
			w.add("(" + floatText(t, b[:half]) + "," + floatText(t, b[half:]) + ")")
			return
		}
		w.add(floatText(t, b[:half]) + " + " + floatText(t, b[half:]) + "i")
	case Enum:
		w.enumeration(t, b)
	case Fixed:
		w.add(t.fixedText(b))
	case Pointer:
		w.pointer(v, t, n)
	case MemberPointer:
		w.memberPointer(t, b)
	default:
		w.add("<unknown type>")
	}
}

// decimal writes the integer that bytes are.
func (w *printing) decimal(t *Type, b []byte) {
	switch n := uintOf(t.machine.Order, b); {
	case len(b) == 0 || len(b) > 8:
		w.add(integer(t, b, t.Signed()).String())
	case t.Signed():
		w.text = strconv.AppendInt(w.text, int64(signExtend(n, 8*uint64(len(b)))), 10)
	default:
		w.text = strconv.AppendUint(w.text, n, 10)
	}
}

// integer returns the number that bytes are.
func integer(t *Type, b []byte, signed bool) *big.Int {
	ordered := bytes.Clone(b)
	if !isBigEndian(t.machine) {
		for i, j := 0, len(ordered)-1; i < j; i, j = i+1, j-1 {
			ordered[i], ordered[j] = ordered[j], ordered[i]
		}
	}
	n := new(big.Int).SetBytes(ordered)
	if signed && len(ordered) > 0 && ordered[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(ordered))))
	}
	return n
}

func floatText(t *Type, b []byte) string {
	if t.language == Go && len(b) == 8 {
		return strconv.FormatFloat(math.Float64frombits(t.machine.Order.Uint64(b)), 'f', -1, 64)
	}
	if t.language == Go && len(b) == 4 {
		return strconv.FormatFloat(float64(math.Float32frombits(t.machine.Order.Uint32(b))), 'f', -1, 32)
	}
	return t.decodeFloat(b).String()
}

// pointer writes an address, its symbol, and the string it leads to.
func (w *printing) pointer(v Value, t *Type, address uint64) {
	elem := t.Elem()
	if elem.named().kind == Func {
		w.address(address, true)
		return
	}
	if t.language == Rust && elem.Strip().isByteString() {
		w.rustBytes(v, elem.Strip(), address)
		return
	}
	w.address(address, true)
	if prefix, ok := textual(elem); ok && address != 0 {
		w.add(" ")
		w.appendPointed(v.frame, address, elem.Size(), prefix)
	}
}

// address writes an address and the symbol that covers it.
func (w *printing) address(address uint64, named bool) {
	w.add("0x")
	w.text = strconv.AppendUint(w.text, address, 16)
	if !named || w.Symbols == nil || address == 0 {
		return
	}
	name, offset, ok := w.Symbols.Symbol(address)
	switch {
	case !ok:
	case offset == 0:
		w.add(" <" + name + ">")
	default:
		w.add(" <" + name + "+" + strconv.FormatUint(offset, 10) + ">")
	}
}

func (w *printing) reference(v Value, t *Type, depth int, top bool) {
	if v.implicit() != nil {
		if !top {
			w.add("<synthetic pointer>")
			return
		}
		w.add("<synthetic pointer>: ")
		w.value(v.Deref(), depth+1, false)
		return
	}
	b, err := v.Bytes()
	if err != nil {
		w.fail(err)
		return
	}
	w.add("@")
	w.address(uintOf(t.machine.Order, b), false)
	// What a reference in a structure leads to is not shown.
	if top {
		w.add(": ")
		w.value(v.Deref(), depth, false)
	}
}

// enumeration writes the name of a value, or of its bits where those have names.
func (w *printing) enumeration(t *Type, b []byte) {
	list := t.Enumerators()
	n := uintOf(t.machine.Order, lowBytes(t.machine, b, 8))
	if t.Signed() {
		n = signExtend(n, 8*uint64(len(b)))
	}
	prefix := ""
	if t.language == CPlusPlus {
		if prefix = t.name[:len(t.name)-len(lastName(t.name))]; t.scoped {
			prefix = t.name + "::"
		}
	} else if t.language == Rust {
		prefix = t.name + "::"
	}
	for k := range list {
		if uint64(list[k].Value) == n {
			w.add(prefix + list[k].Name)
			return
		}
	}
	if !t.flags {
		w.add(integer(t, b, t.Signed()).String())
		return
	}
	first := true
	rest := n
	for k := range list {
		bit := uint64(list[k].Value)
		if rest&bit == 0 {
			continue
		}
		if first {
			w.add("(")
		} else {
			w.add(" | ")
		}
		first = false
		rest &^= bit
		w.add(prefix + list[k].Name)
	}
	switch {
	case rest != 0 && first:
		w.add("(unknown: 0x" + strconv.FormatUint(rest, 16) + ")")
	case rest != 0:
		w.add(" | unknown: 0x" + strconv.FormatUint(rest, 16) + ")")
	case first:
		w.add("0")
	default:
		w.add(")")
	}
}

func (w *printing) structure(v Value, t *Type, depth int) {
	if depth >= w.depth {
		w.add("{...}")
		return
	}
	if slices.Contains(w.around, t) {
		w.fail(fmt.Errorf("%w: type at %v holds itself", ErrDebugInfo, t.offset))
		return
	}
	w.around = append(w.around, t)
	defer func() { w.around = w.around[:len(w.around)-1] }()
	fields := t.Fields()
	w.add("{")
	members := 0
	for k := range fields {
		f := &fields[k]
		if !f.Base {
			members++
			continue
		}
		base := v.Field(k)
		if f.Virtual {
			if address, ok := base.Address(); ok {
				if w.seen[address] {
					continue
				}
				if w.seen == nil {
					w.seen = make(map[uint64]bool)
				}
				w.seen[address] = true
			}
		}
		within := f.Type.Strip() // clang names some by a typedef
		w.add("<" + within.Name() + "> = ")
		if f.Virtual && base.err != nil {
			w.add("<invalid address>, ")
			continue
		}
		if within.partial {
			w.add("{<No data fields>}")
		} else {
			w.value(base, depth+1, false)
		}
		w.add(", ")
	}
	if members == 0 {
		w.add("<No data fields>")
	}
	first := true
	for k := range fields {
		f := &fields[k]
		if f.Base {
			continue
		}
		if len(w.text) >= maxText {
			break
		}
		if !first {
			w.add(", ")
		}
		first = false
		if f.Static != nil {
			w.add("static ")
		}
		if f.Name != "" {
			w.add(f.Name + " = ")
		}
		member := v.Field(k)
		if f.Static != nil && (member.err != nil || depth > 0 && !isScalar(f.Type.Strip())) {
			// A static member can be of the structure it is in.
			w.add("<optimized out>")
			continue
		}
		if strings.HasPrefix(f.Name, "_vptr") && !member.OptimizedOut() {
			// A pointer to a virtual table is one in every format.
			if n, err := member.Uint(); err == nil {
				w.address(n, true)
				continue
			}
		}
		around := w.around
		if f.Static != nil {
			w.around = nil // it lies elsewhere
		}
		w.value(member, depth+1, false)
		w.around = around
	}
	w.add("}")
}

func (w *printing) array(v Value, t *Type, depth int) {
	elem := t.Elem()
	size := elem.Size()
	n, _ := t.Len()
	cut := false // there is more than is read
	if short := v.beginning(); short != nil {
		v, t, cut = v.part(short, 0), short, true
		n, _ = t.Len()
	}
	open, end := "{", "}"
	if t.language == Rust {
		open, end = "[", "]"
	}
	if n == 0 && t.counted && t.language == Rust {
		w.add("[]")
		return
	}
	if size == 0 || n == 0 {
		// A member at the end that is as long as it likes.
		if address, ok := v.Address(); ok && w.Format == 0 {
			w.pointer(v, PointerTo(elem), address)
		} else if w.Format == 0 {
			w.add("0x0") // what gdb takes for the address of what has none
		} else {
			w.add("{}")
		}
		return
	}
	if _, ok := textual(elem); ok && t.vector {
		// What a vector register holds is no text.
		number := &Type{machine: t.machine, kind: Int, size: size, sized: true, signed: elem.Signed(), ready: true}
		v.typ = &Type{machine: t.machine, language: t.language, kind: Array, elem: number, count: n, counted: true, ready: true}
		w.array(v, v.typ, depth)
		return
	}
	whole, err := v.Bytes()
	if _, _, packed := t.extent(); packed && err == nil {
		err = ErrNoAddress // of elements that begin within a byte
	}
	if prefix, ok := textual(elem); ok && err == nil && (w.Format == 0 || w.Format == 's') {
		w.appendString(whole, int(size), prefix, cut)
		return
	}
	if depth >= w.depth {
		w.add(open + "..." + end)
		return
	}
	w.add(open)
	w.elementsOf(v, t, depth)
	if cut {
		w.add("...")
	}
	w.add(end)
}

// elementsOf writes the elements of an array, of equal ones in a row how many they are.
func (w *printing) elementsOf(v Value, t *Type, depth int) {
	size, n := t.Elem().Size(), min(t.count, MaxSize) // of elements without bytes there can be any number
	whole, err := v.Bytes()
	if _, _, packed := t.extent(); packed && err == nil {
		err = ErrNoAddress // of elements that begin within a byte
	}
	same := func(i, j uint64) bool {
		if err == nil {
			return bytes.Equal(whole[i*size:][:size], whole[j*size:][:size])
		}
		a, missingA, errA := v.element(t, i).contents()
		b, missingB, errB := v.element(t, j).contents()
		return errA == nil && errB == nil && bytes.Equal(a, b) && bytes.Equal(missingA, missingB)
	}
	things := 0
	i := uint64(0)
	for ; i < n && things < w.elements && len(w.text) < maxText; i++ {
		if i > 0 {
			w.add(", ")
		}
		next := i + 1
		for next < n && same(i, next) {
			next++
		}
		w.value(v.element(t, i), depth+1, false)
		if reps := next - i; reps >= uint64(w.repeats) {
			w.add(fmt.Sprintf(" <repeats %d times>", reps))
			i = next - 1
			things += w.repeats
		} else {
			things++
		}
	}
	if i < t.count {
		w.add("...")
	}
}

// isInParts reports whether a value is too large to be read as a whole, and its parts are
// not.
func (v Value) isInParts() bool {
	if v.err != nil || v.typ == nil || v.typ.Size() <= MaxSize {
		return false
	}
	switch v.typ.Strip().kind {
	case Struct, Class, Union:
		_, ok := v.Address()
		return ok
	}
	return v.beginning() != nil
}

// beginning returns the type of what is read of an array that is too large to be read as a
// whole, nil of other values.
func (v Value) beginning() *Type {
	if v.err != nil || v.typ == nil || v.typ.Size() <= MaxSize {
		return nil
	}
	t := v.typ.Strip()
	size := t.Elem().Size()
	if _, ok := v.Address(); !ok || t.kind != Array || size == 0 || t.Size()/size > 1<<32 {
		return nil // of such a size there is none
	}
	short := ArrayOf(t.Elem(), max(1, MaxSize/size))
	short.lower, short.stride, short.vector, short.language = t.lower, t.stride, t.vector, t.language
	return short
}

// element returns element i of an array, from 0.
func (v Value) element(t *Type, i uint64) Value { return v.Index(int64(i) + t.lower) }
