// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/clewdev/clew/session"
)

// client is an attached debugger. Its connection's goroutine owns the fields; the driving goroutine
// uses breakpoints too, while the client waits for it.
type client struct {
	server *Server
	conn   io.ReadWriteCloser
	out    []byte // the last reply as a packet

	// Features of the client.
	noAck         bool
	lldb          bool
	multiprocess  bool
	softwareBreak bool
	hardwareBreak bool
	suffix        bool // packets end with a thread

	pid         int
	at          situation
	waiting     bool // for the session to stop
	breakpoints []*breakpoint
	files       map[int]*os.File
	saved       []savedRegisters
	lastSaved   uint32
	notes       []string // printed by "monitor session"

	stops chan situation // from the driving goroutine
	gone  chan struct{}  // closed when the connection no longer reads stops
}

// errBusy is the answer to a client while another one is attached.
var errBusy = errors.New("the session is being debugged by another client")

// messages reads a connection until it ends or stop is called.
func (v *Server) messages(conn io.Reader) (input <-chan message, stop func()) {
	messages, quit := make(chan message), make(chan struct{})
	go func() {
		defer close(messages)
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
			case messages <- m:
			case <-quit:
				return
			}
		}
	}()
	return messages, func() { close(quit) }
}

// connection serves one connection until it ends.
func (v *Server) connection(conn io.ReadWriteCloser) {
	c := &client{server: v, conn: conn, stops: make(chan situation, 1), gone: make(chan struct{})}
	input, stop := v.messages(conn)
	defer stop()
	// The session is not stopped for a connection that sends nothing.
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
	answered := c.debug(first, input)
	v.leave()
	if answered {
		c.linger(input)
	}
}

// debug serves the client from its first packet to its last, and reports whether the client has
// received a last reply.
func (c *client) debug(first message, input <-chan message) (answered bool) {
	if err := c.attach(); err != nil {
		return c.reply("E." + err.Error())
	}
	parted := false
	if c.handle(first, &parted) {
		answered = c.converse(input, &parted)
	}
	c.closeFiles()
	if !parted {
		c.part(actionDetach)
	}
	return answered || parted
}

// linger waits for the client to close the connection. Closing it with unread input would discard the
// last reply, and lldb 14 ignores a reply that arrives together with the end of the connection.
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

// converse answers packets until the connection ends or the process does. It reports whether it has
// sent the end of the process.
func (c *client) converse(input <-chan message, parted *bool) (answered bool) {
	for {
		select {
		case m, ok := <-input:
			if !ok || !c.handle(m, parted) {
				return false
			}
		case at := <-c.stops:
			c.at, c.waiting = at, false
			if !c.reply(c.status()) || at.exited {
				return true
			}
		case <-c.server.closed:
			select {
			case c.at = <-c.stops: // the last one, with the end of the process
				return c.reply(c.status())
			default:
				return false // the client has stopped a worker that is gone
			}
		}
	}
}

// turnAway sends the reason to a client that the listener does not admit, and closes the connection
// soon, so that such clients do not block others.
func (v *Server) turnAway(conn io.ReadWriteCloser, reason error) {
	defer conn.Close()
	defer time.AfterFunc(maxRefusal, func() { conn.Close() }).Stop()
	c := &client{server: v, conn: conn}
	input, stop := v.messages(conn)
	defer stop()
	if first, ok := <-input; ok {
		c.refuse(first, input, reason)
		c.linger(input)
	}
}

// refuse sends a client the reason why it cannot debug the session. gdb shows the answer to
// vMustReplyEmpty, and disconnects.
func (c *client) refuse(first message, input <-chan message, reason error) {
	for m, n := first, 0; n < 8; n++ {
		if m.kind == messagePacket {
			answer, packet := "", string(m.payload)
			end := strings.HasPrefix(packet, "vMustReplyEmpty")
			if end || packet == "?" {
				answer = "E." + reason.Error()
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

// attach attaches the client, and returns when the session is stopped.
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

// send sends an order to the driving goroutine. It returns false if the server is closed.
func (c *client) send(o order) bool {
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

// part detaches the client.
func (c *client) part(a action) {
	close(c.gone)
	done := make(chan struct{})
	if !c.send(order{action: a, done: done}) {
		return
	}
	select {
	case <-done:
	case <-c.server.closed:
	}
}

// stepsOverWatch reports whether an order is gdb's step over the access of a watchpoint. On some
// machines gdb expects a stop before the access, and steps to see the new value. A session stops after
// the access, so the step must execute nothing.
func (c *client) stepsOverWatch(o order) bool {
	return o.action == actionStep && !c.lldb && !c.at.quiet && c.at.stop.Reason == session.AtWatchpoint && c.server.registers.machine.Processor.WatchesBefore
}

// resume resumes the session. The answer follows at the next stop.
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
	c.send(o)
	return "", false
}

// handle handles a message. It returns false to end the connection.
func (c *client) handle(m message, parted *bool) bool {
	switch m.kind {
	case messageInterrupt:
		if c.waiting {
			c.send(order{action: actionInterrupt})
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
			c.send(order{action: actionInterrupt})
			return c.reply("OK")
		}
		return false // the protocol requires clients to wait
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
		case c.lldb: // gdb expects no answer
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

// reply sends a packet. It returns false if the connection is gone.
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

// learns reports whether the client has the breakpoint with which debuggers learn of new code.
func (c *client) learns() bool {
	return slices.ContainsFunc(c.breakpoints, func(b *breakpoint) bool { return b.passive && b.address == registerAddress() })
}
