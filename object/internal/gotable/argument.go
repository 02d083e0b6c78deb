// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package gotable

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
	Open        // the brace before the numbers of a value
	Close       // the brace after them
	More        // more arguments follow, which the list leaves out
	Far         // a number too far from the CFA for the table
)

const (
	maxArgumentsSize = (5*3+2)*10 + 1 // bytes of a list at most: TraceArgsMaxLen

	argumentEnd     = 0xff // TraceArgsEndSeq, and so on
	argumentOpen    = 0xfe
	argumentClose   = 0xfd
	argumentMore    = 0xfc
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
	// From an offset on the arguments were passed in registers: they are live if their bit is set.
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
		case o == argumentOpen:
			list = append(list, Argument{Kind: Open})
		case o == argumentClose:
			list = append(list, Argument{Kind: Close})
		case o == argumentMore:
			list = append(list, Argument{Kind: More})
		case o == argumentFar:
			list = append(list, Argument{Kind: Far})
		case o >= argumentSpecial || len(b) == 0 || b[0] == 0 || b[0] > 8:
			return nil, false
		default:
			list = append(list, Argument{Offset: at + uint64(o), Size: int(b[0]), Live: isLive(o)})
			b = b[1:]
		}
	}
	return nil, false
}
