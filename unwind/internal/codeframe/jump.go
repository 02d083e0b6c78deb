// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codeframe

import "golang.org/x/arch/x86/x86asm"

// Leaves is how a function is left by a jump.
type Leaves uint8

const (
	None     Leaves = iota // no jump leaves the code that was looked at
	Found                  // a jump leads to the address that was asked for
	Direct                 // the last jump leads to another address
	Indirect               // it does not say where it leads, and the frame is no more
)

// Jump looks for a jump to an offset in the first instructions of a function. Where there
// is none it returns how the first path ends that takes no jump with a condition, and
// where that leads, as an offset.
func Jump(code []byte, wanted uint64) (to uint64, how Leaves) {
	ended, s := false, state{depth: 8}
	for at := 0; at < len(code); {
		i, ok := decode(code[at:])
		if !ok {
			break
		}
		at += i.Len
		rel, direct := i.Args[0].(x86asm.Rel)
		target := uint64(at) + uint64(int64(rel))
		switch {
		case i.Op == x86asm.CALL:
		case direct && target == wanted:
			return target, Found
		case ended:
		case i.Op == x86asm.RET, i.Op == x86asm.UD2, i.Op == x86asm.HLT:
			ended = true
		case i.Op == x86asm.JMP:
			ended = true
			if direct {
				to, how = target, Direct
			} else if s.depth == 8 && !s.moves {
				how = Indirect // not by a table of the function's own
			}
		default:
			s.execute(&i)
		}
	}
	return to, how
}
