// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package socket

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Listener accepts connections. Its methods may be called from several goroutines.
type Listener struct {
	file    *os.File // registered with the runtime's poller
	address string
	path    string // of a Unix socket, which Close removes
	remote  bool   // Accept does not check the clients' users
	closed  atomic.Bool
}

// Listen opens "unix:PATH", or "HOST:PORT" on the loopback interface. An empty host is 127.0.0.1, and
// port 0 any free port. Accept admits only clients of the process's effective user. The error wraps
// ErrRemote if the address is not a loopback address.
func Listen(address string) (*Listener, error) { return open(address, false) }

// ListenRemote is Listen for any address. If it is not a loopback address, Accept admits every client.
func ListenRemote(address string) (*Listener, error) { return open(address, true) }

func open(address string, remote bool) (*Listener, error) {
	var l *Listener
	a, path, err := parse(address)
	switch ip := a.Addr(); {
	case err != nil:
		return nil, err
	case path != "":
		l, err = listen(unix.AF_UNIX, &unix.SockaddrUnix{Name: path})
	case !ip.IsLoopback() && !remote:
		return nil, fmt.Errorf("%s: %w", address, ErrRemote)
	case ip.Is4():
		l, err = listen(unix.AF_INET, &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()})
	default:
		l, err = listen(unix.AF_INET6, &unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16()})
	}
	if err != nil {
		return nil, fmt.Errorf("listening at %s: %w", address, err)
	}
	l.path, l.remote = path, path == "" && !a.Addr().IsLoopback()
	return l, nil
}

func listen(family int, at unix.Sockaddr) (*Listener, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if family == unix.AF_UNIX {
		// bind makes a file with the mode of the socket (unix_bind_bsd in Linux's net/unix/af_unix.c).
		// A chmod of the path could change another file.
		err = unix.Fchmod(fd, 0o600)
	} else {
		// As in net: connections of the last server may still be closing.
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil {
		err = unix.Bind(fd, at)
	}
	if err == nil {
		err = unix.Listen(fd, 16)
	}
	var bound unix.Sockaddr
	if err == nil {
		bound, err = unix.Getsockname(fd)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	l := &Listener{file: os.NewFile(uintptr(fd), "listener")}
	switch a := bound.(type) {
	case *unix.SockaddrInet4:
		l.address = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrInet6:
		l.address = netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrUnix:
		l.address = a.Name
	}
	return l, nil
}

// Address returns the listener's address: "127.0.0.1:1234", or a path.
func (l *Listener) Address() string { return l.address }

// Remote reports whether clients of all users are admitted.
func (l *Listener) Remote() bool { return l.remote }

// Accept implements Acceptor. After Close the error is os.ErrClosed.
func (l *Listener) Accept() (io.ReadWriteCloser, error) {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = raw.Read(func(listener uintptr) (done bool) {
		fd, _, failed = unix.Accept4(int(listener), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		return failed != unix.EAGAIN && failed != unix.EINTR && failed != unix.ECONNABORTED
	})
	if err != nil {
		if l.closed.Load() {
			err = os.ErrClosed // the poller returns another error
		}
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("accepting at %s: %w", l.address, failed)
	}
	if l.path == "" {
		// Each packet waits for an answer, so delays gain nothing.
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if !l.remote {
		err = admit(fd)
	}
	return os.NewFile(uintptr(fd), "connection"), err
}

// Close ends Accept. Connections remain open.
func (l *Listener) Close() error {
	l.closed.Store(true)
	err := l.file.Close()
	if l.path != "" && err == nil {
		err = os.Remove(l.path)
	}
	return err
}
