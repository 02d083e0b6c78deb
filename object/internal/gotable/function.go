// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gotable

// Function is the description of a function at an address.
type Function struct {
	Name       string
	Entry, End uint64 // its code: [Entry, End)
	Depth      int    // bytes of stack taken since the entry, -1 if unknown
	TopFrame   bool   // stacks start in it
	WritesSP   bool   // it moves the stack pointer in ways that Depth does not describe
	Assembly   bool   // it was written in assembly language
}

// The flags of a function (internal/abi/symtab.go), which Go 1.17 introduced. It lacks the
// last one.
const (
	flagTopFrame = 1 << iota
	flagWritesSP
	flagAssembly
)

// Describe returns the description of fn at addr.
func (t *Table) Describe(fn *Record, addr uint64) Function {
	g := Function{Name: t.Name(fn), Entry: fn.Entry, End: fn.End, Depth: -1}
	if depth, ok := t.value(t.number(fn, numberStack), fn.Entry, addr); ok && depth >= 0 {
		g.Depth = int(depth)
	}
	if tail, ok := t.tail(fn); ok {
		flag := tail[1]
		g.TopFrame, g.WritesSP, g.Assembly = flag&flagTopFrame != 0, flag&flagWritesSP != 0, flag&flagAssembly != 0
	}
	// Older tables do not mark functions in assembly language.
	g.Assembly = g.Assembly || t.magic != magic118 && t.magic != magic120
	return g
}

// The numbers of a record (runtime/runtime2.go, _func) after its name. Go 1.20 and later
// append one.
const (
	numberStack  = 3 // steps of the stack's depth
	numberFile   = 4 // steps of the file
	numberLine   = 5 // steps of the line
	numberTables = 6 // count of the other tables of steps
	numberUnit   = 7
)

// Indexes of a function's tables of steps and of its data (internal/abi).
const (
	pcdataInline          = 2 // PCDATA_InlTreeIndex
	pcdataArguments       = 3 // PCDATA_ArgLiveIndex
	funcdataInline        = 3 // FUNCDATA_InlTree
	funcdataArguments     = 5 // FUNCDATA_ArgInfo
	funcdataLiveArguments = 6 // FUNCDATA_ArgLiveInfo
)

// tail returns the part of a record after its numbers: the function's ID, its flags, a
// byte of padding, the count of its data; then the offset of each table of steps and of
// each datum.
func (t *Table) tail(fn *Record) ([]byte, bool) {
	numbers := 8
	switch t.magic {
	case magic120:
		numbers = 9
	case magic12:
		return nil, false
	}
	if len(fn.numbers) < 4*numbers+4 {
		return nil, false
	}
	return fn.numbers[4*numbers:], true
}

// stepsOf returns the offset in pcs of the table of steps with an index.
func (t *Table) stepsOf(fn *Record, index uint32) (steps uint32, ok bool) {
	tail, ok := t.tail(fn)
	at := 4 + 4*int(index)
	if !ok || t.number(fn, numberTables) <= index || len(tail) < at+4 {
		return 0, false
	}
	steps = t.order.Uint32(tail[at:])
	return steps, steps != 0 // no list starts at 0
}

// functionData returns the calls from the function's datum with an index on. Before Go
// 1.18 the data were pointers, which are not read.
func (t *Table) functionData(fn *Record, index uint32) (data []byte, ok bool) {
	tail, ok := t.tail(fn)
	at := 4 + 4*(uint64(t.number(fn, numberTables))+uint64(index))
	if !ok || t.magic == magic116 || uint32(tail[3]) <= index || at+4 > uint64(len(tail)) {
		return nil, false
	}
	offset := t.order.Uint32(tail[at:])
	if offset == ^uint32(0) || uint64(offset) > uint64(len(t.calls)) {
		return nil, false
	}
	return t.calls[offset:], true
}

// inlineIndex returns the index of the innermost call that was inlined at addr, -1 if
// there is none.
func (t *Table) inlineIndex(fn *Record, addr uint64) int32 {
	if steps, ok := t.stepsOf(fn, pcdataInline); ok {
		if index, ok := t.value(steps, fn.Entry, addr); ok {
			return index
		}
	}
	return -1
}

// inlined is one call of a function's tree of inlined calls.
type inlined struct {
	name   uint32 // in names
	caller uint32 // offset of the call in the function, bytes
}

// inlinedCall reads the call with an index from the tree of a function
// (runtime/symtabinl.go): records of 20 bytes in Go 1.18 and 1.19, of 16 since.
func (t *Table) inlinedCall(fn *Record, index int32) (call inlined, ok bool) {
	tree, ok := t.functionData(fn, funcdataInline)
	size, name, caller := uint64(16), 4, 8
	if t.magic == magic118 {
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

// Location is a place in the source.
type Location struct {
	Function string
	File     string
	Line     int
	Inlined  bool // the function was inlined in that of the next Location
}

// Locations returns the places in the source of an address of fn: the innermost inlined
// call first, the function last.
func (t *Table) Locations(fn *Record, addr uint64) (list []Location) {
	for range maxInlined {
		index := t.inlineIndex(fn, addr)
		if index < 0 {
			break
		}
		call, ok := t.inlinedCall(fn, index)
		if !ok || uint64(call.caller) >= fn.End-fn.Entry {
			break
		}
		file, line := t.Position(fn, addr)
		list = append(list, Location{Function: stringAt(t.names, uint64(call.name)), File: file, Line: line, Inlined: true})
		addr = fn.Entry + uint64(call.caller)
	}
	file, line := t.Position(fn, addr)
	return append(list, Location{Function: t.Name(fn), File: file, Line: line})
}

// Argument is a number among the arguments of a function, or a mark between numbers.
// Strings, slices, interfaces and structures are several numbers in braces.
type Argument struct {
	Kind   Kind
	Offset uint64 // of a number: from the CFA of the frame, bytes
	Size   int    // of a number: bytes
	Live   bool   // of a number: its place holds the argument
}

// Kind is the kind of an Argument.
type Kind uint8

const (
	Number Kind = iota
	// The marks, in the order of their codes.
	Open  // the brace before the numbers of a value
	Close // the brace after them
	More  // more arguments follow, which the list leaves out
	Far   // a number too far from the CFA for the table
)

const (
	maxArgumentsSize = (5*3+2)*10 + 1 // bytes of a list at most: TraceArgsMaxLen

	argumentEnd     = 0xff // TraceArgsEndSeq, and so on
	argumentOpen    = 0xfe // then Close and More
	argumentFar     = 0xfb
	argumentSpecial = 0xf0
)

// Arguments returns the arguments of fn at addr (runtime/traceback.go, printArgs), false
// if the table does not describe them. They start at bytes above the CFA. The function
// waits at addr for a call if called is true; otherwise it may not yet have stored the
// arguments that were passed in registers.
func (t *Table) Arguments(fn *Record, addr, at uint64, called bool) (list []Argument, ok bool) {
	b, ok := t.functionData(fn, funcdataArguments)
	if !ok {
		return nil, !t.Describe(fn, addr).Assembly // a function without arguments has no list
	}
	// Arguments from offset first on were passed in registers. They are live if their bit is set.
	first, index := byte(argumentEnd), int32(-1)
	live, ok := t.functionData(fn, funcdataLiveArguments)
	if ok && len(live) > 0 {
		first = live[0]
		if steps, has := t.stepsOf(fn, pcdataArguments); has {
			if index, ok = t.value(steps, fn.Entry, addr); !ok {
				called = false // the list is damaged
			}
		}
	}
	slot := 0
	isLive := func(offset byte) bool {
		if offset < first {
			return true
		}
		k := slot
		slot++
		if index <= 0 {
			return called
		}
		at := int(index) + k/8
		return at < len(live) && live[at]&(1<<(k%8)) != 0
	}
	b = b[:min(len(b), maxArgumentsSize)]
	for len(b) > 0 {
		o := b[0]
		b = b[1:]
		switch {
		case o == argumentEnd:
			return list, true
		case o >= argumentFar:
			list = append(list, Argument{Kind: Open + Kind(argumentOpen-o)})
		case o >= argumentSpecial || len(b) == 0 || b[0] == 0 || b[0] > 8:
			return nil, false
		default:
			list = append(list, Argument{Offset: at + uint64(o), Size: int(b[0]), Live: isLive(o)})
			b = b[1:]
		}
	}
	return nil, false
}
