// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package testprogram

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A Terminal is a pseudo-terminal with a command at its other end.
type Terminal struct {
	t      testing.TB
	master *os.File
	exited chan struct{}

	mu     sync.Mutex
	output []byte
	seen   int // length of the output that Expect has passed
}

// StartTerminal starts a command with a new terminal as its controlling terminal, and kills it
// at the end of the test. It also returns the modes of the terminal before the command starts.
func StartTerminal(t testing.TB, cmd *exec.Cmd, rows, columns uint16) (*Terminal, unix.Termios) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("skipped: no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
	term := &Terminal{t: t, master: master, exited: make(chan struct{})}
	before := term.Modes()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(term.exited)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-term.exited
	})
	go term.read()
	return term, before
}

// read collects the output to the terminal, until the terminal is closed.
func (term *Terminal) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := term.master.Read(buffer)
		term.mu.Lock()
		term.output = append(term.output, buffer[:n]...)
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Modes returns the modes of the terminal: whether it echoes, and so on.
func (term *Terminal) Modes() unix.Termios {
	term.t.Helper()
	m, err := unix.IoctlGetTermios(int(term.master.Fd()), unix.TCGETS)
	if err != nil {
		term.t.Fatal(err)
	}
	return *m
}

// Resize changes the size of the window.
func (term *Terminal) Resize(rows, columns uint16) {
	term.t.Helper()
	if err := unix.IoctlSetWinsize(int(term.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		term.t.Fatal(err)
	}
}

// Send presses keys.
func (term *Terminal) Send(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// timeout is the time after which a test fails because a command hangs.
const timeout = 2 * time.Minute

// Expect waits for output that matches a regular expression, after the previous match.
func (term *Terminal) Expect(expression string) {
	term.t.Helper()
	e := regexp.MustCompile(expression)
	for end := time.Now().Add(timeout); ; time.Sleep(2 * time.Millisecond) {
		term.mu.Lock()
		at := e.FindIndex(term.output[term.seen:])
		if at != nil {
			term.seen += at[1]
		}
		output := string(term.output)
		term.mu.Unlock()
		if at != nil {
			return
		}
		if time.Now().After(end) {
			term.t.Fatalf("no %q in\n%s", expression, output)
		}
	}
}

// Ended waits for the end of the command.
func (term *Terminal) Ended() {
	term.t.Helper()
	select {
	case <-term.exited:
	case <-time.After(timeout):
		term.t.Fatal("the command does not end")
	}
}
