// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/snapshot/process"
)

// maxNamed bounds the processes that a name may select. A name of more processes is likely a
// mistake.
const maxNamed = 20

// expandNames replaces the names of processes in args by their IDs. It keeps numbers, files, paths,
// and names without a process.
func expandNames(args []string) ([]string, error) {
	var all []string
	for _, arg := range args {
		pids, err := named(arg)
		if err != nil {
			return nil, err
		}
		if len(pids) == 0 {
			all = append(all, arg)
		}
		for _, pid := range pids {
			all = append(all, strconv.Itoa(pid))
		}
	}
	return all, nil
}

// named returns the IDs of the processes that an argument names. It returns none for an argument
// that is not a name.
func named(arg string) ([]int, error) {
	if _, err := strconv.Atoi(arg); err == nil || arg == "" || strings.Contains(arg, "/") {
		return nil, nil
	}
	if _, err := os.Lstat(arg); !os.IsNotExist(err) {
		// A program file has no stacks, so its name selects the processes that run it.
		if content, err := input.ContentOf(arg); err != nil || content != input.ELF && content != input.Script {
			return nil, nil
		}
	}
	pids := process.Named(arg)
	if len(pids) > maxNamed {
		return nil, output.InputErrorf("%d processes are named %s, more than %d; choose by ID: 'pgrep -x %[2]s' lists them", len(pids), arg, maxNamed)
	}
	return pids, nil
}

// completeProcesses returns a completion with the processes that the user may read, by ID and by
// name.
func completeProcesses() cli.ShellCompleteFunc {
	return completing(func([]string) (list []candidate) {
		count := make(map[string]int)
		for pid, name := range process.All() {
			if mayRead(pid) {
				list = append(list, candidate{strconv.Itoa(pid), name})
				count[name]++
			}
		}
		for name, n := range count {
			meaning := "a process"
			if n > 1 {
				meaning = fmt.Sprintf("%d processes", n)
			}
			list = append(list, candidate{name, meaning})
		}
		return list
	})
}

// mayRead reports whether the user is root or owns the process.
func mayRead(pid int) bool {
	if os.Geteuid() == 0 {
		return true
	}
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
