// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"slices"
	"strconv"
)

// savedRegisters are registers that a client saves and restores, as lldb does around a call of a
// function.
type savedRegisters struct {
	id     uint32
	values []byte
	known  []bool
}

// maxSaved limits the saved sets of a client. For another one, the oldest is dropped.
const maxSaved = 64

// saveRegisters handles QSaveRegisterState. The answer is a decimal number.
func (c *client) saveRegisters() string {
	values, known := c.server.registers.all(c.server.program)
	c.lastSaved++
	if len(c.saved) == maxSaved {
		c.saved = slices.Delete(c.saved, 0, 1)
	}
	c.saved = append(c.saved, savedRegisters{c.lastSaved, values, known})
	return strconv.FormatUint(uint64(c.lastSaved), 10)
}

// restoreRegisters handles QRestoreRegisterState, which also drops the set.
func (c *client) restoreRegisters(arguments string) string {
	id, err := strconv.ParseUint(c.unthreaded(";" + arguments)[1:], 10, 32)
	n := slices.IndexFunc(c.saved, func(s savedRegisters) bool { return s.id == uint32(id) })
	if err != nil || n < 0 {
		return invalidPacket
	}
	s := c.saved[n]
	c.saved = slices.Delete(c.saved, n, n+1)
	return answer(c.setRegisters(s.values, s.known))
}
