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

// wakeRarely is between two looks for a program to run: there are a dozen in all,
// and each look takes from what runs.
const wakeRarely = 100 * time.Millisecond

func main() {
	root := os.Getenv(exchange.Variable)
	if name := filepath.Base(os.Args[0]); name != "init" {
		if root == "" { // called with an environment of its own, as by a testscript
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
			time.Sleep(wakeRarely)
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

// ofProcess1 is a variable of the environment that the kernel gave process 1.
func ofProcess1(name string) string {
	text, _ := os.ReadFile("/proc/1/environ")
	for variable := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// prepare mounts what programs expect to find, sets the clock, and lets them
// connect to themselves.
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
	// All is memory. The module's own files can lie below this.
	if err := errors.Join(os.MkdirAll("/tmp", 0o755), os.Chmod("/tmp", 0o1777)); err != nil {
		return err
	}
	now := unix.NsecToTimeval(hostTime().UnixNano())
	if err := unix.Settimeofday(&now); err != nil {
		return fmt.Errorf("settimeofday: %w", err)
	}
	if err := installBusybox(); err != nil {
		return err
	}
	if err := patchOnce(); err != nil {
		return err
	}
	return loopback()
}

// patchOnce has the kernel switch its hooks for debug registers on for good, by a
// perf event that stays open. The kernel switches them by writing its own code, a
// second after the last event is gone; the emulator (7.2; mended in 8.1) may then
// still run on one processor what it has translated of the code before, so that
// debug registers set there are not, or that the kernel waits for ever.
func patchOnce() error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Bits: unix.PerfBitDisabled}
	attr.Size = uint32(unsafe.Sizeof(attr))
	if _, err := unix.PerfEventOpen(&attr, os.Getpid(), -1, -1, unix.PERF_FLAG_FD_CLOEXEC); err != nil {
		return fmt.Errorf("perf_event_open: %w", err)
	}
	return nil
}

// installBusybox gives busybox the names of the programs that it is.
func installBusybox() error {
	out, err := exec.Command("/bin/busybox", "--list-full").Output()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("busybox: %w", err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		// What a package brings comes before.
		path := "/" + name
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
