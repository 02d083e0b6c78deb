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

// failed returns an error reply. For most packets gdb does not show the text of errors, so it is only
// a number.
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

// answer returns the reply to a packet without a result.
func answer(err error) string {
	if err != nil {
		return failed(err)
	}
	return "OK"
}

// registersAnswer is answer for packets that set registers. gdb shows the text of these errors. It
// calls malloc when an expression needs memory; if it has the C library's symbols, it chooses that
// malloc, which is not code of the session.
func registersAnswer(err error) string {
	if errors.Is(err, session.ErrAddress) {
		return "E." + err.Error() + "; the session runs no other code"
	}
	return answer(err)
}

func isMemory(err error) bool {
	var m *session.MemoryError
	return errors.As(err, &m)
}

// invalidPacket is the reply to an invalid packet.
const invalidPacket = "E16" // EINVAL

// registerAddress returns the address of __jit_debug_register_code, where debuggers set a breakpoint
// to learn of new code.
func registerAddress() uint64 {
	_, register := gdb.Own()
	return register
}

// dispatch answers a packet. If now is false, the answer follows at the session's next stop. The answer
// to an unknown packet is empty.
func (c *client) dispatch(packet string) (answer string, now bool) {
	if packet == "" {
		return "", true
	}
	arguments := packet[1:]
	switch packet[0] {
	case '?':
		return c.status(), true
	case 'g', 'p':
		return c.readRegisters(packet), true
	case 'G', 'P':
		return c.writeRegisters(packet), true
	case 'm':
		return c.readMemory(arguments), true
	case 'M', 'X':
		return c.writeMemory(packet), true
	case 'Z', 'z':
		return c.breakpointPacket(packet), true
	case 'c', 's', 'C', 'S':
		return c.resumeOld(packet)
	case 'v':
		return c.verbose(packet)
	case 'H':
		s := scanner{text: arguments}
		if !s.next("g") && !s.next("c") {
			return invalidPacket, true
		}
		return c.checkThread(s.text), true
	case 'T':
		return c.checkThread(arguments), true
	case 'q', 'Q', 'j':
		return c.query(packet), true
	case '_':
		if len(packet) > 1 && (packet[1] == 'M' || packet[1] == 'm') {
			return c.scratchPacket(packet), true
		}
	}
	return "", true
}

// checkThread returns OK for the worker's thread, any thread, and all threads.
func (c *client) checkThread(id string) string {
	if _, thread, ok := strings.Cut(id, "."); ok {
		id = thread
	}
	id = strings.TrimPrefix(id, "p")
	if id == "-1" || id == "0" {
		return "OK"
	}
	s := scanner{text: id}
	if n := s.number(); !s.end() || n != uint64(c.pid) {
		return "E03" // ESRCH
	}
	return "OK"
}

// readRegister returns a register as the client sees it.
func (c *client) readRegister(number int) ([]byte, error) {
	r := c.server.registers
	if c.at.shown != 0 && number == r.pc {
		return binary.LittleEndian.AppendUint64(nil, c.at.shown), nil
	}
	return r.read(c.server.program, number)
}

// unthreaded removes lldb's ";thread:N;" from a packet.
func (c *client) unthreaded(packet string) string {
	if c.suffix {
		packet, _, _ = strings.Cut(packet, ";thread:")
	}
	return packet
}

func (c *client) readRegisters(packet string) string {
	packet = c.unthreaded(packet)
	if packet[0] == 'p' {
		s := scanner{text: packet[1:]}
		n := s.number()
		if !s.end() || n >= uint64(len(c.server.registers.list)) {
			return invalidPacket
		}
		value, err := c.readRegister(int(n))
		if err != nil {
			return failed(err)
		}
		return hex.EncodeToString(value)
	}
	if packet != "g" {
		return invalidPacket
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
	s := scanner{text: packet[1:]}
	if packet[0] == 'P' {
		n := s.number()
		s.skip("=")
		value := s.bytes(uint64(len(s.text)) / 2)
		if !s.end() || n >= uint64(len(r.list)) || c.at.shown != 0 && int(n) == r.pc {
			return invalidPacket
		}
		value = value[:min(len(value), r.list[n].size)] // lldb writes whole words
		return registersAnswer(r.write(c.server.program, int(n), value))
	}
	all := s.bytes(uint64(r.size))
	if !s.end() {
		return invalidPacket
	}
	return registersAnswer(c.setRegisters(all, nil))
}

// setRegisters sets all registers, or those for which wanted is true.
func (c *client) setRegisters(all []byte, wanted []bool) error {
	r := c.server.registers
	current, known := r.all(c.server.program)
	var errs []error
	for i := range r.list {
		x := &r.list[i]
		value := all[x.offset : x.offset+x.size]
		// Unchanged registers are left out, because some cannot be set.
		if !known[i] || wanted != nil && !wanted[i] || string(value) == string(current[x.offset:x.offset+x.size]) || i == r.pc && c.at.shown != 0 {
			continue
		}
		errs = append(errs, r.write(c.server.program, i, value))
	}
	return errors.Join(errs...)
}

func (c *client) readMemory(arguments string) string {
	s := scanner{text: arguments}
	address := s.number()
	s.skip(",")
	size := s.number()
	if !s.end() {
		return invalidPacket
	}
	p := make([]byte, min(size, packetSize/2-16))
	if err := c.server.program.ReadMemory(p, address); err != nil {
		// The readable part is an answer too, unless it is empty.
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
	s := scanner{text: packet[1:]}
	address := s.number()
	s.skip(",")
	size := s.number()
	s.skip(":")
	var p []byte
	if packet[0] == 'M' {
		p = s.bytes(size)
	} else {
		p, s.text = []byte(s.text), ""
	}
	if !s.end() || uint64(len(p)) != size {
		return invalidPacket
	}
	if size == 0 {
		return "OK"
	}
	return answer(c.server.program.WriteMemory(p, address))
}

// breakpointPacket handles Z, which inserts a breakpoint, and z, which removes it.
func (c *client) breakpointPacket(packet string) string {
	if len(packet) < 2 || packet[1] < '0' || packet[1] > '4' {
		return ""
	}
	kind := breakpointKind(packet[1] - '0')
	if kind == kindRead {
		return "" // no machine supports it; gdb then uses an access watchpoint
	}
	s := scanner{text: packet[2:]}
	s.skip(",")
	address := s.number()
	s.skip(",")
	length := s.number()
	if packet[0] == 'z' {
		if !s.end() {
			return invalidPacket
		}
		return answer(c.remove(kind, address, length))
	}
	var conditions [][]byte
	// ";X LENGTH,CODE" for each condition, without ";" between them.
	if s.next(";") {
		for s.next("X") {
			n := s.number()
			s.skip(",")
			conditions = append(conditions, s.bytes(n))
		}
	}
	if !s.end() {
		return invalidPacket
	}
	err := c.insert(kind, address, length, conditions)
	if err != nil {
		c.log("--", err.Error())
	}
	return answer(err)
}

// resumeOld handles c, s, C and S, which can have an address at which to continue.
func (c *client) resumeOld(packet string) (string, bool) {
	s := scanner{text: packet[1:]}
	if packet[0] == 'C' || packet[0] == 'S' {
		if number := s.number(); c.fatal(number) {
			return c.end(number)
		}
		s.next(";")
	}
	if s.text != "" {
		address := s.number()
		if !s.end() {
			return invalidPacket, true
		}
		if err := c.server.registers.write(c.server.program, c.server.registers.pc, binary.LittleEndian.AppendUint64(nil, address)); err != nil {
			return failed(err), true
		}
	}
	if s.invalid {
		return invalidPacket, true
	}
	return c.resumeWith(packet[0])
}

// resumeWith steps for s and S, and continues for c and C.
func (c *client) resumeWith(letter byte) (string, bool) {
	if letter == 's' || letter == 'S' {
		return c.resume(order{action: actionStep})
	}
	return c.resume(order{action: actionContinue})
}

// fatal reports whether a signal from the client ends the call. The worker has no handlers and receives
// no signal: after a fault the client has repaired the cause, or the fault happens again.
func (c *client) fatal(number uint64) bool {
	return number == gdbKill || number == gdbTerminate
}

// end aborts the call for a signal.
func (c *client) end(number uint64) (string, bool) {
	return c.resume(order{action: actionAbort, start: number})
}

// verbose handles packets that begin with v.
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

// vCont executes the first action for the worker's thread.
func (c *client) vCont(actions string) (string, bool) {
	for one := range strings.SplitSeq(actions, ";") {
		action, thread, hasThread := strings.Cut(one, ":")
		if hasThread && c.checkThread(thread) != "OK" {
			continue
		}
		if action == "" {
			return invalidPacket, true
		}
		s := scanner{text: action[1:]}
		switch action[0] {
		case 'c', 's', 'C', 'S':
			if action[0] == 'C' || action[0] == 'S' {
				if number := s.number(); c.fatal(number) {
					return c.end(number)
				}
			}
			if !s.end() {
				return invalidPacket, true
			}
			return c.resumeWith(action[0])
		case 'r':
			start := s.number()
			s.skip(",")
			end := s.number()
			if !s.end() {
				return invalidPacket, true
			}
			return c.resume(order{action: actionRange, start: start, end: end})
		case 't':
			return c.status(), true // the only thread is stopped
		}
		return invalidPacket, true
	}
	return invalidPacket, true
}
