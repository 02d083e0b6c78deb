// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

// GoFunction is what .gopclntab says of the function at an address.
type GoFunction struct {
	Name       string
	Entry, End uint64 // its code: [Entry, End)

	// Depth is how many bytes of stack the function has taken at the address since
	// its entry, -1 where the table does not say.
	Depth int

	TopFrame bool // stacks start in it
	WritesSP bool // it moves the stack pointer in ways that Depth does not tell
	Assembly bool // it was written in assembly
}

// GoFunctionAt returns the function at addr, false where addr is in none.
func (f *File) GoFunctionAt(addr uint64) (g GoFunction, ok bool) {
	f.noteFault(func() {
		t, _ := f.goTable()
		if t == nil {
			return
		}
		var fn goFunction
		if fn, ok = t.find(addr); ok {
			g = t.describe(&fn, addr)
		}
	})
	return g, ok
}

// GoFunctionNamed returns the first function with a name, as at its entry.
func (f *File) GoFunctionNamed(name string) (g GoFunction, ok bool) {
	f.noteFault(func() {
		t, _ := f.goTable()
		if t == nil {
			return
		}
		for i := range t.count {
			if fn, found := t.find(t.start(i)); found && hasName(t.names, uint64(t.number(&fn, 0)), name) {
				g, ok = t.describe(&fn, fn.entry), true
				return
			}
		}
	})
	return g, ok
}

// The flags of a function: internal/abi/symtab.go. Go 1.16 has none, 1.17 not the last.
const (
	goTopFrame = 1 << iota
	goWritesSP
	goAssembly
)

func (t *goTable) describe(fn *goFunction, addr uint64) GoFunction {
	g := GoFunction{Name: t.name(fn), Entry: fn.entry, End: fn.end, Depth: -1}
	if depth, ok := t.value(t.number(fn, goPCSP), fn.entry, addr); ok && depth >= 0 {
		g.Depth = int(depth)
	}
	if tail, ok := t.tail(fn); ok {
		flag := tail[1]
		g.TopFrame, g.WritesSP, g.Assembly = flag&goTopFrame != 0, flag&goWritesSP != 0, flag&goAssembly != 0
	}
	// The tables of before do not say what is of assembly.
	g.Assembly = g.Assembly || t.magic != goMagic118 && t.magic != goMagic120
	return g
}

// The numbers of a record: runtime/runtime2.go, _func. One of Go 1.20 on has one
// more at their end.
const (
	goPCSP     = 3
	goFile     = 4
	goLine     = 5
	goPCData   = 6 // how many tables there are of this kind
	goUnit     = 7
	goPCInline = 2 // internal/abi: PCDATA_InlTreeIndex
	goInline   = 3 // FUNCDATA_InlTree
)

// tail returns the part of a record behind its numbers: the function's ID, its
// flags, a byte of padding, the number of its data; then a number for each table by
// address and one for each datum.
func (t *goTable) tail(fn *goFunction) ([]byte, bool) {
	numbers := 8
	switch t.magic {
	case goMagic120:
		numbers = 9
	case goMagic12:
		return nil, false
	}
	if len(fn.record) < 4*numbers+4 {
		return nil, false
	}
	return fn.record[4*numbers:], true
}

// addressData returns where in pcs the table by address is that has a number, false
// where a function has none.
func (t *goTable) addressData(fn *goFunction, number uint32) (steps uint32, ok bool) {
	tail, ok := t.tail(fn)
	at := 4 + 4*int(number)
	if !ok || t.number(fn, goPCData) <= number || len(tail) < at+4 {
		return 0, false
	}
	steps = t.order.Uint32(tail[at:])
	return steps, steps != 0 // as steps start behind the first byte
}

// functionData returns the data of a function that have a number, with what follows
// them; false where it has none. Before Go 1.18 they were pointers.
func (t *goTable) functionData(fn *goFunction, number uint32) (data []byte, ok bool) {
	tail, ok := t.tail(fn)
	at := 4 + 4*(uint64(t.number(fn, goPCData))+uint64(number))
	if !ok || t.magic == goMagic116 || uint32(tail[3]) <= number || at+4 > uint64(len(tail)) {
		return nil, false
	}
	offset := t.order.Uint32(tail[at:])
	if offset == ^uint32(0) || uint64(offset) > uint64(len(t.calls)) {
		return nil, false
	}
	return t.calls[offset:], true
}

// inlineIndex returns the number of the innermost call that was inlined at addr,
// -1 where there is none.
func (t *goTable) inlineIndex(fn *goFunction, addr uint64) int32 {
	steps, ok := t.addressData(fn, goPCInline)
	if !ok {
		return -1
	}
	index, ok := t.value(steps, fn.entry, addr)
	if !ok {
		return -1
	}
	return index
}

// inlined is one call of a function's tree of inlined calls.
type inlined struct {
	name   uint32 // in names
	caller uint32 // where in the function, in bytes, the call would be
}

// inlinedCall reads the call with a number from the tree of a function
// (runtime/symtabinl.go): records of 20 bytes in Go 1.18 and 1.19, of 16 since.
func (t *goTable) inlinedCall(fn *goFunction, index int32) (call inlined, ok bool) {
	tree, ok := t.functionData(fn, goInline)
	size, name, caller := uint64(16), 4, 8
	if t.magic == goMagic118 {
		size, name, caller = 20, 12, 16
	}
	at := uint64(index) * size
	if !ok || index < 0 || at+size > uint64(len(tree)) {
		return call, false
	}
	record := tree[at:]
	return inlined{t.order.Uint32(record[name:]), t.order.Uint32(record[caller:])}, true
}

// maxInlined is deeper than any compiler inlines.
const maxInlined = 128

// locations returns where in the source an address of fn is: the innermost inlined
// call first, the function last.
func (t *goTable) locations(fn *goFunction, addr uint64) (list []Location) {
	for range maxInlined {
		index := t.inlineIndex(fn, addr)
		if index < 0 {
			break
		}
		call, ok := t.inlinedCall(fn, index)
		if !ok || uint64(call.caller) >= fn.end-fn.entry {
			break
		}
		file, line := t.position(fn, addr)
		list = append(list, Location{Function: t.nameAt(call.name), File: file, Line: line, Inlined: true})
		addr = fn.entry + uint64(call.caller)
	}
	file, line := t.position(fn, addr)
	return append(list, Location{Function: t.name(fn), File: file, Line: line})
}
