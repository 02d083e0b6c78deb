// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/outputfile"
)

// spool is a directory of messages, one in each file. It belongs to one queue at a time.
type spool struct {
	mu    sync.Mutex
	root  *os.Root
	lock  *os.File
	files []spooled // the oldest first
	bytes int64
	limit int64
	next  uint64
}

type spooled struct {
	name string
	size int64
}

const (
	spoolSuffix = ".otlp"
	lockName    = "lock"
	maxSpooled  = 1 << 16 // files
	maxMessage  = 64 << 20
)

// openSpool opens a directory, which only this user may write to, and lists its messages.
func openSpool(path string, limit int64) (_ *spool, err error) {
	s := &spool{limit: limit}
	switch s.root, err = outputfile.Directory(path); {
	case errors.Is(err, outputfile.ErrPlanted):
		return nil, err // which says what to name
	case err != nil:
		return nil, fmt.Errorf("%w; name a directory for --spool", err)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	var st unix.Stat_t
	dir, err := s.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		return nil, err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return nil, fmt.Errorf("%s: other users can write to the directory; name another one for --spool", path)
	}
	if s.lock, err = s.root.OpenFile(lockName, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600); err != nil {
		return nil, fmt.Errorf("%s: no file can be written there: %w; name another directory for --spool", path, err)
	}
	if err := unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("%s: another process uses the directory", path)
	}
	names, err := dir.Readdirnames(maxSpooled)
	if err != nil && err != io.EOF {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		number, _, ok := parseName(name)
		info, err := s.root.Lstat(name)
		if !ok || err != nil || !info.Mode().IsRegular() {
			continue
		}
		s.files = append(s.files, spooled{name, info.Size()})
		s.bytes += info.Size()
		s.next = number + 1
	}
	return s, nil
}

// parseName reads the name of a file: 20 digits, a dash, the signal, and the suffix.
func parseName(name string) (number uint64, s Signal, ok bool) {
	text, found := strings.CutSuffix(name, spoolSuffix)
	digits, kind, dash := strings.Cut(text, "-")
	number, err := strconv.ParseUint(digits, 10, 63)
	for _, s := range []Signal{Profiles, Metrics} {
		if kind == s.String() {
			return number, s, found && dash && len(digits) == 20 && err == nil
		}
	}
	return 0, 0, false
}

// add writes a message. If the spool is full, the oldest ones are dropped.
func (s *spool) add(m message) (dropped int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := int64(len(m.data))
	for len(s.files) > 0 && (s.bytes+size > s.limit || len(s.files) >= maxSpooled/2) {
		s.drop(s.files[0].name)
		dropped++
	}
	if size > s.limit {
		return dropped, fmt.Errorf("a message of %d bytes exceeds the spool's size", size)
	}
	name := fmt.Sprintf("%020d-%s%s", s.next, m.signal, spoolSuffix)
	s.next++
	f, err := s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return dropped, err
	}
	_, err = f.Write(m.data)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil { // the disk is full
		s.root.Remove(name)
		return dropped, err
	}
	s.files = append(s.files, spooled{name, size})
	s.bytes += size
	return dropped, nil
}

// oldest reads the oldest message. Files that cannot be read are removed.
func (s *spool) oldest() (m message, name string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.files) > 0 {
		name := s.files[0].name
		_, signal, _ := parseName(name)
		f, err := s.root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err == nil {
			m.signal = signal
			info, statErr := f.Stat()
			if statErr == nil && info.Mode().IsRegular() && info.Size() <= maxMessage {
				m.data, err = io.ReadAll(io.LimitReader(f, maxMessage))
			}
			f.Close()
		}
		if err == nil && len(m.data) > 0 {
			return m, name, true
		}
		s.drop(name)
	}
	return m, "", false
}

// remove removes a file that was sent.
func (s *spool) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(name)
}

func (s *spool) drop(name string) {
	s.root.Remove(name)
	s.files = slices.DeleteFunc(s.files, func(f spooled) bool {
		if f.name == name {
			s.bytes -= f.size
		}
		return f.name == name
	})
}

func (s *spool) size() (n int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files), s.bytes
}

func (s *spool) close() {
	if s.lock != nil {
		s.lock.Close()
	}
	s.root.Close()
}
