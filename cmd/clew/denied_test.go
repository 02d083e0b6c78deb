// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// If a process cannot be read, the message gives the actual reason: it does not say that a live
// process has ended, and does not advise root to become root.
func TestReasonsOfRefusal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can take a right from itself")
	}
	bash, unshare, setpriv := testprogram.RequireTool(t, "bash"), testprogram.RequireTool(t, "unshare"), testprogram.RequireTool(t, "setpriv")
	if out, err := exec.Command(unshare, "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("skipped: no mount namespace: %s", out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sleep := exec.Command(testprogram.RequireTool(t, "sleep"), "1000")
	sleep.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sleep.Process.Kill()
		sleep.Wait()
	})
	pid := strconv.Itoa(sleep.Process.Pid)
	const run = `exec -a clew "$0" "$@"`
	for _, test := range []struct {
		name string
		with []string
		want string
	}{
		{"without /proc", []string{unshare, "-m", bash, "-c", "umount -l /proc && " + run},
			"procfs is not mounted at /proc; mount it (mount -t proc proc /proc): processes are read there"},
		{"with a file system that is not procfs", []string{unshare, "-m", bash, "-c", "mount -t tmpfs tmpfs /proc && " + run},
			"procfs is not mounted at /proc; mount it"},
		{"hidden", []string{unshare, "-m", bash, "-c", "umount -l /proc && mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 1 --regid 1 --clear-groups bash -c '" + run + `' "$0" "$@"`},
			"permission denied: it exists, but /proc does not show it; /proc is mounted with hidepid"},
		{"without CAP_SYS_PTRACE", []string{setpriv, "--inh-caps", "-sys_ptrace", "--bounding-set", "-sys_ptrace", bash, "-c", run},
			"permission denied: it runs as user 65534, and clew as root without CAP_SYS_PTRACE; give clew the capability CAP_SYS_PTRACE, which this root lacks (in a container: --cap-add=SYS_PTRACE)"},
		{"in a user namespace", []string{unshare, "-r", bash, "-c", run},
			"permission denied: clew runs in a user namespace, and the process outside it; run clew outside the namespace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := self
			if test.name == "hidden" { // the test's directory is root's
				dir, err := os.MkdirTemp("", "clew")
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(dir)
				program = filepath.Join(dir, "clew")
				data, err := os.ReadFile(self)
				if err == nil {
					err = os.WriteFile(program, data, 0o755)
				}
				if err == nil {
					err = os.Chmod(dir, 0o755)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command(test.with[0], append(test.with[1:], program, "stack", pid)...).CombinedOutput()
			if strings.Contains(string(out), "unshare failed") || strings.Contains(string(out), "mount: ") {
				t.Skipf("skipped: no namespace of this kind: %s", out)
			}
			if want := "clew stack: process " + pid + ": " + test.want; err == nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("clew prints %q, %v\nexpected %q", out, err, want)
			}
		})
	}
}
