// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// childVariable is the environment variable with the child's function, which this program runs
// instead of its tests.
const childVariable = "CLEW_SESSION_CHILD"

// children are the functions by name. An error ends the program.
var children = map[string]func() error{"not dumpable": childNotDumpable}

func TestMain(m *testing.M) {
	if f := children[os.Getenv(childVariable)]; f != nil {
		if err := f(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child returns the command that runs one of children.
func child(t testing.TB, name string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	return cmd
}

// A program that has changed its user cannot be traced. The error has a remedy, which works.
func TestNotDumpable(t *testing.T) {
	if out, err := child(t, "not dumpable").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func childNotDumpable() error {
	if os.Getuid() == 0 {
		const unprivileged = 65534 // the user nobody
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(unprivileged), syscall.Setuid(unprivileged)); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if _, err := New(nil); !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "PR_SET_DUMPABLE") {
		return fmt.Errorf("a session of what is not dumpable: %v", err)
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WALL, nil); err != unix.ECHILD {
		return fmt.Errorf("a child is left: %d, %v", pid, err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return err
	}
	s, err := New(nil)
	if err != nil {
		return err
	}
	return s.Close()
}
