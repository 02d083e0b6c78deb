// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/clewdev/clew/session/internal/worker"
)

// explain adds the reason and a remedy to the error of a refused system call.
func explain(err error) error {
	var refused *worker.PermissionError
	if !errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w: %w: %s", ErrPermission, refused, refusal(refused, os.ReadFile))
}

// refusal returns the reason and a remedy.
func refusal(refused *worker.PermissionError, readFile func(string) ([]byte, error)) string {
	status := field(readFile, "/proc/thread-self/status")
	if refused.Call == "clone" {
		if status["Seccomp"] == "2" && !errors.Is(refused, syscall.EAGAIN) { // EAGAIN is from limits: clone(2)
			return "a seccomp filter forbids to clone a process with shared memory; allow clone3 or clone with CLONE_VM in it"
		}
		return "no process can be made; look at the limits of processes (ulimit -u, pids.max)"
	}
	scope, err := readFile("/proc/sys/kernel/yama/ptrace_scope")
	if err == nil {
		switch strings.TrimSpace(string(scope)) {
		case "3":
			return "kernel.yama.ptrace_scope is 3, which forbids tracing until the next boot with another value"
		case "2":
			return "kernel.yama.ptrace_scope is 2, which allows tracing only with CAP_SYS_PTRACE: give the program that capability, or set the value to 1 or 0"
		}
	}
	switch {
	case status["Seccomp"] == "2":
		return "a seccomp filter forbids ptrace; allow it (in a container: --cap-add=SYS_PTRACE, or a seccomp profile with ptrace)"
	case !dumpable():
		return "this program is not dumpable (it was made so by prctl, or it runs with another user's rights); call prctl(PR_SET_DUMPABLE, 1) first, or give it CAP_SYS_PTRACE"
	}
	return "this system does not implement ptrace, as some sandboxes do not; run the program where PTRACE_SEIZE works"
}

// field reads a file of lines "name:\tvalue".
func field(readFile func(string) ([]byte, error), path string) map[string]string {
	text, _ := readFile(path)
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	return fields
}
