// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clewdev/clew/session"
)

// client is a debugger that has the session. Its fields are its connection's
// goroutine's; the driving goroutine uses breakpoints too, while the client waits
// for it.
type client struct {
	server *Server
	conn   io.ReadWriteCloser
	out    []byte // the last reply, as it went out

	// What it understands.
	noAck         bool
	lldb          bool
	multiprocess  bool
	softwareBreak bool
	hardwareBreak bool
	suffix        bool // packets name their thread

	pid         int
	at          situation
	waiting     bool // for the session to stop
	breakpoints []*breakpoint
	files       map[int]*openFile
	saved       []savedRegisters
	lastSaved   uint32
	notes       []string // what it is told when it asks for the session

	stops chan situation // from the driving goroutine
	gone  chan struct{}  // closed when the connection reads no stops any more
}

// errBusy is the answer to a client that comes while another one is attached.
var errBusy = errors.New("the session is being debugged by another client")

// messages reads a connection until it ends or quit is closed.
func (v *Server) messages(conn io.Reader, quit <-chan struct{}) <-chan message {
	input := make(chan message)
	go func() {
		defer close(input)
		r := bufio.NewReader(conn)
		for {
			m, err := readMessage(r)
			if err != nil {
				if v.options.Log != nil {
					v.options.Log(fmt.Sprintf("connection: %v", err))
				}
				return
			}
			select {
			case input <- m:
			case <-quit:
				return
			}
		}
	}()
	return input
}

// connection serves one connection until it ends.
func (v *Server) connection(conn io.ReadWriteCloser) {
	c := &client{server: v, conn: conn, stops: make(chan situation, 1), gone: make(chan struct{})}
	quit := make(chan struct{})
	defer close(quit)
	input := v.messages(conn, quit)
	// Nobody is stopped for a connection that says nothing.
	first, ok := <-input
	if !ok {
		return
	}
	if !v.enter() {
		c.refuse(first, input, errBusy)
		c.linger(input)
		return
	}
	defer v.talking.Done()
	said := c.debug(first, input)
	v.leave()
	if said {
		c.linger(input)
	}
}

// debug has the session from the client's first packet to its last, and reports
// whether the client has been told that it is over.
func (c *client) debug(first message, input <-chan message) (said bool) {
	if err := c.attach(); err != nil {
		return c.reply("E." + err.Error())
	}
	parted := false
	if c.take(first, &parted) {
		said = c.converse(input, &parted)
	}
	c.closeFiles()
	if !parted {
		c.part(actionDetach)
	}
	return said || parted
}

// linger waits for the client to hang up first. To close a connection that has
// bytes in it which were not read would take the last reply from the client, and
// lldb 14 does not see one that the end of the connection comes with.
func (c *client) linger(input <-chan message) {
	for late := time.After(time.Second); ; {
		select {
		case _, ok := <-input:
			if !ok {
				return
			}
		case <-late:
			return
		}
	}
}

// converse answers until the connection ends, or the process does, which it reports.
func (c *client) converse(input <-chan message, parted *bool) (said bool) {
	for {
		select {
		case m, ok := <-input:
			if !ok || !c.take(m, parted) {
				return false
			}
		case at := <-c.stops:
			c.at, c.waiting = at, false
			if !c.reply(c.status()) || at.exited {
				return true
			}
		case <-c.server.closed:
			select {
			case c.at = <-c.stops: // the last one, which says so
				return c.reply(c.status())
			default:
				return false // it holds the worker that is gone
			}
		}
	}
}

// turnAway tells a client that a listener does not admit why, and closes the connection
// soon: such clients must not keep the others out.
func (v *Server) turnAway(conn io.ReadWriteCloser, why error) {
	defer conn.Close()
	defer time.AfterFunc(maxRefusal, func() { conn.Close() }).Stop()
	c := &client{server: v, conn: conn}
	quit := make(chan struct{})
	defer close(quit)
	input := v.messages(conn, quit)
	if first, ok := <-input; ok {
		c.refuse(first, input, why)
		c.linger(input)
	}
}

// refuse tells a client why it cannot have the session. gdb shows the answer to
// vMustReplyEmpty, and disconnects.
func (c *client) refuse(first message, input <-chan message, why error) {
	for m, n := first, 0; n < 8; n++ {
		if m.kind == messagePacket {
			answer, packet := "", string(m.payload)
			end := strings.HasPrefix(packet, "vMustReplyEmpty")
			if end || packet == "?" {
				answer = "E." + why.Error()
			}
			if !c.write([]byte("+")) || !c.reply(answer) || end {
				return
			}
		}
		var ok bool
		if m, ok = <-input; !ok {
			return
		}
	}
}

// attach gives the session to the client, and returns when it is stopped.
func (c *client) attach() error {
	v := c.server
	v.urgent.Add(1)
	v.kick()
	select {
	case v.arrivals <- c:
	case <-v.closed:
		return session.ErrClosed
	}
	select {
	case c.at = <-c.stops:
	case <-v.closed:
		return session.ErrClosed
	}
	c.pid = v.program.PID()
	return nil
}

// tell gives the driving goroutine an order.
func (c *client) tell(o order) bool {
	v := c.server
	v.urgent.Add(1)
	if o.action >= actionInterrupt {
		v.kick()
	}
	select {
	case v.orders <- o:
		return true
	case <-v.closed:
		return false
	}
}

// part ends the client's hold on the session.
func (c *client) part(a action) {
	close(c.gone)
	done := make(chan struct{})
	if !c.tell(order{action: a, done: done}) {
		return
	}
	select {
	case <-done:
	case <-c.server.closed:
	}
}

// stepsOverWatch reports whether an order is the step by which gdb has the access
// executed that a watchpoint was told of: it takes arm64's processors to tell
// before, and looks at values only behind it. A session stops behind the access,
// and another instruction would be one too many.
func (c *client) stepsOverWatch(o order) bool {
	return o.action == actionStep && !c.lldb && !c.at.quiet && c.at.stop.Reason == session.AtWatchpoint && c.server.registers.machine.ELF == elf.EM_AARCH64
}

// resume lets the session run; the answer comes when it stops.
func (c *client) resume(o order) (string, bool) {
	if c.stepsOverWatch(o) {
		c.at.stop.Reason = session.SteppedInstruction
		return c.status(), true
	}
	if c.at.exited {
		return "E.the process of the session has exited", true
	}
	if err := c.watchEntry(); err != nil {
		return "E." + err.Error(), true
	}
	c.waiting = true
	c.at.quiet = false
	c.tell(o)
	return "", false
}

// take deals with what came in; false ends the connection.
func (c *client) take(m message, parted *bool) bool {
	switch m.kind {
	case messageInterrupt:
		if c.waiting {
			c.tell(order{action: actionInterrupt})
		}
		return true
	case messageRefused:
		return c.write(c.out)
	case messageDamaged:
		if c.noAck {
			return false
		}
		return c.write([]byte("-"))
	}
	if !c.noAck && !c.write([]byte("+")) {
		return false
	}
	packet := string(m.payload)
	c.log("<-", packet)
	if c.waiting {
		if packet == "vCtrlC" {
			c.tell(order{action: actionInterrupt})
			return c.reply("OK")
		}
		return false // clients wait; this one does not speak the protocol
	}
	switch {
	case packet == "D" || strings.HasPrefix(packet, "D;"):
		*parted = true
		c.part(actionDetach)
		c.reply("OK")
		return false
	case packet == "k" || strings.HasPrefix(packet, "vKill"):
		*parted = true
		c.part(actionKill)
		switch {
		case packet != "k":
			c.reply("OK")
		case c.lldb: // gdb wants no answer
			c.reply(fmt.Sprintf("X%02x", gdbKill))
		}
		return false
	}
	answer, now := c.dispatch(packet)
	if !now {
		return true
	}
	if !c.reply(answer) {
		return false
	}
	if packet == "QStartNoAckMode" {
		c.noAck = true
	}
	return true
}

// reply sends a packet; false says that the connection is gone.
func (c *client) reply(payload string) bool {
	c.log("->", payload)
	c.out = appendPacket(c.out[:0], []byte(payload))
	return c.write(c.out)
}

func (c *client) write(b []byte) bool {
	_, err := c.conn.Write(b)
	return err == nil
}

func (c *client) log(direction, packet string) {
	if c.server.options.Log != nil {
		c.server.options.Log(fmt.Sprintf("%s %q", direction, packet[:min(len(packet), 512)]))
	}
}

// learns reports whether the client has asked for a stop where debuggers learn of
// new code.
func (c *client) learns() bool {
	for _, b := range c.breakpoints {
		if b.passive && b.address == registerAddress() {
			return true
		}
	}
	return false
}
