// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
)

// Values of DW_AT_go_kind: the numbers of package reflect's Kinds.
const (
	goArray         = 17
	goChan          = 18
	goFunc          = 19
	goInterface     = 20
	goMap           = 21
	goPointer       = 22
	goSlice         = 23
	goString        = 24
	goStruct        = 25
	goUnsafePointer = 26
)

// goType returns the first of a type and those that it stands for which is a type
// of Go that is written as Go has it, nil where none is.
func (t *Type) goType() *Type {
	if t == nil || t.language != Go {
		return nil
	}
	for range maxChain {
		if t.goKind >= goArray && t.goKind <= goUnsafePointer {
			return t
		}
		if t.kind != Typedef {
			return nil
		}
		t = t.Elem()
	}
	return nil
}

// goName is the name of a type in Go.
func (t *Type) goName() string {
	for range maxChain {
		switch {
		case t.goPlace > 0: // its name is the compiler's
			t = t.Elem()
			continue
		case t.name != "":
			return t.name
		case t.kind == Pointer:
			if e := t.Elem(); e.name != "" {
				return "*" + e.name
			}
		case t.kind == Typedef:
			t = t.Elem()
			continue
		}
		break
	}
	return t.spelled()
}

// golang writes a value as Go's debugger, Delve, does on one line, with the values in it
// that "locals -v" has. Elements of arrays and maps are bare: their types stand before them.
func (w *printing) golang(v Value, t *Type, depth int) {
	bare := w.bare
	w.bare = false
	switch t.goKind {
	case goString:
		w.goString(v)
	case goSlice:
		w.goSlice(v, t, bare, depth)
	case goArray:
		n, _ := t.Strip().Len()
		if !bare {
			w.add(t.goName() + " ")
		}
		w.goElements(v, n, n, depth)
	case goStruct:
		w.goStructure(v, t, bare, depth)
	case goPointer:
		w.goPointer(v, t, bare, depth)
	case goMap:
		w.goMap(v, t, bare, depth)
	case goChan:
		w.goPointed(v, t, false, func(c Value) {
			n, err := c.FieldByName("qcount").Uint()
			size, sizeErr := c.FieldByName("dataqsiz").Uint()
			if err := errors.Join(err, sizeErr); err != nil {
				w.fail(err)
				return
			}
			w.add(fmt.Sprintf("%d/%d", n, size))
		})
	case goInterface:
		w.goInterface(v, t, bare, depth)
	case goFunc:
		w.goFunc(v)
	default:
		w.goWord(v, func(n uint64) { w.add("unsafe.Pointer(0x" + strconv.FormatUint(n, 16) + ")") })
	}
}

// goWord reads a value of one word for show, or writes why it cannot be read.
func (w *printing) goWord(v Value, show func(n uint64)) {
	b, err := v.Bytes()
	switch {
	case errors.Is(err, ErrOptimizedOut):
		w.add("<" + optimizedOut + ">")
	case err != nil:
		w.fail(err)
	default:
		show(uintOf(w.machine.Order, lowBytes(w.machine, b, 8)))
	}
}

const optimizedOut = "optimized out"

func (w *printing) goString(v Value) {
	w.goWord(v.FieldByName("len"), func(n uint64) {
		if n == 0 {
			w.add(`""`)
			return
		}
		w.goWord(v.FieldByName("str"), func(data uint64) {
			shown := min(n, uint64(max(w.elements, minGoText)))
			b := make([]byte, shown)
			if v.frame == nil {
				w.fail(ErrNoAddress)
				return
			}
			if err := v.frame.ReadMemory(b, data); err != nil {
				w.fail(&MemoryError{data, err})
				return
			}
			w.add(strconv.Quote(string(b)))
			if shown < n {
				w.add("...+" + strconv.FormatUint(n-shown, 10) + " more")
			}
		})
	})
}

// minGoText is how much of a string is shown, bytes, of however little room there is.
const minGoText = 64

func (w *printing) goSlice(v Value, t *Type, bare bool, depth int) {
	array := v.FieldByName("array")
	if _, err := array.Uint(); errors.Is(err, ErrOptimizedOut) {
		w.add("<" + optimizedOut + ">") // the compiler seldom knows how long it is then
		return
	}
	w.goWord(v.FieldByName("len"), func(n uint64) {
		room := n
		if !bare {
			w.add(t.goName() + " len: " + strconv.FormatUint(n, 10) + ", cap: ")
			w.goWord(v.FieldByName("cap"), func(c uint64) {
				w.add(strconv.FormatUint(c, 10))
				room = c
			})
			w.add(", ")
		}
		if n > room {
			w.add("<error: longer than its buffer>")
			return
		}
		w.goWord(array, func(data uint64) {
			if data == 0 {
				w.add("nil")
				return
			}
			elem := array.typ.Strip().Elem()
			limit := min(n, uint64(w.elements))
			w.goElements(At(ArrayOf(elem, limit), data, v.frame), limit, n, depth)
		})
	})
}

// maxGoInner is how many elements are shown of what stands in another value.
const maxGoInner = 8

// maxGoDepth is how deep structures, maps and interfaces in values are shown, and
// maxGoArrays how deep arrays are: Delve has no limit for these, and a slice can be in
// itself.
const (
	maxGoDepth  = 2
	maxGoArrays = 5
)

// goLimit is maxGoDepth, or what the printer was told.
func (w *printing) goLimit() int { return min(w.depth, maxGoDepth) }

// goElement writes a value whose type stands before it.
func (w *printing) goElement(v Value, depth int) {
	w.bare = true
	w.value(v, depth, false)
	w.bare = false
}

// goAt writes where a value of a type is that is not shown.
func (w *printing) goAt(name string, address uint64) {
	if strings.Contains(name, "/") {
		name = strconv.Quote(name)
	}
	w.add("(" + name + ")(0x" + strconv.FormatUint(address, 16) + ")")
}

// goElements writes the first elements of an array that is n long and of all, or
// that an array of less stands for.
func (w *printing) goElements(v Value, n, all uint64, depth int) {
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
		w.goElement(v.Index(int64(i)), depth+1)
	}
	if limit < all {
		w.add(",...+" + strconv.FormatUint(all-limit, 10) + " more")
	}
	w.add("]")
}

// isLost reports whether nothing is left of a structure, whose numbers can be in several
// places.
func (v Value) isLost(t *Type) bool {
	fields := t.Strip().Fields()
	if len(fields) == 0 || len(v.pieces) < 2 {
		return false // what lies in one place says so itself
	}
	for k := range min(len(fields), maxGoNumbers) {
		if _, err := v.Field(k).Bytes(); !errors.Is(err, ErrOptimizedOut) {
			return false
		}
	}
	return len(fields) <= maxGoNumbers
}

// goStructure writes a structure: its address where it stands too deep in another value, but
// for a time, which its text tells.
func (w *printing) goStructure(v Value, t *Type, bare bool, depth int) {
	if v.isLost(t) {
		w.add("<" + optimizedOut + ">")
		return
	}
	fields := t.Strip().Fields()
	text, isTime := v.goTime(t)
	address, inMemory := v.Address()
	isDeep := len(fields) > 0 && depth >= w.goLimit()
	switch {
	case isTime:
		w.add(t.goName() + "(" + text + ")")
	case isDeep && inMemory && !w.inLine:
		w.goAt("*"+t.goName(), address)
		return
	case !bare:
		w.add(t.goName() + " ")
	}
	if isDeep {
		w.add("{...}")
		return
	}
	w.add("{")
	for k := range fields {
		if len(w.text) >= maxText {
			break
		}
		if k > 0 {
			w.add(", ")
		}
		w.add(fields[k].Name + ": ")
		w.value(v.Field(k), depth+1, false)
	}
	w.add("}")
}

func (w *printing) goPointer(v Value, t *Type, bare bool, depth int) {
	w.goWord(v, func(n uint64) {
		elem := t.Strip().Elem()
		// Delve counts what a pointer leads to as deep as the pointer, but for one to a
		// pointer or an interface, which can lead on without end.
		within := depth
		kind := uint8(0)
		if g := elem.goType(); g != nil {
			kind = g.goKind
		}
		if kind == goPointer || kind == goInterface {
			within++
		}
		switch {
		case n == 0 && bare:
			w.add("*nil")
		case n == 0:
			w.add(t.goName() + " nil")
		case elem.Strip().kind == Void, w.inLine && depth > 0, depth >= w.depth, kind == goPointer && depth >= w.goLimit():
			w.goAt(t.goName(), n)
		default:
			w.add("*")
			w.bare = bare
			w.value(At(elem, n, v.frame), within, false)
			w.bare = false
		}
	})
}

// goPointed writes the type of a map or a channel, a pointer, and has what it leads to shown.
func (w *printing) goPointed(v Value, t *Type, bare bool, show func(Value)) {
	v.typ = t.Strip()
	w.goWord(v, func(at uint64) {
		if !bare {
			w.add(t.goName() + " ")
		}
		if at == 0 {
			w.add("nil")
			return
		}
		show(v.Deref())
	})
}

// goFunc writes the function of a function value, a pointer to a word with its
// address.
func (w *printing) goFunc(v Value) {
	v.typ = PointerTo(PointerTo(&Type{machine: w.machine, kind: Void, ready: true}))
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

// goInterface writes an interface's dynamic type and value. Of a bare one the value has the
// type.
func (w *printing) goInterface(v Value, t *Type, bare bool, depth int) {
	address, inMemory := v.Address()
	v.typ = t.Strip() // runtime.eface, or runtime.iface with methods
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
				w.add(t.goName() + " ")
			}
			w.add("nil")
			return
		}
		is := v.goDynamic(n)
		if g := is.goType(); g != nil && g.goKind == goInterface {
			is = nil // no interface holds another one, which could go on without end
		}
		if is == nil {
			w.add(t.goName() + "(a type at 0x" + strconv.FormatUint(n, 16) + " that is not described)")
			return
		}
		if !bare {
			w.add(t.goName() + "(" + is.goName() + ") ")
		}
		data := v.FieldByName("data")
		if depth >= w.depth || depth >= w.goLimit() {
			if g := is.goType(); inMemory && !w.inLine && (g == nil || g.goKind != goPointer) {
				w.add("*")
				w.goAt("*"+t.goName(), address)
			} else {
				w.add("...")
			}
			return
		}
		if is.goDirect(0) {
			b, err := data.Bytes()
			if err != nil {
				w.fail(err)
				return
			}
			if g := is.goType(); !bare && g != nil && g.goKind == goPointer && uintOf(w.machine.Order, lowBytes(w.machine, b, 8)) == 0 {
				w.add("nil")
				return
			}
			w.bare = !bare
			w.value(Constant(is, b, v.frame), depth, false)
			w.bare = false
			return
		}
		w.goWord(data, func(n uint64) {
			w.bare = !bare
			w.value(At(is, n, v.frame), depth, false)
			w.bare = false
		})
	})
}

// goDirect reports whether an interface holds a value itself, and not its address:
// what is a pointer, or a structure or an array of one alone (cmd/compile's
// types.IsDirectIface).
func (t *Type) goDirect(depth int) bool {
	if g := t.goType(); g != nil {
		switch g.goKind {
		case goChan, goFunc, goMap, goPointer, goUnsafePointer:
			return true
		}
	}
	s := t.Strip()
	if depth == maxChain {
		return false
	}
	switch s.kind {
	case Struct:
		fields := s.Fields()
		return len(fields) == 1 && fields[0].Type.goDirect(depth+1)
	case Array:
		n, _ := s.Len()
		return n == 1 && s.Elem().goDirect(depth+1)
	}
	return false
}

// goDynamic returns the type that the runtime describes at a run-time address, nil
// where the debugging information does not have it.
func (v Value) goDynamic(address uint64) (t *Type) {
	i, u := v.typ.info, v.typ.unit
	if i == nil || v.frame == nil {
		return nil
	}
	_ = i.locked(func() error { // what cannot be read is not described
		if i.goTypes == nil {
			i.goTypes = make(map[uint64]object.DebugOffset)
			if err := i.readGoTypes(u); err != nil {
				return err
			}
		}
		if off, ok := i.goTypes[address-v.frame.Bias()]; ok {
			t = i.typeAt(off)
		}
		return nil
	})
	return t
}

// readGoTypes reads which entry of a unit describes which of the runtime's types.
// All of a program are in one unit, that of the runtime.
func (i *Info) readGoTypes(u *unit) error {
	root, err := i.read(u.first)
	if err != nil || !root.Children {
		return err
	}
	found := make(map[uint64]object.DebugOffset)
	lowest := ^uint64(0)
	e := new(object.DebugEntry)
	for err == nil {
		var ok bool
		if ok, err = i.nextTo(e); err != nil || !ok || e.Tag == 0 || e.Offset >= u.end {
			break
		}
		if at, ok := e.Address(dw.AttrGoRuntimeType); ok && at != 0 && i.retain(1) {
			lowest = min(lowest, at)
			if _, known := found[at]; !known {
				found[at] = e.Offset
			}
		}
		err = i.skip(e, u)
	}
	// Go 1.26 has offsets from where the types are, those before had addresses.
	base := uint64(0)
	if types, ok := i.object.Symbol("runtime.types"); ok && lowest < types.Address {
		base = types.Address
	}
	for at, off := range found {
		i.goTypes[base+at] = off
	}
	return err
}

// goArgument returns what stands for a value of Go in the list of a frame's
// arguments: no more of it than a line has room for.
func (p *Printer) goArgument(v Value) string {
	q := *p
	q.Elements, q.Depth, q.inLine = maxGoInner, 2, true
	return q.Text(v)
}
