// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// wakeups wait for the kernel's buffers: an epoll instance, for which Go's own epoll instance waits. A thread
// that waits in a system call of its own costs more than all the looks: Go's scheduler checks it every 20 µs at
// first.
type wakeups struct {
	file   *os.File
	conn   syscall.RawConn
	events []unix.EpollEvent
}

func newWakeups(rings []*ring) (_ *wakeups, err error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err = unix.SetNonblock(fd, true); err != nil { // os.NewFile asks for it
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	w := &wakeups{file: os.NewFile(uintptr(fd), "epoll"), events: make([]unix.EpollEvent, len(rings))}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	for _, r := range rings {
		if r == nil {
			continue
		}
		// Once the thread of an event has ended, its file always polls as ended. A new edge is still a
		// wake-up by another event with the same buffer.
		e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
		if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, r.fd, &e); err != nil {
			return nil, os.NewSyscallError("epoll_ctl", err)
		}
	}
	w.conn, err = w.file.SyscallConn()
	return w, err
}

// wait waits for a buffer to be half full, at most for a time.
func (w *wakeups) wait(most time.Duration) error {
	if err := w.file.SetReadDeadline(time.Now().Add(most)); err != nil {
		return err
	}
	var failed error
	err := w.conn.Read(func(fd uintptr) bool {
		n, err := unix.EpollWait(int(fd), w.events, 0)
		if err != nil && err != unix.EINTR {
			failed = os.NewSyscallError("epoll_wait", err)
		}
		return n > 0 || failed != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return errors.Join(err, failed)
}

func (w *wakeups) close() error { return w.file.Close() }
