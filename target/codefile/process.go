// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package codefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/clewdev/clew/internal/rootfs"
)

// ErrOtherProcess says that a file that should be a process's is another's, which
// has had its ID or has taken its name.
var ErrOtherProcess = errors.New("of another process")

// Process is what is known of a process whose files are looked for.
type Process struct {
	// Root is its root directory as this process sees it, "/" where that is this
	// process's.
	Root string

	// IDs are those that it may have in its own PID namespace, the likeliest first.
	IDs []int

	// Users are those that its files can belong to, beside root: perf takes no file
	// of others either, as in /tmp anybody can make one of any name. Where it is nil
	// all files below Root are taken for the process's, as they are where somebody
	// put them together for that.
	Users []uint32

	// Began is when the process began, zero where that is not known: what was last
	// written before is not its own.
	Began time.Time
}

// Running returns what /proc tells of a process that runs, all but when it began.
func Running(pid int) (*Process, error) {
	proc := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		return nil, err
	}
	p := &Process{Root: proc + "/root"}
	p.read(status)
	if len(p.IDs) == 0 {
		p.IDs = []int{pid} // before Linux 4.1
	}
	return p, nil
}

// read takes in the text of /proc/PID/status (proc_pid_status(5)).
func (p *Process) read(status []byte) {
	p.Users = []uint32{}
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
				if user, err := strconv.ParseUint(string(fields[1]), 10, 32); err == nil {
					p.Users = []uint32{uint32(user)}
				}
			}
		}
	}
}

// Open opens for reading a file that the process has written, by the absolute path
// that it has for the process: a regular file, and its own as far as that can be
// told. The error wraps ErrOtherProcess where it is not.
func (p *Process) Open(path string) (*os.File, error) {
	f, err := rootfs.Open(p.Root, path)
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

// Marker is a mapping by which a process tells perf of a jitdump (perf.IsMarker).
type Marker struct {
	Path  string // as the process sees it
	Inode uint64 // of the file that is mapped, 0 where that is not known

	// Open opens the very file that is mapped, whatever is at its path now. Where it
	// is nil the file is looked for by its path.
	Open func() (*os.File, error)
}

// openMarker opens the jitdump of a marker. That the process has mapped a file
// makes it the process's own, whoever wrote it.
func (p *Process) openMarker(m *Marker) (*os.File, error) {
	if m.Open != nil {
		return m.Open()
	}
	if m.Inode == 0 || p.Users == nil {
		return p.Open(m.Path)
	}
	f, err := rootfs.Open(p.Root, m.Path)
	if err != nil {
		return nil, err
	}
	var info fs.FileInfo
	if info, err = f.Stat(); err == nil {
		if is := rootfs.IdentityOf(info); is != (rootfs.Identity{}) && is.Inode != m.Inode {
			err = fmt.Errorf("%s: it is not the file that was mapped (inode %d, %d expected)", m.Path, is.Inode, m.Inode)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
