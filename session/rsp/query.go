// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// threadName is the name of the worker's only thread.
const threadName = "worker"

// query answers the packets that begin with q, Q or j.
func (c *client) query(packet string) string {
	name, arguments := packet, ""
	if i := strings.IndexAny(packet, ":;,"); i >= 0 {
		name, arguments = packet[:i], packet[i+1:]
	}
	switch name {
	case "qSupported":
		return c.supported(arguments)
	case "QStartNoAckMode", "QPassSignals", "QProgramSignals", "QDisableRandomization":
		return "OK" // the worker never receives signals
	case "qAttached":
		if c.server.options.Private {
			return "0" // at its end gdb kills
		}
		return "1" // at its end gdb detaches, and does not kill
	case "qC":
		return "QC" + c.thread()
	case "qfThreadInfo":
		return "m" + c.thread()
	case "qsThreadInfo":
		return "l"
	case "qThreadExtraInfo":
		return hexString(threadName)
	case "qSymbol":
		return "OK" // the server needs no symbols
	case "qXfer":
		return c.transfer(arguments)
	case "qRcmd":
		return c.monitor(arguments)
	}
	return c.queryLLDB(name, arguments)
}

// supported records the features of the client, and returns those of the server.
func (c *client) supported(arguments string) string {
	offers := make(map[string]bool)
	for f := range strings.SplitSeq(arguments, ";") {
		offers[f] = true
	}
	c.softwareBreak, c.hardwareBreak = offers["swbreak+"], offers["hwbreak+"]
	// lldb offers multiprocess too, but does not use its syntax for threads.
	c.multiprocess = offers["multiprocess+"] && c.softwareBreak
	features := fmt.Sprintf("PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;qXfer:exec-file:read+;qXfer:auxv:read+;"+
		"qXfer:threads:read+;qXfer:siginfo:read+;vContSupported+;ConditionalBreakpoints+;QPassSignals+", packetSize)
	if c.softwareBreak {
		features += ";swbreak+"
	}
	if c.hardwareBreak {
		features += ";hwbreak+"
	}
	if c.multiprocess {
		features += ";multiprocess+"
	}
	return features
}

// transfer handles qXfer, which reads part of an object.
func (c *client) transfer(arguments string) string {
	part := strings.SplitN(arguments, ":", 4)
	if len(part) != 4 || part[1] != "read" {
		return ""
	}
	var object string
	switch part[0] {
	case "features":
		if part[2] != "target.xml" {
			return "E00"
		}
		object = c.server.registers.description()
	case "exec-file":
		path, err := os.Readlink("/proc/self/exe")
		if err != nil {
			return failed(err)
		}
		object = strings.TrimSuffix(path, " (deleted)")
	case "auxv":
		b, err := os.ReadFile("/proc/self/auxv")
		if err != nil {
			return failed(err)
		}
		object = string(b)
	case "threads":
		object = fmt.Sprintf("<?xml version=\"1.0\"?>\n<threads>\n<thread id=%q name=%q/>\n</threads>\n", c.thread(), threadName)
	case "siginfo":
		object = c.sigInfo()
		if object == "" {
			return "E01"
		}
	default:
		return ""
	}
	s := scanner{text: part[3]}
	offset := s.number()
	s.skip(",")
	length := s.number()
	if !s.end() {
		return invalidPacket
	}
	return slicePart(object, offset, length)
}

// slicePart returns the reply to qXfer: it begins with "m" if more data follows, and "l" at the end.
func slicePart(object string, offset, length uint64) string {
	if offset >= uint64(len(object)) {
		return "l"
	}
	object = object[offset:]
	// Each byte can need an escape.
	if length = min(length, packetSize/2-16); length < uint64(len(object)) {
		return "m" + object[:length]
	}
	return "l" + object
}

// Types of the auxiliary vector (include/uapi/linux/auxvec.h).
const (
	atBase  = 7
	atEntry = 9
)

// auxiliary returns a value of this program's auxiliary vector.
func auxiliary(kind uint64) (uint64, bool) {
	b, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return 0, false
	}
	for ; len(b) >= 16; b = b[16:] {
		if binary.NativeEndian.Uint64(b) == kind {
			return binary.NativeEndian.Uint64(b[8:]), true
		}
	}
	return 0, false
}

// monitor runs a command of the user, for example "monitor help".
func (c *client) monitor(arguments string) string {
	b, err := hex.DecodeString(arguments)
	if err != nil {
		return invalidPacket
	}
	switch command := strings.TrimSpace(string(b)); command {
	case "help", "":
		return hexString("monitor help     this text\n" +
			"monitor session  what the session does, its images, and the program's own breakpoints\n")
	case "session":
		return hexString(c.describe())
	default:
		return hexString(fmt.Sprintf("%q is not known; see monitor help\n", command))
	}
}

// describe returns the output of "monitor session".
func (c *client) describe() string {
	var b strings.Builder
	v := c.server
	p := v.program
	fmt.Fprintf(&b, "worker %d, %v", p.PID(), p.State())
	switch {
	case c.at.parked:
		b.WriteString(": the program calls nothing; 'continue' waits for its next call\n")
	case c.at.event.entry != 0:
		b.WriteString(": there are new symbols\n")
	default:
		fmt.Fprintf(&b, ": %v\n", &c.at.stop)
		if c.at.stop.Err != nil {
			fmt.Fprintf(&b, "  %v\n", c.at.stop.Err)
		}
	}
	for _, i := range p.Images() {
		if v.scratch.owns(i) {
			continue
		}
		fmt.Fprintf(&b, "image %s:", i.Name())
		for _, r := range i.Ranges() {
			fmt.Fprintf(&b, " %#x-%#x", r.Start, r.End)
		}
		fmt.Fprintf(&b, ", %d functions\n", len(i.Functions()))
	}
	for _, x := range p.Breakpoints() {
		if c.breakpointOf(x.ID) == nil {
			fmt.Fprintf(&b, "breakpoint %d of the program, %d hits: %s %#x\n", x.ID, x.Hits(), x.Location, x.Addresses)
		}
	}
	for _, x := range p.Watchpoints() {
		if c.breakpointOf(x.ID) == nil {
			fmt.Fprintf(&b, "watchpoint %d of the program, %d hits: %#x, %d bytes\n", x.ID, x.Hits(), x.Address, x.Size)
		}
	}
	for _, n := range c.notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}
