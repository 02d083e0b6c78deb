// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import "github.com/clewdev/clew/internal/x86"

// x86Parts are the parts of an instruction. The alias avoids an embedded field called Instruction.
type x86Parts = x86.Instruction

// An x86Instruction is an instruction of x86-64.
type x86Instruction struct{ x86Parts }

// decodeX86Parts returns the parts of the instruction at the start of code.
func decodeX86Parts(code []byte) (i x86Instruction, err error) {
	err = i.Decode(code)
	return i, err
}
