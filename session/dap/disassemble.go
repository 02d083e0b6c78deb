// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

// maxInstructions bounds the instructions in an answer, and their distance from the
// reference.
const maxInstructions = 1 << 12

func (c *client) disassemble(r *dap.DisassembleRequest) (dap.Message, error) {
	a := r.Arguments
	address, err := parseReference(a.MemoryReference)
	if err != nil {
		return nil, err
	}
	if a.InstructionCount < 0 || a.InstructionCount > maxInstructions || a.InstructionOffset < -maxInstructions || a.InstructionOffset > maxInstructions {
		return nil, fmt.Errorf("%d instructions from instruction %d on; at most %d are supported", a.InstructionCount, a.InstructionOffset, maxInstructions)
	}
	address += uint64(a.Offset)
	var list []session.Instruction
	if a.InstructionOffset < 0 {
		list = frontend.Before(c.target.session, address, -a.InstructionOffset)
		// Before the known instructions each byte counts as one.
		first := address
		if len(list) > 0 {
			first = list[0].Address
		}
		var missing []session.Instruction
		for n := -a.InstructionOffset - len(list); n > 0; n-- {
			missing = append(missing, session.Instruction{Address: first - uint64(n)})
		}
		list = append(missing, list...)
	}
	if after := a.InstructionCount + a.InstructionOffset; after > 0 {
		code, _ := c.target.session.Disassemble(address, after) // the part that can be read
		next := address
		for n := range after {
			if n < len(code) {
				next = code[n].Address + uint64(len(code[n].Bytes))
				list = append(list, code[n])
				continue
			}
			list = append(list, session.Instruction{Address: next})
			next++
		}
	}
	if a.InstructionOffset > 0 {
		list = list[min(a.InstructionOffset, len(list)):]
	}
	list = list[:min(a.InstructionCount, len(list))]
	body := dap.DisassembleResponseBody{Instructions: make([]dap.DisassembledInstruction, 0, len(list))}
	for _, i := range list {
		body.Instructions = append(body.Instructions, c.instruction(i, a.ResolveSymbols))
	}
	return &dap.DisassembleResponse{Response: answer(r), Body: body}, nil
}

// instruction returns an instruction in the form of the protocol. One without bytes stands
// for missing code.
func (c *client) instruction(i session.Instruction, named bool) dap.DisassembledInstruction {
	d := dap.DisassembledInstruction{Address: reference(i.Address), Instruction: i.Text}
	if len(i.Bytes) == 0 {
		d.Instruction = "(no code)"
		return d
	}
	d.InstructionBytes = fmt.Sprintf("% x", i.Bytes)
	if image := c.target.session.Image(i.Address); named && image != nil {
		if f, ok := image.Function(i.Address); ok && f.Start == i.Address {
			d.Symbol = f.Name
		}
	}
	if l := frontend.Locations(c.target.session, i.Address); len(l) > 0 && l[0].File != "" && l[0].Line > 0 {
		d.Location, d.Line = c.sourceOf(l[0].File), c.line(l[0].Line)
	}
	return d
}
