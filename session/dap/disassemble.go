// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"
	"sort"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

// maxInstructions is how many instructions one answer has, and how far from the
// reference it may start.
const maxInstructions = 1 << 12

func (c *client) disassemble(r *dap.DisassembleRequest) (dap.Message, error) {
	a := r.Arguments
	address, err := parseReference(a.MemoryReference)
	if err != nil {
		return nil, err
	}
	if a.InstructionCount < 0 || a.InstructionCount > maxInstructions || a.InstructionOffset < -maxInstructions || a.InstructionOffset > maxInstructions {
		return nil, fmt.Errorf("%d instructions from instruction %d on, of at most %d", a.InstructionCount, a.InstructionOffset, maxInstructions)
	}
	address += uint64(a.Offset)
	var list []session.Instruction
	if a.InstructionOffset < 0 {
		list = c.before(address, -a.InstructionOffset)
	}
	if after := a.InstructionCount + a.InstructionOffset; after > 0 {
		behind, _ := c.target.session.Disassemble(address, after) // what there is
		next := address
		for n := range after {
			if n < len(behind) {
				next = behind[n].Address + uint64(len(behind[n].Bytes))
				list = append(list, behind[n])
				continue
			}
			list = append(list, session.Instruction{Address: next})
			next++
		}
	}
	if a.InstructionOffset > 0 {
		list = list[min(a.InstructionOffset, len(list)):]
	}
	// The editor wants exactly so many.
	list = list[:min(a.InstructionCount, len(list))]
	body := dap.DisassembleResponseBody{Instructions: make([]dap.DisassembledInstruction, 0, len(list))}
	for _, i := range list {
		body.Instructions = append(body.Instructions, c.instruction(i, a.ResolveSymbols))
	}
	return &dap.DisassembleResponse{Response: answer(r), Body: body}, nil
}

// instruction is what the editor gets of an instruction; of one without bytes,
// that there is none.
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

// before returns the count instructions before an address. Where instructions
// begin is known at the starts of functions only: those before the address are
// decoded from there on.
func (c *client) before(address uint64, count int) []session.Instruction {
	var list []session.Instruction
	end := address
	for len(list) < count {
		start, ok := c.functionBefore(end)
		if !ok {
			break
		}
		part := c.decode(start, end)
		if len(part) == 0 {
			break
		}
		if len(part) > count-len(list) {
			part = part[len(part)-(count-len(list)):]
		}
		list = append(part, list...)
		end = start
	}
	var missing []session.Instruction
	for n := count - len(list); n > 0; n-- {
		missing = append(missing, session.Instruction{Address: end - uint64(n)})
	}
	return append(missing, list...)
}

// functionBefore returns the start of the last function, of the image that the
// byte before an address is in, that starts before the address.
func (c *client) functionBefore(address uint64) (uint64, bool) {
	i := c.target.session.Image(address - 1)
	if i == nil {
		return 0, false
	}
	list := i.Functions()
	n := sort.Search(len(list), func(n int) bool { return list[n].Start >= address })
	if n == 0 {
		return 0, false
	}
	return list[n-1].Start, true
}

// maxDecoded is how much code is decoded for the instructions before an address.
const maxDecoded = 1 << 16

// decode returns the instructions in [start, end). The last one is cut where it
// would go over the end.
func (c *client) decode(start, end uint64) []session.Instruction {
	if end-start > maxDecoded {
		return nil
	}
	var list []session.Instruction
	for at := start; at < end; {
		part, err := c.target.session.Disassemble(at, min(int(end-at), 256))
		if len(part) == 0 || err != nil && len(part) == 0 {
			break
		}
		for _, i := range part {
			if i.Address >= end || len(i.Bytes) == 0 {
				return list
			}
			if left := end - i.Address; uint64(len(i.Bytes)) > left {
				i.Bytes, i.Text = i.Bytes[:left], "(data)"
			}
			list = append(list, i)
			at = i.Address + uint64(len(i.Bytes))
		}
	}
	return list
}
