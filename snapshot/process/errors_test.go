// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestExplain(t *testing.T) {
	user := func(uid uint32) *status { return &status{UID: [4]uint32{uid, uid, uid, uid}} }
	root := &status{Effective: 1 << capSysPtrace, Permitted: 1 << capSysPtrace}
	withCapability := user(1000)
	withCapability.Permitted = 1 << 10
	for _, test := range []struct {
		name   string
		access access
		reason string
		advice string
	}{
		{"other user", access{self: user(1000), target: user(1001), dumpable: true, scope: 0}, "it runs as user 1001, clew as user 1000", "user 1001 or as root"},
		{"root's", access{self: user(1000), target: user(0), dumpable: true, scope: -1}, "it runs as user 0, clew as user 1000", "as root"},
		{"not dumpable", access{self: user(1000), target: user(1000), dumpable: false, scope: 0}, "not dumpable", "as root"},
		{"capabilities", access{self: user(1000), target: withCapability, dumpable: true, scope: 0}, "capabilities that clew lacks (0x400)", "as root"},
		{"Yama 1", access{self: user(1000), target: user(1000), dumpable: true, scope: 1}, "ptrace_scope is 1", "clew stack -- COMMAND"},
		{"Yama 2", access{self: user(1000), target: user(1000), dumpable: true, scope: 2}, "ptrace_scope is 2", "CAP_SYS_PTRACE"},
		{"Yama 3", access{self: root, target: user(1000), dumpable: true, scope: 3}, "ptrace_scope is 3", "reboot"},
		{"root denied", access{self: root, target: user(0), dumpable: true, scope: -1}, "CAP_SYS_PTRACE does not suffice", "user namespace"},
		{"root without the capability, other user", access{self: user(0), target: user(1000), dumpable: true, scope: 1}, "clew as root without CAP_SYS_PTRACE", "--cap-add=SYS_PTRACE"},
		{"root without the capability, not dumpable", access{self: user(0), target: user(0), dumpable: false, scope: 1}, "not dumpable", "give clew the capability CAP_SYS_PTRACE"},
		{"root without the capability, Yama", access{self: user(0), target: user(0), dumpable: true, scope: 1}, "ptrace_scope is 1", "give clew the capability CAP_SYS_PTRACE"},
		{"seccomp", access{self: root, target: user(0), dumpable: true, scope: 3, filtered: true}, "a seccomp filter denies ptrace", "seccomp profile"},
		{"user namespace", access{self: root, target: user(0), dumpable: true, scope: 1, outside: true}, "clew runs in a user namespace", "outside the namespace"},
		{"no visible cause", access{self: user(1000), target: user(1000), dumpable: true, scope: -1}, "security module", "SYS_PTRACE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			reason, advice := test.access.explain()
			if !strings.Contains(reason, test.reason) || !strings.Contains(advice, test.advice) {
				t.Errorf("%q; %q", reason, advice)
			}
		})
	}
}

// Only certain errors are those of filters. EIO or EFAULT come from a kernel that checks the
// arguments first.
func TestFilters(t *testing.T) {
	for errno, want := range map[unix.Errno]bool{0: false, unix.ESRCH: false, unix.EIO: false, unix.EFAULT: false, unix.EINVAL: false,
		unix.EPERM: true, unix.EACCES: true, unix.ENOSYS: true} {
		if filters(errno) != want {
			t.Errorf("%v: %t, expected %t", errno, !want, want)
		}
	}
}

func TestSnapshotErrors(t *testing.T) {
	ended := exec.Command(self(t), "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	c := start(t, build(t, "threads"), "1")
	tids, err := listThreads(c.pid, nil)
	if err != nil || len(tids) != 2 {
		t.Fatal(tids, err)
	}
	zombie := exec.Command(self(t), "-test.run=^$")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	// The first thread can end before the others.
	eventually(t, "the child ends", func() bool {
		ids, err := listThreads(zombie.Process.Pid, nil)
		return err == nil && len(ids) == 1 && threadState(ids[0], ids[0]) == 'Z'
	})

	for _, test := range []struct {
		name string
		pid  int
		kind error
		text string
	}{
		{"self", os.Getpid(), ErrSelf, "runtime.Stack"},
		{"zero", 0, ErrNoProcess, "process 0: no such process"},
		{"negative", -1, ErrNoProcess, "process -1: no such process"},
		{"ended", ended.Process.Pid, ErrNoProcess, "no such process"},
		{"zombie", zombie.Process.Pid, ErrNoProcess, "it has exited"},
		{"thread", tids[1], ErrNoProcess, "it is a thread of process " + strconv.Itoa(c.pid)},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Snapshot(test.pid, nil)
			var e *Error
			if s != nil || !errors.Is(err, test.kind) || !errors.As(err, &e) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("snapshot %v, error %v, expected %v, %q", s, err, test.kind, test.text)
			}
		})
	}
	if _, err := Snapshot(c.pid, &Options{Threads: []int{1 << 22}}); !errors.Is(err, ErrNoThread) {
		t.Errorf("unknown thread: %v", err)
	}
	other := start(t, build(t, "threads"), "1")
	if _, err := Snapshot(c.pid, &Options{Threads: []int{other.pid}}); !errors.Is(err, ErrNoThread) {
		t.Errorf("a thread of another process, of %d: %v", c.pid, err)
	}
	s, err := Snapshot(c.pid, &Options{Threads: tids[1:]})
	if err != nil || len(s.Threads) != 1 || s.Threads[0].ID != tids[1] {
		t.Errorf("one thread: %v, %v", s, err)
	}
}

func TestKernelThread(t *testing.T) {
	const kthreadd = 2
	if readLine("/proc/2/comm") != "kthreadd" {
		t.Skip("skipped: kernel threads are not visible")
	}
	_, err := Snapshot(kthreadd, nil)
	if !errors.Is(err, ErrKernelThread) || !strings.Contains(err.Error(), "kthreadd") {
		t.Error(err)
	}
}

func TestAlreadyTraced(t *testing.T) {
	c := start(t, build(t, "threads"), "1")
	tracer := startCommand(t, asRole(self(t), "trace", strconv.Itoa(c.pid)))
	_, err := Snapshot(c.pid, nil)
	if !errors.Is(err, ErrTraced) || !strings.Contains(err.Error(), "process "+strconv.Itoa(tracer.pid)) {
		t.Error(err)
	}
	// The tracer attached to a thread after the check.
	if err := explainSeize(c.pid, c.pid, unix.EPERM); !errors.Is(err, ErrTraced) || !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// The kernel denies access for another user: to a process of the same user that is not
// dumpable, and to a process of root.
func TestPermission(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can become another user")
	}
	const nobody = 65534
	// The user nobody must be able to read the programs, and cannot read the test's
	// directories.
	directory, err := os.MkdirTemp("", "clew")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(directory)
	if err := os.Chmod(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	test, odd := filepath.Join(directory, "test"), filepath.Join(directory, "odd")
	copyFile(t, test, self(t))
	copyFile(t, odd, build(t, "odd"))
	asNobody := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Dir = "/"
		return cmd
	}
	hidden := startCommand(t, asNobody(exec.Command(odd, "hidden")))
	roots := start(t, odd)
	for _, test2 := range []struct {
		name string
		pid  int
		text string
	}{
		{"not dumpable", hidden.pid, "not dumpable"},
		{"root's", roots.pid, "it runs as user 0, clew as user 65534; run clew as user 0 or as root"},
	} {
		t.Run(test2.name, func(t *testing.T) {
			c := startCommand(t, asNobody(asRole(test, "error", strconv.Itoa(test2.pid))))
			permission, text := c.line(), c.line()
			if permission != "true" || !strings.Contains(text, test2.text) {
				t.Errorf("permission %s, %q, expected %q", permission, text, test2.text)
			}
		})
	}
	// Root has access to both.
	for _, c := range []*child{hidden, roots} {
		if _, err := Snapshot(c.pid, nil); err != nil {
			t.Error(err)
		}
	}
}

func copyFile(t testing.TB, to, from string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
