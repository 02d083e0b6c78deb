// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/clewdev/clew/jit/gdb"
	"github.com/clewdev/clew/session"
)

// failed is the reply to a packet that could not be obeyed. gdb shows no text of
// the errors of most packets.
func failed(err error) string {
	number := syscall.EIO
	switch {
	case errors.Is(err, session.ErrAddress), isMemory(err):
		number = syscall.EFAULT
	case errors.Is(err, session.ErrInUse):
		number = syscall.EBUSY
	case errors.As(err, &number):
	}
	return fmt.Sprintf("E%02x", int(number)&0xff)
}

// notSet is the reply where registers could not be set. gdb shows its text: where it
// needs memory it calls malloc, and where it has the C library's symbols, that one,
// which is no code of the session.
func notSet(err error) string {
	if errors.Is(err, session.ErrAddress) {
		return "E." + err.Error() + "; the session runs no other code"
	}
	return failed(err)
}

func isMemory(err error) bool {
	var m *session.MemoryError
	return errors.As(err, &m)
}

// badPacket is the reply to one that is not as it must be.
const badPacket = "E16" // EINVAL

func registerAddress() uint64 {
	_, register := gdb.Own()
	return register
}

// dispatch answers a packet; where now is false the answer comes when the session
// stops. What is not known has an empty answer.
func (c *client) dispatch(packet string) (answer string, now bool) {
	if packet == "" {
		return "", true
	}
	rest := packet[1:]
	switch packet[0] {
	case '?':
		return c.status(), true
	case 'g', 'p':
		return c.readRegisters(packet), true
	case 'G', 'P':
		return c.writeRegisters(packet), true
	case 'm':
		return c.readMemory(rest), true
	case 'M', 'X':
		return c.writeMemory(packet), true
	case 'Z', 'z':
		return c.breakpointPacket(packet), true
	case 'c', 's', 'C', 'S':
		return c.resumeOld(packet)
	case 'v':
		return c.verbose(packet)
	case 'H':
		s := scanner{rest: rest}
		if !s.next("g") && !s.next("c") {
			return badPacket, true
		}
		return c.checkThread(s.rest), true
	case 'T':
		return c.checkThread(rest), true
	case 'q', 'Q', 'j':
		return c.query(packet), true
	case '_':
		if len(packet) > 1 && (packet[1] == 'M' || packet[1] == 'm') {
			return c.scratchPacket(packet), true
		}
	case '!':
		return "", true // nothing is started again
	}
	return "", true
}

// checkThread is OK for the worker's thread, any, or all.
func (c *client) checkThread(id string) string {
	if i := strings.IndexByte(id, '.'); i >= 0 {
		id = id[i+1:]
	}
	id = strings.TrimPrefix(id, "p")
	if id == "-1" || id == "0" {
		return "OK"
	}
	s := scanner{rest: id}
	if n := s.number(); !s.end() || n != uint64(c.pid) {
		return "E03" // ESRCH
	}
	return "OK"
}

// readRegister returns a register as the client is to see it.
func (c *client) readRegister(number int) ([]byte, error) {
	r := c.server.registers
	if c.at.shown != 0 && number == r.pc {
		return binary.LittleEndian.AppendUint64(nil, c.at.shown), nil
	}
	return r.read(c.server.program, number)
}

// unthreaded takes lldb's ";thread:N;" off a packet.
func (c *client) unthreaded(packet string) string {
	if c.suffix {
		packet, _, _ = strings.Cut(packet, ";thread:")
	}
	return packet
}

func (c *client) readRegisters(packet string) string {
	packet = c.unthreaded(packet)
	if packet[0] == 'p' {
		s := scanner{rest: packet[1:]}
		n := s.number()
		if !s.end() || n >= uint64(len(c.server.registers.list)) {
			return badPacket
		}
		value, err := c.readRegister(int(n))
		if err != nil {
			return failed(err)
		}
		return hex.EncodeToString(value)
	}
	if packet != "g" {
		return badPacket
	}
	r := c.server.registers
	values, known := r.all(c.server.program)
	text := make([]byte, 0, 2*len(values))
	for i := range r.list {
		x := &r.list[i]
		value := values[x.offset : x.offset+x.size]
		if c.at.shown != 0 && i == r.pc {
			binary.LittleEndian.PutUint64(value, c.at.shown)
		}
		if known[i] {
			text = hex.AppendEncode(text, value)
		} else {
			text = append(text, strings.Repeat("x", 2*x.size)...)
		}
	}
	return string(text)
}

func (c *client) writeRegisters(packet string) string {
	packet = c.unthreaded(packet)
	r := c.server.registers
	s := scanner{rest: packet[1:]}
	if packet[0] == 'P' {
		n := s.number()
		s.skip("=")
		value := s.bytes(uint64(len(s.rest)) / 2)
		if !s.end() || n >= uint64(len(r.list)) {
			return badPacket
		}
		if c.at.shown != 0 && int(n) == r.pc {
			return badPacket
		}
		if len(value) > r.list[n].size { // lldb writes whole words
			value = value[:r.list[n].size]
		}
		if err := r.write(c.server.program, int(n), value); err != nil {
			return notSet(err)
		}
		return "OK"
	}
	all := s.bytes(uint64(r.size))
	if !s.end() {
		return badPacket
	}
	if err := c.setRegisters(all, nil); err != nil {
		return notSet(err)
	}
	return "OK"
}

// setRegisters sets all registers, or, where wanted is not nil, these.
func (c *client) setRegisters(all []byte, wanted []bool) error {
	r := c.server.registers
	now, known := r.all(c.server.program)
	var errs []error
	for i := range r.list {
		x := &r.list[i]
		value := all[x.offset : x.offset+x.size]
		// What is as it was need not be set, nor be something that can be.
		if !known[i] || wanted != nil && !wanted[i] || string(value) == string(now[x.offset:x.offset+x.size]) || i == r.pc && c.at.shown != 0 {
			continue
		}
		errs = append(errs, r.write(c.server.program, i, value))
	}
	return errors.Join(errs...)
}

func (c *client) readMemory(rest string) string {
	s := scanner{rest: rest}
	address := s.number()
	s.skip(",")
	size := s.number()
	if !s.end() {
		return badPacket
	}
	p := make([]byte, min(size, packetSize/2-16))
	if err := c.server.program.ReadMemory(p, address); err != nil {
		// What can be read is an answer too, as long as it is not nothing.
		var m *session.MemoryError
		if !errors.As(err, &m) || m.Address <= address || m.Address-address >= uint64(len(p)) {
			return failed(err)
		}
		p = p[:m.Address-address]
	}
	c.at.event.overlay(p, address)
	return hex.EncodeToString(p)
}

func (c *client) writeMemory(packet string) string {
	s := scanner{rest: packet[1:]}
	address := s.number()
	s.skip(",")
	size := s.number()
	s.skip(":")
	var p []byte
	if packet[0] == 'M' {
		p = s.bytes(size)
	} else {
		p, s.rest = []byte(s.rest), ""
	}
	if !s.end() || uint64(len(p)) != size {
		return badPacket
	}
	if size == 0 {
		return "OK"
	}
	if err := c.server.program.WriteMemory(p, address); err != nil {
		return failed(err)
	}
	return "OK"
}

// breakpointPacket is Z to insert and z to remove.
func (c *client) breakpointPacket(packet string) string {
	if len(packet) < 2 || packet[1] < '0' || packet[1] > '4' {
		return ""
	}
	kind := breakpointKind(packet[1] - '0')
	if kind == kindRead {
		return "" // no machine has it; gdb then takes an access watchpoint
	}
	s := scanner{rest: packet[2:]}
	s.skip(",")
	address := s.number()
	s.skip(",")
	length := s.number()
	if packet[0] == 'z' {
		if !s.end() {
			return badPacket
		}
		if err := c.remove(kind, address, length); err != nil {
			return failed(err)
		}
		return "OK"
	}
	var conditions [][]byte
	// ";X LENGTH,CODE" for each condition, with no ";" between them.
	if s.next(";") {
		for s.next("X") {
			n := s.number()
			s.skip(",")
			conditions = append(conditions, s.bytes(n))
		}
	}
	if !s.end() {
		return badPacket
	}
	if err := c.insert(kind, address, length, conditions); err != nil {
		c.log("--", err.Error())
		return failed(err)
	}
	return "OK"
}

// resumeOld is c, s, C and S, with an address to go on at.
func (c *client) resumeOld(packet string) (string, bool) {
	s := scanner{rest: packet[1:]}
	if packet[0] == 'C' || packet[0] == 'S' {
		if number := s.number(); c.fatal(number) {
			return c.end(number)
		}
		s.next(";")
	}
	if s.rest != "" {
		address := s.number()
		if !s.end() {
			return badPacket, true
		}
		if err := c.server.registers.write(c.server.program, c.server.registers.pc, binary.LittleEndian.AppendUint64(nil, address)); err != nil {
			return failed(err), true
		}
	}
	if s.bad {
		return badPacket, true
	}
	if packet[0] == 's' || packet[0] == 'S' {
		return c.resume(order{action: actionStep})
	}
	return c.resume(order{action: actionContinue})
}

// fatal reports whether a signal that the client sends ends the call. The worker
// has no handlers, and gets no signal: a fault that it is sent on with has been
// repaired, or comes again.
func (c *client) fatal(number uint64) bool {
	return number == gdbKill || number == gdbTerminate
}

// end aborts the call for a signal.
func (c *client) end(number uint64) (string, bool) {
	return c.resume(order{action: actionAbort, start: number})
}

// verbose is the packets that begin with v.
func (c *client) verbose(packet string) (string, bool) {
	switch {
	case packet == "vCont?":
		return "vCont;c;C;s;S;t;r", true
	case strings.HasPrefix(packet, "vCont;"):
		return c.vCont(packet[len("vCont;"):])
	case strings.HasPrefix(packet, "vFile:"):
		return c.file(packet[len("vFile:"):]), true
	}
	return "", true
}

// vCont takes the first action that is for the worker's thread.
func (c *client) vCont(rest string) (string, bool) {
	for rest != "" {
		var one string
		one, rest, _ = strings.Cut(rest, ";")
		what, thread, named := strings.Cut(one, ":")
		if named && c.checkThread(thread) != "OK" {
			continue
		}
		if what == "" {
			return badPacket, true
		}
		s := scanner{rest: what[1:]}
		switch what[0] {
		case 'c', 's', 'C', 'S':
			if what[0] == 'C' || what[0] == 'S' {
				if number := s.number(); c.fatal(number) {
					return c.end(number)
				}
			}
			if !s.end() {
				return badPacket, true
			}
			if what[0] == 's' || what[0] == 'S' {
				return c.resume(order{action: actionStep})
			}
			return c.resume(order{action: actionContinue})
		case 'r':
			start := s.number()
			s.skip(",")
			end := s.number()
			if !s.end() {
				return badPacket, true
			}
			return c.resume(order{action: actionRange, start: start, end: end})
		case 't':
			return c.status(), true // all is stopped
		default:
			return badPacket, true
		}
	}
	return badPacket, true
}
