// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import "debug/elf"

// GoArgument is a number among the arguments of a function of Go, or a sign between
// numbers: what the runtime goes by where it writes the trace of a goroutine. Strings,
// slices, interfaces and structures are several numbers in braces.
type GoArgument struct {
	Kind GoArgumentKind

	// Of a number: how far above the CFA of the frame it is, and its size, both in
	// bytes, and whether it is known to be what the argument is: what was passed in a
	// register is put there only where the function still needs it.
	Offset uint64
	Size   int
	Live   bool
}

// GoArgumentKind is what a GoArgument is.
type GoArgumentKind uint8

const (
	GoNumber GoArgumentKind = iota
	GoOpen                  // the brace before the numbers of a value
	GoClose                 // the brace behind them
	GoMore                  // there are more, of which nothing is said
	GoFar                   // one number that lies too far away for the table
)

// goArgumentsAt returns how far above the CFA of a function its arguments are: behind the
// room that its caller keeps for a return address (internal/goarch, MinFrameSize).
func goArgumentsAt(machine elf.Machine, class elf.Class) (offset uint64, ok bool) {
	switch machine {
	case elf.EM_X86_64, elf.EM_386:
		return 0, true
	case elf.EM_AARCH64, elf.EM_LOONGARCH, elf.EM_RISCV, elf.EM_S390:
		return 8, true
	case elf.EM_ARM:
		return 4, true
	case elf.EM_MIPS:
		if class == elf.ELFCLASS64 {
			return 8, true
		}
		return 4, true
	case elf.EM_PPC64:
		return 32, true
	}
	return 0, false
}

const (
	goPCArguments     = 3              // internal/abi: PCDATA_ArgLiveIndex
	goArguments       = 5              // FUNCDATA_ArgInfo
	goLiveArguments   = 6              // FUNCDATA_ArgLiveInfo
	goArgumentsSize   = (5*3+2)*10 + 1 // of a list at most, bytes: TraceArgsMaxLen
	goArgumentsEnd    = 0xff           // TraceArgsEndSeq, and so on
	goArgumentOpen    = 0xfe
	goArgumentClose   = 0xfd
	goArgumentMore    = 0xfc
	goArgumentFar     = 0xfb
	goArgumentSpecial = 0xf0
)

// GoArguments returns the arguments of the function at addr as the runtime of Go (1.18 on)
// knows them, whatever the file was stripped of; false where it knows nothing of them.
// called says that the function waits there for one that it has called: in one that was
// interrupted, no argument need be put where it belongs already.
func (f *File) GoArguments(addr uint64, called bool) (list []GoArgument, ok bool) {
	f.noteFault(func() {
		at, known := goArgumentsAt(f.machine, f.class)
		t, _ := f.goTable()
		if t == nil || !known {
			return
		}
		if fn, found := t.find(addr); found {
			list, ok = t.arguments(&fn, addr, at, called)
		}
	})
	return list, ok
}

// arguments reads the list of a function's arguments (runtime/traceback.go, printArgs),
// which lie at an offset above the CFA.
func (t *goTable) arguments(fn *goFunction, addr, at uint64, called bool) (list []GoArgument, ok bool) {
	b, ok := t.functionData(fn, goArguments)
	if !ok {
		return nil, !t.describe(fn, addr).Assembly // one without arguments has no list
	}
	// What was passed in registers is there from an offset on, and live where a bit is set.
	first, index := byte(goArgumentsEnd), int32(-1)
	live, ok := t.functionData(fn, goLiveArguments)
	if ok && len(live) > 0 {
		first = live[0]
		if steps, has := t.addressData(fn, goPCArguments); has {
			if index, ok = t.value(steps, fn.entry, addr); !ok {
				called = false // it is damaged
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
	b = b[:min(len(b), goArgumentsSize)]
	for len(b) > 0 {
		o := b[0]
		b = b[1:]
		switch {
		case o == goArgumentsEnd:
			return list, true
		case o == goArgumentOpen:
			list = append(list, GoArgument{Kind: GoOpen})
		case o == goArgumentClose:
			list = append(list, GoArgument{Kind: GoClose})
		case o == goArgumentMore:
			list = append(list, GoArgument{Kind: GoMore})
		case o == goArgumentFar:
			list = append(list, GoArgument{Kind: GoFar})
		case o >= goArgumentSpecial || len(b) == 0 || b[0] == 0 || b[0] > 8:
			return nil, false
		default:
			list = append(list, GoArgument{Offset: at + uint64(o), Size: int(b[0]), Live: isLive(o)})
			b = b[1:]
		}
	}
	return nil, false
}
