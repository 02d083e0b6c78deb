// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package socket

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Listener accepts connections. Its methods may be called from several goroutines.
type Listener struct {
	file    *os.File // that the runtime's poller knows
	address string
	path    string // of a Unix socket, which Close removes
	closed  atomic.Bool
}

// Listen opens "HOST:PORT", where an empty host is 127.0.0.1 and port 0 any that
// is free, or "unix:PATH", which only this user can connect to.
func Listen(address string) (*Listener, error) {
	var l *Listener
	var err error
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		l, err = listen(unix.AF_UNIX, &unix.SockaddrUnix{Name: path})
		if err == nil {
			l.path = path
		}
	} else {
		var a netip.AddrPort
		if a, err = parse(address); err != nil {
			return nil, err
		}
		if ip := a.Addr(); ip.Is4() {
			l, err = listen(unix.AF_INET, &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()})
		} else {
			l, err = listen(unix.AF_INET6, &unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16()})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("listening at %s: %w", address, err)
	}
	return l, nil
}

func listen(family int, at unix.Sockaddr) (*Listener, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if family != unix.AF_UNIX {
		// As net does: the last server's connections may still be going down.
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	err = errors.Join(err, unix.Bind(fd, at))
	if u, ok := at.(*unix.SockaddrUnix); ok && err == nil {
		err = os.Chmod(u.Name, 0o600) // nobody can connect before it listens
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

// Address is where the listener is: "127.0.0.1:1234", or a path.
func (l *Listener) Address() string { return l.address }

// Accept waits for a connection. After Close the error is os.ErrClosed.
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
			err = os.ErrClosed // the poller has an error of its own
		}
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("accepting at %s: %w", l.address, failed)
	}
	if l.path == "" {
		// Packets are answered one by one: nothing is to be waited for.
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	return os.NewFile(uintptr(fd), "connection"), nil
}

// Close ends Accept. Connections stay.
func (l *Listener) Close() error {
	l.closed.Store(true)
	err := l.file.Close()
	if l.path != "" && err == nil {
		err = os.Remove(l.path)
	}
	return err
}
