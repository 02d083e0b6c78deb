// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

// agentOp is an instruction of an agent expression (GDB manual, "Bytecode
// Descriptions"). Those that are missing are about floating point, which no stub
// has, and about tracepoints.
type agentOp byte

const (
	agentAdd          agentOp = 0x02
	agentSub          agentOp = 0x03
	agentMul          agentOp = 0x04
	agentDivSigned    agentOp = 0x05
	agentDivUnsigned  agentOp = 0x06
	agentRemSigned    agentOp = 0x07
	agentRemUnsigned  agentOp = 0x08
	agentLsh          agentOp = 0x09
	agentRshSigned    agentOp = 0x0a
	agentRshUnsigned  agentOp = 0x0b
	agentLogNot       agentOp = 0x0e
	agentBitAnd       agentOp = 0x0f
	agentBitOr        agentOp = 0x10
	agentBitXor       agentOp = 0x11
	agentBitNot       agentOp = 0x12
	agentEqual        agentOp = 0x13
	agentLessSigned   agentOp = 0x14
	agentLessUnsigned agentOp = 0x15
	agentExt          agentOp = 0x16
	agentRef8         agentOp = 0x17
	agentRef16        agentOp = 0x18
	agentRef32        agentOp = 0x19
	agentRef64        agentOp = 0x1a
	agentIfGoto       agentOp = 0x20
	agentGoto         agentOp = 0x21
	agentConst8       agentOp = 0x22
	agentConst16      agentOp = 0x23
	agentConst32      agentOp = 0x24
	agentConst64      agentOp = 0x25
	agentReg          agentOp = 0x26
	agentEnd          agentOp = 0x27
	agentDup          agentOp = 0x28
	agentPop          agentOp = 0x29
	agentZeroExt      agentOp = 0x2a
	agentSwap         agentOp = 0x2b
	agentPick         agentOp = 0x32
	agentRot          agentOp = 0x33
)

// agentShape is what an instruction needs: bytes of its operand, values that it
// takes from the stack, and puts there.
type agentShape struct {
	operand, takes, gives int
	known                 bool
}

var agentOps = [...]agentShape{
	agentAdd:          {0, 2, 1, true},
	agentSub:          {0, 2, 1, true},
	agentMul:          {0, 2, 1, true},
	agentDivSigned:    {0, 2, 1, true},
	agentDivUnsigned:  {0, 2, 1, true},
	agentRemSigned:    {0, 2, 1, true},
	agentRemUnsigned:  {0, 2, 1, true},
	agentLsh:          {0, 2, 1, true},
	agentRshSigned:    {0, 2, 1, true},
	agentRshUnsigned:  {0, 2, 1, true},
	agentLogNot:       {0, 1, 1, true},
	agentBitAnd:       {0, 2, 1, true},
	agentBitOr:        {0, 2, 1, true},
	agentBitXor:       {0, 2, 1, true},
	agentBitNot:       {0, 1, 1, true},
	agentEqual:        {0, 2, 1, true},
	agentLessSigned:   {0, 2, 1, true},
	agentLessUnsigned: {0, 2, 1, true},
	agentExt:          {1, 1, 1, true},
	agentRef8:         {0, 1, 1, true},
	agentRef16:        {0, 1, 1, true},
	agentRef32:        {0, 1, 1, true},
	agentRef64:        {0, 1, 1, true},
	agentIfGoto:       {2, 1, 0, true},
	agentGoto:         {2, 0, 0, true},
	agentConst8:       {1, 0, 1, true},
	agentConst16:      {2, 0, 1, true},
	agentConst32:      {4, 0, 1, true},
	agentConst64:      {8, 0, 1, true},
	agentReg:          {2, 0, 1, true},
	agentEnd:          {0, 0, 0, true},
	agentDup:          {0, 1, 2, true},
	agentPop:          {0, 1, 0, true},
	agentZeroExt:      {1, 1, 1, true},
	agentSwap:         {0, 2, 2, true},
	agentPick:         {1, 0, 1, true},
	agentRot:          {0, 3, 3, true},
}
