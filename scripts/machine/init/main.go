// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && arm64

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// pollInterval is the time between two looks for a program to run. There are only a dozen
// programs, and each look slows down the running one.
const pollInterval = 100 * time.Millisecond

func main() {
	root := os.Getenv(exchange.Variable)
	if name := filepath.Base(os.Args[0]); name != "init" {
		if root == "" { // the caller replaced the environment, as testscripts do
			root = ofProcess1(exchange.Variable)
		}
		os.Exit(runTool(root, name))
	}
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "init: not process 1")
		os.Exit(1)
	}
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
		exitHost(1)
	}
	go reap()
	for n := 1; ; {
		text, err := readHost(exchange.RunCall(root, n))
		if errors.Is(err, fs.ErrNotExist) {
			time.Sleep(pollInterval)
			continue
		}
		go func(n int) {
			result := exchange.Result{}
			if err == nil {
				result.Status, err = run(root, n, text)
			}
			if err != nil {
				result.Error = err.Error()
			}
			text, _ := json.Marshal(result)
			if err := writeHost(exchange.RunStatus(root, n), text); err != nil {
				fmt.Fprintln(os.Stderr, "init:", err)
			}
		}(n)
		n++
	}
}

// ofProcess1 returns an environment variable of process 1.
func ofProcess1(name string) string {
	text, _ := os.ReadFile("/proc/1/environ")
	for variable := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// prepare mounts the usual file systems, sets the clock, and enables the loopback interface.
func prepare() error {
	for _, m := range []struct{ source, target, kind string }{
		{"proc", "/proc", "proc"},
		{"sysfs", "/sys", "sysfs"},
		{"devtmpfs", "/dev", "devtmpfs"},
		{"tmpfs", "/dev/shm", "tmpfs"},
		{"devpts", "/dev/pts", "devpts"},
	} {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.source, m.target, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	// Everything is in memory. The module may lie below /tmp.
	if err := errors.Join(os.MkdirAll("/tmp", 0o755), os.Chmod("/tmp", 0o1777)); err != nil {
		return err
	}
	now := unix.NsecToTimeval(hostTime().UnixNano())
	if err := unix.Settimeofday(&now); err != nil {
		return fmt.Errorf("settimeofday: %w", err)
	}
	return errors.Join(installBusybox(), patchOnce(), loopback())
}

// patchOnce makes the kernel enable its hooks for debug registers permanently, by a perf event
// that stays open. The kernel disables them a second after the last event is closed, by
// changing its own code. Then the emulator (7.2; fixed in 8.1) may still run its translation
// of the old code on one processor, so that debug registers are not set, or the kernel hangs.
func patchOnce() error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Bits: unix.PerfBitDisabled}
	attr.Size = uint32(unsafe.Sizeof(attr))
	if _, err := unix.PerfEventOpen(&attr, os.Getpid(), -1, -1, unix.PERF_FLAG_FD_CLOEXEC); err != nil {
		return fmt.Errorf("perf_event_open: %w", err)
	}
	return nil
}

// installBusybox makes links to busybox for all its programs.
func installBusybox() error {
	out, err := exec.Command("/bin/busybox", "--list-full").Output()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("busybox: %w", err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		path := "/" + name // unless a package contains it
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("/bin/busybox", path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(s)
	flags, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	flags.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, flags); err != nil {
		return fmt.Errorf("lo: %w", err)
	}
	return nil
}
