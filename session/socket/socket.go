// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package socket listens for the clients of debug servers, at a Unix socket or by TCP.
// A client of a debug server runs code with the server's rights, so a Listener admits
// only clients of the server's own user, unless it was opened by ListenRemote.
//
// The package does without package net: a program with net is linked dynamically
// wherever there is a C compiler, and clew is one file that runs anywhere. It
// resolves no names but localhost.
package socket

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Acceptor is the source of a server's clients: a Listener, or anything else. A
// net.Listener becomes one by a method Accept that returns its connections as what they
// are here.
type Acceptor interface {
	// Accept waits for a connection. A connection that comes with a *RefusedError is
	// told so and closed; any other error ends the service. After Close the error
	// wraps os.ErrClosed.
	Accept() (io.ReadWriteCloser, error)
	Close() error
}

var (
	// ErrAddress says that an address is neither unix:PATH nor HOST:PORT.
	ErrAddress = errors.New("neither unix:PATH nor HOST:PORT, with an IP address or localhost")
	// ErrRemote says that other machines and users could reach an address.
	ErrRemote = errors.New("not a loopback address: other machines could run code as this user")
)

// RefusedError says why a Listener does not admit a client.
type RefusedError struct {
	User  int   // of the client
	Owner int   // of the server, the one user that is admitted
	Err   error // why the client's user is unknown, or nil
}

func (e *RefusedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("a client was refused: its user is unknown: %v", e.Err)
	}
	return fmt.Sprintf("a client of user %d was refused: only user %d may connect", e.User, e.Owner)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// parse reads unix:PATH or HOST:PORT. An empty host is 127.0.0.1, as is localhost.
func parse(address string) (at netip.AddrPort, path string, err error) {
	wrong := fmt.Errorf("%q: %w", address, ErrAddress)
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		switch {
		case path == "" || strings.Contains(path, "\x00"):
			return at, "", wrong // names that are not in the file system (unix(7))
		case path[0] == '@':
			path = "./" + path // x/sys takes this for such a name too
		}
		return at, path, nil
	}
	host, port, ok := cutLast(address, ':')
	if !ok {
		return at, "", wrong
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if at, err = netip.ParseAddrPort(host + ":" + port); err != nil {
		return at, "", wrong
	}
	return at, "", nil
}

func cutLast(s string, separator byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, separator); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
