// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/snapshot/process"
)

// tasks returns the IDs of the threads of a process.
func tasks(pid int) (tids []int) {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, entry := range entries {
		if tid, err := strconv.Atoi(entry.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// describe writes the names of the threads and the code mappings of a process, as the kernel
// would have written them when they came to be, and with data also the other mappings of files.
func describe(w *perfdata.Writer, pid int, data bool) error {
	for _, tid := range tasks(pid) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
		if err != nil {
			continue // it has ended
		}
		if err := w.Comm(&perfdata.Comm{PID: int32(pid), TID: int32(tid), Name: bytes.TrimSuffix(name, []byte("\n"))}); err != nil {
			return err
		}
	}
	mappings, err := process.Mappings(pid)
	if err != nil {
		return nil // it has ended
	}
	return describeMappings(w, pid, mappings, data)
}

// describeMappings writes the code mappings of a process, and with data also the other mappings of
// files.
func describeMappings(w *perfdata.Writer, pid int, mappings []snapshot.Mapping, data bool) error {
	for i := range mappings {
		m := &mappings[i]
		if !m.Executable && (!data || m.Path == "" || !m.Readable) {
			continue
		}
		path := m.Path
		switch {
		case path == "":
			path = "//anon"
		case m.Deleted:
			path += " (deleted)"
		}
		if len(path) > unix.PathMax {
			continue
		}
		protection := uint32(0)
		for bit, set := range map[uint32]bool{unix.PROT_EXEC: m.Executable, unix.PROT_READ: m.Readable, unix.PROT_WRITE: m.Writable} {
			if set {
				protection |= bit
			}
		}
		err := w.Mmap(&perfdata.Mmap{
			PID: int32(pid), TID: int32(pid), Start: m.Start, Length: m.End - m.Start, Offset: m.Offset, Path: []byte(path),
			Major: unix.Major(m.Device), Minor: unix.Minor(m.Device), Inode: m.Inode,
			Protection: protection, Flags: unix.MAP_PRIVATE,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// groupDirectory returns the directory of a control group. Path is the directory, or the group's path below the
// mounted root of all, as /proc/PID/cgroup contains it.
func groupDirectory(path string) string {
	var system unix.Statfs_t
	for _, root := range []string{"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/", "/sys/fs/cgroup/perf_event/"} {
		if dir := root + path; unix.Statfs(dir, &system) == nil && isGroup(&system) {
			return dir
		}
	}
	return path
}

// isGroup reports whether a file system is one of control groups.
func isGroup(system *unix.Statfs_t) bool {
	return system.Type == unix.CGROUP2_SUPER_MAGIC || system.Type == unix.CGROUP_SUPER_MAGIC
}

// selected returns the IDs of the processes that the options select at the moment.
func selected(opts *Options) (pids []int, err error) {
	switch {
	case opts.All:
		for pid := range process.All() {
			pids = append(pids, pid)
		}
	case opts.Cgroup != "":
		root := filepath.Clean(opts.Cgroup) + "/" // also if it is a link
		err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				return nil
			}
			var b []byte
			if err == nil {
				b, err = os.ReadFile(filepath.Join(path, "cgroup.procs"))
			}
			if err != nil {
				if path != root {
					return nil // it was removed, or has only threads
				}
				return err
			}
			for _, line := range strings.Fields(string(b)) {
				if pid, err := strconv.Atoi(line); err == nil && pid > 0 {
					pids = append(pids, pid)
				}
			}
			return nil
		})
		if err != nil {
			err = fmt.Errorf("%s: not a directory of a control group: %w", opts.Cgroup, err)
		}
	default:
		pids = opts.Targets
	}
	return pids, err
}
