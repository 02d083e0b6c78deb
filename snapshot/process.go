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
var ErrOtherProcess = errors.New("of another process")

// Process describes a process whose files are looked for.
type Process struct {
	// Root is the path of its root directory for this process: "/" if both have the
	// same.
	Root string

	// IDs are its possible IDs in its own PID namespace, the likeliest first.
	IDs []int

	// Users are the possible owners of its files, besides root. Files of others are
	// refused, as perf does, because anybody can create a file of any name in /tmp. If
	// Users is nil, all files below Root are taken for files of the process, as in a
	// directory that somebody prepared for this purpose.
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
}

// OpenSource opens a source file that debugging information names, by its absolute path: a
// regular file, which the process's user may read where this process is root. Of a process
// that is not known, p is nil.
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

// RunningProcess returns the facts that /proc has about a running process, except
// Began.
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

// read takes in the text of /proc/PID/status (proc_pid_status(5)).
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

// leastID sets the ID whose rights are the least of a line's: a process that is or was
// root in part could have been led to name a file by the user it acts for. It returns 1
// where there was one.
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
		open = untrusted.Open // nobody else could have put a link there
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

// owns returns an error where a file cannot be the process's.
func (p *Process) owns(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && p.Users != nil && st.Uid != 0 && !slices.Contains(p.Users, st.Uid) {
		return fmt.Errorf("%w: it is of user %d, expected %s", ErrOtherProcess, st.Uid, p.users())
	}
	// File systems round the time, and the process's is no exact one.
	if written := info.ModTime(); !p.Began.IsZero() && written.Before(p.Began.Add(-time.Second)) {
		return fmt.Errorf("%w: it was last written at %s, and the process began at %s", ErrOtherProcess,
			written.Format(time.DateTime), p.Began.Format(time.DateTime))
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
