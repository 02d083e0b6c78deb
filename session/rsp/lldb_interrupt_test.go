// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package rsp_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/testprogram"
)

// terminal is a pseudo-terminal with a debugger at its other end.
type terminal struct {
	*transcript
	t      *testing.T
	master *os.File
	seen   int // of the text
}

func atTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
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
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: 200}); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	term := &terminal{transcript: new(transcript), t: t, master: master}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			term.Write(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return term
}

// expect waits for a text behind what was expected before.
func (term *terminal) expect(expression string) {
	term.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		text := term.String()
		if at := regexp.MustCompile(expression).FindStringIndex(text[term.seen:]); at != nil {
			term.seen += at[1]
			return
		}
		if time.Now().After(deadline) {
			term.t.Fatalf("no %q in\n%s", expression, text)
		}
	}
}

func (term *terminal) send(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// ^C and "process interrupt" stop code that loops, and code that lldb itself has
// called; afterwards all goes on.
func TestLLDBInterrupt(t *testing.T) {
	p := launch(t, static, ":0", "-wait", "call spin 1", "call fib 6")
	_, port, _ := strings.Cut(p.address, ":")
	term := atTerminal(t, patiently(t, testprogram.RequireTool(t, "lldb-14"), "--no-lldbinit", "--no-use-colors",
		"-O", "settings set use-color false", "-O", "settings set plugin.jit-loader.gdb.enable on", "-o", "gdb-remote "+port, p.cmd.Path))
	term.expect(`spin\(n=.*target.c`)
	term.send("breakpoint set -n spin\n")
	term.expect("Breakpoint 1: where")
	term.send("continue\n")
	term.expect(`stop reason = breakpoint 1.1`)
	// It would step off the breakpoint first, and ^C be the end of that step.
	term.send("breakpoint delete 1\n")
	term.expect(`1 breakpoints deleted`)
	term.send("continue\n")
	term.expect(`Process \d+ resuming`)
	time.Sleep(200 * time.Millisecond) // what it says comes before it does so
	term.send("\x03")
	term.expect(`stop reason = signal SIGINT`)
	term.send("bt\n")
	term.expect(`frame #0: .*spin\(n=\d+\) at target.c`)
	term.expect(`frame #1: .*session.return`)
	term.send("p n > 1 && add(n, 0) == n\n")
	term.expect(`\(bool\) \$0 = true`)
	term.send("continue\n")
	term.expect(`Process \d+ resuming`)
	time.Sleep(200 * time.Millisecond)
	term.send("process interrupt\n")
	term.expect(`stop reason = signal SIGINT`)
	// A function that lldb calls does not end: it has half a second.
	term.send("expression -t 500000 -- spin(100)\n")
	term.expect("(?i)timed out|interrupted")
	term.send("bt\n")
	term.expect(`frame #0: .*spin\(n=\d+\) at target.c`)
	term.expect(`frame #1: .*session.return`)
	term.send("expression go_on = 0\n")
	term.expect(`= 0`)
	term.send("detach\n")
	term.expect(`Process \d+ detached`)
	p.ends("spin returned 5", "fib returned 8")
}
