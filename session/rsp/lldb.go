// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
)

// queryLLDB answers packets of lldb (lldb's docs/lldb-gdb-remote.txt).
func (c *client) queryLLDB(name, arguments string) string {
	if number, ok := strings.CutPrefix(name, "qRegisterInfo"); ok {
		s := scanner{text: number}
		n := s.number()
		if !s.end() || n >= uint64(len(c.server.registers.list)) {
			return "E45" // the end of the list
		}
		return c.server.registers.list[n].info()
	}
	if strings.HasPrefix(name, "qThreadStopInfo") { // qThreadStopInfoTID
		return c.status()
	}
	switch name {
	case "QThreadSuffixSupported":
		c.lldb, c.suffix = true, true
		return "OK"
	case "QListThreadsInStopReply":
		c.lldb = true
		return "OK"
	case "QSaveRegisterState":
		return c.saveRegisters()
	case "QRestoreRegisterState":
		return c.restoreRegisters(arguments)
	case "qHostInfo":
		c.lldb = true
		// On all machines a session stops after the instruction that accesses watched memory.
		return fmt.Sprintf("triple:%s;ptrsize:8;endian:little;hostname:%s;watchpoint_exceptions_received:after;", hexString(triple()), hexString("clew"))
	case "qProcessInfo":
		return fmt.Sprintf("pid:%x;parent-pid:%x;real-uid:%x;real-gid:%x;effective-uid:%x;effective-gid:%x;triple:%s;ostype:linux;endian:little;ptrsize:8;",
			c.pid, os.Getpid(), os.Getuid(), os.Getgid(), os.Geteuid(), os.Getegid(), hexString(triple()))
	case "qProcessInfoPID":
		path, err := os.Readlink("/proc/self/exe")
		if err != nil {
			return failed(err)
		}
		return fmt.Sprintf("pid:%x;ppid:%x;name:%s;triple:%s;", c.pid, os.Getpid(), hexString(path), hexString(triple()))
	case "qWatchpointSupportInfo":
		return "num:4;"
	case "qMemoryRegionInfo":
		return memoryRegion(arguments)
	case "jThreadsInfo":
		return c.threadsInfo()
	}
	return ""
}

func triple() string {
	name := "unknown"
	if host := jit.Host(); host != nil {
		name, _, _ = strings.Cut(host.Uname, " ")
	}
	return name + "-unknown-linux-gnu"
}

// info describes a register for lldb without a target description.
func (x *register) info() string {
	var b strings.Builder
	encoding, format := x.display()
	fmt.Fprintf(&b, "name:%s;bitsize:%d;offset:%d;encoding:%s;format:%s;set:%s;", x.name, 8*x.size, x.offset, encoding, format, registerGroups[x.group].lldb)
	if x.column >= 0 {
		fmt.Fprintf(&b, "ehframe:%d;dwarf:%d;", x.column, x.column)
	}
	if x.generic != "" {
		fmt.Fprintf(&b, "generic:%s;", x.generic)
	}
	if x.alias != "" {
		fmt.Fprintf(&b, "alt-name:%s;", x.alias)
	}
	return b.String()
}

// memoryRegion describes the mapping at an address, or the unmapped range there.
func memoryRegion(arguments string) string {
	s := scanner{text: arguments}
	address := s.number()
	if !s.end() {
		return invalidPacket
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return failed(err)
	}
	m, ok := findMapping(maps, address)
	if !ok {
		end := m.start
		if end == 0 {
			end = 1<<64 - 1
		}
		return fmt.Sprintf("start:%x;size:%x;", address, end-address)
	}
	permissions := strings.ReplaceAll(strings.TrimRight(m.permissions, "ps"), "-", "")
	reply := fmt.Sprintf("start:%x;size:%x;permissions:%s;", m.start, m.end-m.start, permissions)
	if m.path != "" {
		reply += "name:" + hexString(m.path) + ";"
	}
	return reply
}

// threadsInfo describes the worker's thread and the reason of its stop in JSON.
func (c *client) threadsInfo() string {
	if c.at.stop.Reason == session.AtWatchpoint {
		return "" // lldb then reads the stop reply
	}
	type thread struct {
		TID       int               `json:"tid"`
		Name      string            `json:"name"`
		Reason    string            `json:"reason"`
		Signal    int               `json:"signal,omitempty"`
		Registers map[string]string `json:"registers"`
	}
	t := thread{TID: c.pid, Name: threadName, Registers: make(map[string]string)}
	status := c.status()
	if len(status) > 3 && status[0] == 'T' {
		s := scanner{text: status[1:3]}
		t.Signal = int(s.number())
	}
	_, reason, _ := strings.Cut(status, ";reason:")
	t.Reason, _, _ = strings.Cut(reason, ";")
	for n, value := range c.frameRegisters() {
		t.Registers[fmt.Sprint(n)] = value
	}
	b, err := json.Marshal([]thread{t})
	if err != nil {
		return ""
	}
	return string(b)
}
