// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// golang writes a value on one line as Delve, the debugger of Go, does, with the inner values
// that its "locals -v" shows. Elements of arrays and maps are bare: their type precedes all
// of them.
func (w *printing) golang(v value.Value, t *value.Type, depth int) {
	bare := w.bare
	w.bare = false
	switch t.GoKind() {
	case reflect.String:
		w.goString(v)
	case reflect.Slice:
		w.goSlice(v, t, bare, depth)
	case reflect.Array:
		n, _ := t.Strip().Len()
		if !bare {
			w.add(t.String() + " ")
		}
		w.goElements(v, n, n, depth)
	case reflect.Struct:
		w.goStructure(v, t, bare, depth)
	case reflect.Pointer:
		w.goPointer(v, t, bare, depth)
	case reflect.Map:
		w.goMap(v, t, bare, depth)
	case reflect.Chan:
		w.goPointed(v, t, false, func(c value.Value) {
			n, err := c.FieldByName("qcount").Uint()
			size, sizeErr := c.FieldByName("dataqsiz").Uint()
			if err := errors.Join(err, sizeErr); err != nil {
				w.fail(err)
				return
			}
			w.add(fmt.Sprintf("%d/%d", n, size))
		})
	case reflect.Interface:
		w.goInterface(v, t, bare, depth)
	case reflect.Func:
		w.goFunc(v)
	default:
		w.goWord(v, func(n uint64) { w.add("unsafe.Pointer(0x" + strconv.FormatUint(n, 16) + ")") })
	}
}

// goWord reads a value of one word and passes it to show. If the value cannot be read it
// writes the reason.
func (w *printing) goWord(v value.Value, show func(n uint64)) {
	b, err := v.Bytes()
	if err != nil {
		w.unreadable(err)
		return
	}
	show(number.Uint(w.machine.Order, number.Low(w.machine, b, 8)))
}

const optimizedOut = "optimized out"

// maxGoFields bounds how many fields of a structure isLost reads.
const maxGoFields = 64

func (w *printing) goString(v value.Value) {
	w.goWord(v.FieldByName("len"), func(n uint64) {
		if n == 0 {
			w.add(`""`)
			return
		}
		w.goWord(v.FieldByName("str"), func(data uint64) {
			shown := min(n, uint64(max(w.elements, minGoText)))
			b := make([]byte, shown)
			if v.Frame() == nil {
				w.fail(value.ErrNoAddress)
				return
			}
			if err := v.Frame().ReadMemory(b, data); err != nil {
				w.fail(&value.MemoryError{Address: data, Err: err})
				return
			}
			w.add(strconv.Quote(string(b)))
			if shown < n {
				w.add("...+" + strconv.FormatUint(n-shown, 10) + " more")
			}
		})
	})
}

// minGoText is how many bytes of a string are shown even if Elements is less.
const minGoText = 64

func (w *printing) goSlice(v value.Value, t *value.Type, bare bool, depth int) {
	array := v.FieldByName("array")
	if _, err := array.Uint(); errors.Is(err, value.ErrOptimizedOut) {
		w.add("<" + optimizedOut + ">") // the compiler seldom knows how long it is then
		return
	}
	w.goWord(v.FieldByName("len"), func(n uint64) {
		capacity := n
		if !bare {
			w.add(t.String() + " len: " + strconv.FormatUint(n, 10) + ", cap: ")
			w.goWord(v.FieldByName("cap"), func(c uint64) {
				w.add(strconv.FormatUint(c, 10))
				capacity = c
			})
			w.add(", ")
		}
		if n > capacity {
			w.add("<error: longer than its buffer>")
			return
		}
		w.goWord(array, func(data uint64) {
			if data == 0 {
				w.add("nil")
				return
			}
			elem := array.Type().Strip().Elem()
			limit := min(n, uint64(w.elements))
			w.goElements(value.At(value.ArrayOf(elem, limit), data, v.Frame()), limit, n, depth)
		})
	})
}

// maxGoInner is how many elements of an inner array or map are shown.
const maxGoInner = 8

// maxGoDepth is how deep structures, maps and interfaces in values are shown. maxGoArrays is
// how deep arrays are shown: Delve does not limit them, but a slice can contain itself.
const (
	maxGoDepth  = 2
	maxGoArrays = 5
)

// goLimit returns maxGoDepth, or the printer's Depth if that is less.
func (w *printing) goLimit() int { return min(w.depth, maxGoDepth) }

// goElement writes a value. A bare one is without its type, which was written already.
func (w *printing) goElement(v value.Value, bare bool, depth int) {
	w.bare = bare
	w.value(v, depth, false)
	w.bare = false
}

// goAt writes the type and the address of a value that is not shown.
func (w *printing) goAt(name string, address uint64) {
	if strings.Contains(name, "/") {
		name = strconv.Quote(name)
	}
	w.add("(" + name + ")(0x" + strconv.FormatUint(address, 16) + ")")
}

// goElements writes the first of the n elements of an array. all is the number of elements in the
// array or slice that begins with v.
func (w *printing) goElements(v value.Value, n, all uint64, depth int) {
	if all > 0 && (depth >= maxGoArrays || w.inLine && depth >= w.goLimit()) {
		w.add("[...]")
		return
	}
	w.add("[")
	limit := min(n, uint64(w.elements))
	if depth > 0 {
		limit = min(limit, maxGoInner)
	}
	for i := range limit {
		if len(w.text) >= maxText {
			break
		}
		if i > 0 {
			w.add(",")
		}
		w.goElement(v.Index(int64(i)), true, depth+1)
	}
	if limit < all {
		w.add(",...+" + strconv.FormatUint(all-limit, 10) + " more")
	}
	w.add("]")
}

// isLost reports whether all fields of a structure in several places are optimized
// out.
func isLost(v value.Value, t *value.Type) bool {
	fields := t.Strip().Fields()
	if len(fields) == 0 || len(v.Pieces()) < 2 {
		return false // a value in one place reports that itself
	}
	for k := range min(len(fields), maxGoFields) {
		if _, err := v.Field(k).Bytes(); !errors.Is(err, value.ErrOptimizedOut) {
			return false
		}
	}
	return len(fields) <= maxGoFields
}

// goStructure writes a structure, or only its address if it is nested too deep in another value. It
// writes a time as text at any depth.
func (w *printing) goStructure(v value.Value, t *value.Type, bare bool, depth int) {
	if isLost(v, t) {
		w.add("<" + optimizedOut + ">")
		return
	}
	fields := t.Strip().Fields()
	text, isTime := goTime(v, t)
	address, inMemory := v.Address()
	isDeep := len(fields) > 0 && depth >= w.goLimit()
	switch {
	case isTime:
		w.add(t.String() + "(" + text + ")")
	case isDeep && inMemory && !w.inLine:
		w.goAt("*"+t.String(), address)
		return
	case !bare:
		w.add(t.String() + " ")
	}
	if isDeep {
		w.add("{...}")
		return
	}
	w.add("{")
	w.fields(v, fields, ": ", depth)
	w.add("}")
}

func (w *printing) goPointer(v value.Value, t *value.Type, bare bool, depth int) {
	w.goWord(v, func(n uint64) {
		elem := t.Strip().Elem()
		// In Delve the target of a pointer has the depth of the pointer, unless it is a
		// pointer or an interface: a chain of these can be endless.
		within := depth
		kind := reflect.Invalid
		if g := elem.GoType(); g != nil {
			kind = g.GoKind()
		}
		if kind == reflect.Pointer || kind == reflect.Interface {
			within++
		}
		switch {
		case n == 0 && bare:
			w.add("*nil")
		case n == 0:
			w.add(t.String() + " nil")
		case elem.Strip().Kind() == value.Void, w.inLine && depth > 0, depth >= w.depth, kind == reflect.Pointer && depth >= w.goLimit():
			w.goAt(t.String(), n)
		default:
			w.add("*")
			w.goElement(value.At(elem, n, v.Frame()), bare, within)
		}
	})
}

// goPointed writes the type of a map or a channel, which is a pointer, and passes its target
// to show.
func (w *printing) goPointed(v value.Value, t *value.Type, bare bool, show func(value.Value)) {
	v = v.As(t.Strip())
	w.goWord(v, func(at uint64) {
		if !bare {
			w.add(t.String() + " ")
		}
		if at == 0 {
			w.add("nil")
			return
		}
		show(v.Deref())
	})
}

// goFunc writes the function of a function value: a pointer to a word with the function's
// address.
func (w *printing) goFunc(v value.Value) {
	v = v.As(value.PointerTo(value.PointerTo(value.Base(w.machine, "void"))))
	w.goWord(v, func(n uint64) {
		if n == 0 {
			w.add("nil")
			return
		}
		w.goWord(v.Deref(), func(entry uint64) {
			if w.Symbols != nil {
				if name, _, ok := w.Symbols.Symbol(entry); ok {
					w.add(name)
					return
				}
			}
			w.add("0x" + strconv.FormatUint(entry, 16))
		})
	})
}

// goInterface writes an interface's dynamic type and value. In a bare interface the type
// precedes the value, not the interface.
func (w *printing) goInterface(v value.Value, t *value.Type, bare bool, depth int) {
	address, inMemory := v.Address()
	v = v.As(t.Strip()) // runtime.eface, or runtime.iface with methods
	dynamic := v.FieldByName("_type")
	if dynamic.Err() != nil {
		tab := v.FieldByName("tab")
		if n, err := tab.Uint(); err == nil && n == 0 {
			dynamic = tab
		} else if dynamic = tab.Deref().FieldByName("Type"); dynamic.Err() != nil {
			dynamic = tab.Deref().FieldByName("_type") // before Go 1.22
		}
	}
	w.goWord(dynamic, func(n uint64) {
		if n == 0 {
			if !bare {
				w.add(t.String() + " ")
			}
			w.add("nil")
			return
		}
		is := v.GoDynamic(n)
		if g := is.GoType(); g != nil && g.GoKind() == reflect.Interface {
			is = nil // no interface holds another one, which could go on without end
		}
		if is == nil {
			w.add(t.String() + "(a type at 0x" + strconv.FormatUint(n, 16) + " that is not described)")
			return
		}
		if !bare {
			w.add(t.String() + "(" + is.String() + ") ")
		}
		data := v.FieldByName("data")
		if depth >= w.depth || depth >= w.goLimit() {
			if g := is.GoType(); inMemory && !w.inLine && (g == nil || g.GoKind() != reflect.Pointer) {
				w.add("*")
				w.goAt("*"+t.String(), address)
			} else {
				w.add("...")
			}
			return
		}
		if goDirect(is, 0) {
			b, err := data.Bytes()
			if err != nil {
				w.fail(err)
				return
			}
			if g := is.GoType(); !bare && g != nil && g.GoKind() == reflect.Pointer && number.Uint(w.machine.Order, number.Low(w.machine, b, 8)) == 0 {
				w.add("nil")
				return
			}
			w.goElement(value.Constant(is, b, v.Frame()), !bare, depth)
			return
		}
		w.goWord(data, func(n uint64) {
			w.goElement(value.At(is, n, v.Frame()), !bare, depth)
		})
	})
}

// goDirect reports whether an interface contains a value of a type itself, not its address:
// pointers, and structures and arrays of one pointer (cmd/compile's types.IsDirectIface).
func goDirect(t *value.Type, depth int) bool {
	if g := t.GoType(); g != nil {
		switch g.GoKind() {
		case reflect.Chan, reflect.Func, reflect.Map, reflect.Pointer, reflect.UnsafePointer:
			return true
		}
	}
	s := t.Strip()
	if depth == maxTypes {
		return false
	}
	switch s.Kind() {
	case value.Struct:
		fields := s.Fields()
		return len(fields) == 1 && goDirect(fields[0].Type, depth+1)
	case value.Array:
		n, _ := s.Len()
		return n == 1 && goDirect(s.Elem(), depth+1)
	}
	return false
}

// goArgument returns the text of a value of Go in the list of a frame's arguments, shortened to
// fit on a line.
func (p *Printer) goArgument(v value.Value) string {
	q := *p
	q.Elements, q.Depth, q.inLine = maxGoInner, 2, true
	return q.Text(v)
}
