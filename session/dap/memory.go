// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

// reference returns the memory reference of an address. Editors compare them as text.
func reference(address uint64) string { return fmt.Sprintf("%#x", address) }

func parseReference(text string) (uint64, error) {
	address, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("memory reference %.40q is not an address", text)
	}
	return address, nil
}

const maxMemory = 1 << 20 // bytes of an answer

func (c *client) readMemory(r *dap.ReadMemoryRequest) (dap.Message, error) {
	a := r.Arguments
	address, err := parseReference(a.MemoryReference)
	if err != nil {
		return nil, err
	}
	if a.Count < 0 {
		return nil, fmt.Errorf("%d bytes cannot be read", a.Count)
	}
	address += uint64(a.Offset)
	p := make([]byte, min(a.Count, maxMemory))
	err = c.target.session.ReadMemory(p, address)
	n := completed(address, len(p), err)
	body := dap.ReadMemoryResponseBody{Address: reference(address), Data: base64.StdEncoding.EncodeToString(p[:n])}
	if err != nil {
		body.UnreadableBytes = a.Count - n
	}
	return &dap.ReadMemoryResponse{Response: answer(r), Body: body}, nil
}

// completed returns how many of count bytes were read or written before an error.
func completed(address uint64, count int, err error) int {
	var e *session.MemoryError
	switch {
	case err == nil:
		return count
	case errors.As(err, &e) && e.Address-address < uint64(count):
		return int(e.Address - address)
	}
	return 0
}

func (c *client) writeMemory(r *dap.WriteMemoryRequest) (dap.Message, error) {
	a := r.Arguments
	address, err := parseReference(a.MemoryReference)
	if err != nil {
		return nil, err
	}
	p, err := base64.StdEncoding.DecodeString(a.Data)
	if err != nil {
		return nil, fmt.Errorf("the data is not in base64: %w", err)
	}
	address += uint64(a.Offset)
	if !a.AllowPartial {
		if err := c.target.session.ReadMemory(make([]byte, len(p)), address); err != nil {
			return nil, err
		}
	}
	err = c.target.session.WriteMemory(p, address)
	n := completed(address, len(p), err)
	if err != nil && (!a.AllowPartial || n == 0) {
		return nil, err
	}
	c.frames.Forget()
	return &dap.WriteMemoryResponse{Response: answer(r), Body: dap.WriteMemoryResponseBody{BytesWritten: n}}, nil
}

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
