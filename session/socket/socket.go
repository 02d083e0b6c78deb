// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package socket listens for the clients of debug servers, at a Unix socket or by TCP.
// A client of a debug server runs code with the server's rights, so a Listener admits
// only clients of the server's own user, unless it was opened by ListenRemote.
//
// The package does not use package net, because a program with net is linked dynamically if there is a
// C compiler, and clew is one file that runs anywhere. It resolves no name except localhost.
package socket

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Acceptor is the source of a server's clients, usually a Listener. A net.Listener needs a wrapper that
// changes the result type of Accept.
type Acceptor interface {
	// Accept waits for a connection. If the error is a *RefusedError, the server sends it to the
	// connection and closes that. Any other error ends the service. After Close the error wraps
	// os.ErrClosed.
	Accept() (io.ReadWriteCloser, error)
	Close() error
}

var (
	// ErrAddress means that an address is neither unix:PATH nor HOST:PORT.
	ErrAddress = errors.New("neither unix:PATH nor HOST:PORT, with an IP address or localhost")
	// ErrRemote means that other machines and users could reach an address.
	ErrRemote = errors.New("not a loopback address: other machines could run code as this user")
)

// RefusedError is the error for a client that a Listener does not admit.
type RefusedError struct {
	User  int   // of the client
	Owner int   // of the server, the only user that is admitted
	Err   error // the reason why the client's user is unknown, or nil
}

func (e *RefusedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("a client was refused: its user is unknown: %v", e.Err)
	}
	return fmt.Sprintf("a client of user %d was refused: only user %d may connect", e.User, e.Owner)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// parse parses unix:PATH or HOST:PORT. An empty host is 127.0.0.1, as is localhost.
func parse(address string) (at netip.AddrPort, path string, err error) {
	invalid := fmt.Errorf("%q: %w", address, ErrAddress)
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		switch {
		case path == "" || strings.Contains(path, "\x00"):
			return at, "", invalid // an abstract address is not in the file system (unix(7))
		case path[0] == '@':
			path = "./" + path // x/sys treats "@" as the start of an abstract address
		}
		return at, path, nil
	}
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 {
		return at, "", invalid
	}
	host := address[:colon]
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if at, err = netip.ParseAddrPort(host + address[colon:]); err != nil {
		return at, "", invalid
	}
	return at, "", nil
}
