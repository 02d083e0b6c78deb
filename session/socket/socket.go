// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package socket listens for the clients of debug servers, by TCP or at a Unix
// socket, without package net: a program with net is linked dynamically wherever
// there is a C compiler, and clew is to be one file that runs anywhere. It knows
// addresses, and no names but localhost.
package socket

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Acceptor is where clients come from: a Listener, or anything else. After Close,
// Accept returns an error that wraps os.ErrClosed. A net.Listener becomes one by a
// method Accept that returns its connections as what they are here.
type Acceptor interface {
	Accept() (io.ReadWriteCloser, error)
	Close() error
}

// ErrAddress says that an address is neither HOST:PORT nor unix:PATH.
var ErrAddress = errors.New("neither HOST:PORT, with an IP address or localhost, nor unix:PATH")

// parse reads HOST:PORT. An empty host is 127.0.0.1, as is localhost.
func parse(address string) (netip.AddrPort, error) {
	host, port, ok := cutLast(address, ':')
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("%q: %w", address, ErrAddress)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	a, err := netip.ParseAddrPort(host + ":" + port)
	if err != nil {
		return a, fmt.Errorf("%q: %w", address, ErrAddress)
	}
	return a, nil
}

func cutLast(s string, separator byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, separator); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
