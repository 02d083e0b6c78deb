// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
)

// AppendOperation appends an operation to an expression for a machine. It ignores Offset and
// Size of the operation. A DW_OP_GNU_encoded_addr must have an absolute address. The error wraps
// ErrExpression, or ErrRange if an operand does not fit.
func AppendOperation(dst []byte, o Operation, m *arch.Machine) ([]byte, error) {
	e := Encoder{Machine: m, Data: dst}
	w := writer{Encoder: &e, width: m.AddressSize, big: m.Order == binary.BigEndian}
	first, _ := o.Op.group()
	shape := &opShapes[first]
	if shape.name == "" {
		return dst, fmt.Errorf("%w: unknown operation %#02x", ErrExpression, uint8(o.Op))
	}
	w.uint8(uint8(o.Op))
	for i, operand := range shape.operands {
		v := o.Operands[i]
		switch operand {
		case operandAddr:
			w.uint(uint64(v), w.width)
		case operandU1:
			w.uint(uint64(v), 1)
		case operandU2:
			w.uint(uint64(v), 2)
		case operandU4, operandOffset:
			w.uint(uint64(v), 4)
		case operandU8, operandS8:
			w.uint(uint64(v), 8)
		case operandS1:
			w.int(v, 1)
		case operandS2:
			w.int(v, 2)
		case operandS4:
			w.int(v, 4)
		case operandULEB:
			w.uleb128(uint64(v))
		case operandSLEB:
			w.sleb128(v)
		case operandBlock:
			w.uleb128(uint64(len(o.Block)))
			w.Data = append(w.Data, o.Block...)
		case operandBlock1:
			w.uint(uint64(len(o.Block)), 1)
			w.Data = append(w.Data, o.Block...)
		case operandPointer:
			if Encoding(o.Operands[1])&^encForm != 0 {
				return dst, fmt.Errorf("%w: %s with encoding %v, expected an absolute one", ErrExpression, o.Op, Encoding(o.Operands[1]))
			}
			w.uint8(uint8(o.Operands[1]))
			w.pointer(Encoding(o.Operands[1]), Pointer{Address: uint64(v)}, 0, false)
		}
		if operand == operandPointer {
			break
		}
	}
	if w.err != nil {
		return dst, fmt.Errorf("%s: %w", o.Op, errors.Unwrap(w.err))
	}
	return w.Data, nil
}

// translated returns the expression of an instruction of the section for another place and for
// machine m, which can have another byte order or width.
func (s *Section) translated(ins *Instruction, m *arch.Machine) ([]byte, error) {
	size := uint64(len(ins.Expression))
	fail := func(format string, args ...any) ([]byte, error) {
		return nil, &Error{s.Name, ins.Offset, fmt.Errorf("%w: "+format, append([]any{ErrExpression}, args...)...)}
	}
	same := s.Machine.Order == m.Order && s.Machine.AddressSize == m.AddressSize
	if same && bytes.IndexByte(ins.Expression, byte(OpEncodedAddr)) < 0 {
		return ins.Expression, nil
	}
	var dst []byte
	branches := false
	for o, err := range s.Operations(ins.Offset+ins.Size-size, size) {
		switch {
		case err != nil:
			return nil, err
		case o.Op == OpEncodedAddr && Encoding(o.Operands[1])&^encForm != 0:
			return fail("%s of %v, which depends on its address", o.Op, Encoding(o.Operands[1]))
		case len(o.Block) > 1 && !same:
			return fail("%s with bytes in the order of %s", o.Op, s.Machine.Name)
		}
		if dst, err = AppendOperation(dst, o, m); err != nil {
			return nil, err
		}
		branches = branches || o.Op == OpBra || o.Op == OpSkip
	}
	switch {
	case same:
		return ins.Expression, nil
	case branches && uint64(len(dst)) != size:
		return fail("branches over operands with another size on %s, or longer than necessary", m.Name)
	}
	return dst, nil
}
