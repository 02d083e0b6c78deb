// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
)

// ErrOtherProcess says that a file belongs to a different process, which had the same
// process ID earlier or took the file's name.
var ErrOtherProcess = errors.New("file of another process")

// Process describes a process whose files are opened: the files that it has written, and the
// source files of its program.
type Process struct {
	// Root is the path to its root directory: "/" if it has the same root directory as this
	// process.
	Root string

	// IDs are its possible IDs in its own PID namespace, the likeliest first.
	IDs []int

	// Users are the possible owners of its files, besides root. Files of others are
	// refused, as perf does, because anybody can create a file of any name in /tmp. If
	// Users is nil, files of all owners below Root are accepted, as in a directory that was
	// prepared for this purpose.
	Users []uint32

	// ReadAs is the user with whose rights source files are read if this process is
	// root, because the target's debugging information names these files. If it is nil,
	// only files that everybody may read are read.
	ReadAs *debugfile.User

	// SourceRoot is the root directory in which source files are looked up, "" for this
	// process's root directory.
	SourceRoot string

	// Began is the start time of the process, zero if unknown. A file that was last
	// written earlier is not its own.
	Began time.Time

	// Ended is when the process ended, zero if it runs or if that is unknown. A file that was
	// written later is that of another process with the same ID.
	Ended time.Time
}

// OpenSource opens a source file that debugging information names, by its absolute path. It
// must be a regular file. If this process is root, the user ReadAs must have the right to
// read it. p may be nil for an unknown process.
func (p *Process) OpenSource(path string) (*os.File, error) {
	user, root := untrusted.Nobody, ""
	if p != nil {
		root = p.SourceRoot
		if p.ReadAs != nil {
			user = untrusted.User(*p.ReadAs)
		}
	}
	return untrusted.OpenAs(user, root, path)
}

// RunningProcess describes a running process by /proc, except for Began.
func RunningProcess(pid int) (*Process, error) {
	proc := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		return nil, err
	}
	p := &Process{Root: proc + "/root", SourceRoot: proc + "/root"}
	p.read(status)
	if len(p.IDs) == 0 {
		p.IDs = []int{pid} // before Linux 4.1
	}
	return p, nil
}

// read sets the fields that the text of /proc/PID/status contains (proc_pid_status(5)).
func (p *Process) read(status []byte) {
	p.Users = []uint32{}
	var user debugfile.User
	known := 0
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte{':'})
		fields := bytes.Fields(value)
		switch string(name) {
		case "NSpid": // from this process's namespace to the innermost
			if n := len(fields); n > 0 {
				if id, err := strconv.Atoi(string(fields[n-1])); err == nil {
					p.IDs = []int{id}
				}
			}
		case "Uid": // real, effective, saved, of the file system
			if len(fields) > 1 {
				if id, err := strconv.ParseUint(string(fields[1]), 10, 32); err == nil {
					p.Users = []uint32{uint32(id)}
				}
			}
			known += leastID(&user.ID, fields)
		case "Gid":
			known += leastID(&user.Group, fields)
		case "Groups":
			for _, field := range fields {
				if group, err := strconv.ParseUint(string(field), 10, 32); err == nil {
					user.Groups = append(user.Groups, uint32(group))
				}
			}
		}
	}
	if known == 2 {
		p.ReadAs = &user
	}
}

// leastID sets the ID with the fewest rights in a line: a process that is partly root can act
// for another user, and that user could make it name a file. It returns 1 if the line has IDs.
func leastID(to *uint32, fields [][]byte) (known int) {
	for _, field := range fields {
		id, err := strconv.ParseUint(string(field), 10, 32)
		if err != nil {
			return 0
		}
		if known == 0 || *to == 0 {
			*to = uint32(id)
		}
		known = 1
	}
	return known
}

// Open opens a file that the process has written for reading. Path is the absolute path
// that the process uses. The file must be a regular file. The error wraps
// ErrOtherProcess if the file belongs to another process, as far as can be determined.
// If this process is root, Open refuses links, because another user could have planted
// them.
func (p *Process) Open(path string) (*os.File, error) {
	open := untrusted.OpenPlanted
	if p.Users == nil {
		open = untrusted.Open // no other user can have planted a link
	}
	f, err := open(p.Root, path)
	if err != nil {
		return nil, err
	}
	if err := p.owns(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// owns returns an error if a file cannot be the process's own.
func (p *Process) owns(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && p.Users != nil && st.Uid != 0 && !slices.Contains(p.Users, st.Uid) {
		return fmt.Errorf("%w: it belongs to user %d, expected %s", ErrOtherProcess, st.Uid, p.users())
	}
	// File systems round the time, and Began and Ended are not exact.
	written := info.ModTime()
	if !p.Began.IsZero() && written.Before(p.Began.Add(-time.Second)) {
		return fmt.Errorf("%w: it was last written at %s, and the process began at %s", ErrOtherProcess,
			written.Format(time.DateTime), p.Began.Format(time.DateTime))
	}
	if !p.Ended.IsZero() && written.After(p.Ended.Add(time.Second)) {
		return fmt.Errorf("%w: it was last written at %s, and the process ended at %s", ErrOtherProcess,
			written.Format(time.DateTime), p.Ended.Format(time.DateTime))
	}
	return nil
}

func (p *Process) users() string {
	text := ""
	for _, user := range p.Users {
		if user != 0 {
			text += strconv.FormatUint(uint64(user), 10) + " or "
		}
	}
	return text + "root"
}
