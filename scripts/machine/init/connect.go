// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && arm64

package main

import (
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// remote matches lldb's command with a port of 127.0.0.1.
var remote = regexp.MustCompile(`^gdb-remote (\d+)$`)

// portOf returns the port in a debugger's arguments, or 0.
func portOf(args []string) int {
	for _, word := range args {
		if m := remote.FindStringSubmatch(word); m != nil {
			port, _ := strconv.Atoi(m[1])
			return port
		}
	}
	return 0
}

// connect connects the program that the host runs for call X to a port of the machine, when
// it first writes to the port.
func connect(root, x string, port int) error {
	var down *hostFile
	for down == nil {
		var err error
		if down, err = open(exchange.ToMachine(root, x), openRead); err != nil {
			time.Sleep(10 * time.Millisecond) // not yet
		}
	}
	defer down.Close()
	c := &connection{root: root, x: x, port: port}
	defer func() {
		if c.local != nil {
			c.local.Close()
		}
	}()
	return exchange.Receive(c, down, nil)
}

// A connection connects to the port at the first Write.
type connection struct {
	root, x string
	port    int
	local   net.Conn
}

func (c *connection) Write(p []byte) (int, error) {
	if c.local == nil {
		up, err := open(exchange.FromMachine(c.root, c.x), openWrite)
		if err != nil {
			return 0, err
		}
		if c.local, err = net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))); err != nil {
			exchange.Send(up, strings.NewReader("")) // only the end
			return 0, err
		}
		go exchange.Send(up, c.local)
	}
	return c.local.Write(p)
}
