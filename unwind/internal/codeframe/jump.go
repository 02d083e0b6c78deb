// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codeframe

import "golang.org/x/arch/x86/x86asm"

// Leaves is the way in which a function is left by a jump.
type Leaves uint8

const (
	None     Leaves = iota // no jump leaves the code
	Found                  // a jump leads to the wanted offset
	Direct                 // the last jump leads to another offset
	Indirect               // the last jump has an unknown target, and the frame is removed
)

// Jump looks for a jump to the wanted offset in the first instructions of a function. If
// there is none, it returns how the path without conditional jumps ends, and the target of
// its last jump as an offset.
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
				how = Indirect // in a function with a frame it would be a jump table
			}
		default:
			s.execute(&i)
		}
	}
	return to, how
}
