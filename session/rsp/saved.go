// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"fmt"
	"strconv"
)

// savedRegisters are the registers that a client wants to have back, as lldb does
// before it calls a function.
type savedRegisters struct {
	id     uint32
	values []byte
	known  []bool
}

// maxSaved bounds how many a client has at once; the oldest is forgotten for more.
const maxSaved = 64

// saveRegisters is QSaveRegisterState, whose answer is a decimal number.
func (c *client) saveRegisters() string {
	values, known := c.server.registers.all(c.server.program)
	c.lastSaved++
	if len(c.saved) == maxSaved {
		c.saved = append(c.saved[:0], c.saved[1:]...)
	}
	c.saved = append(c.saved, savedRegisters{c.lastSaved, values, known})
	return fmt.Sprint(c.lastSaved)
}

// restoreRegisters is QRestoreRegisterState, after which they are not kept.
func (c *client) restoreRegisters(rest string) string {
	id, err := strconv.ParseUint(c.unthreaded(";" + rest)[1:], 10, 32)
	if err != nil {
		return badPacket
	}
	for n, s := range c.saved {
		if s.id == uint32(id) {
			c.saved = append(c.saved[:n], c.saved[n+1:]...)
			if err := c.setRegisters(s.values, s.known); err != nil {
				return failed(err)
			}
			return "OK"
		}
	}
	return badPacket
}
