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

// maxMemory bounds the bytes in an answer.
const maxMemory = 1 << 20

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
