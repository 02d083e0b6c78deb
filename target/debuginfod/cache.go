// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/target/modulefile"
)

// entry is the place of a file in the cache: debuginfod_find_debuginfo(3), "CACHE".
type entry struct {
	dir  string // of the cache, "" where there is none
	what modulefile.Kind
	id   []byte
}

func (e *entry) path() string {
	return filepath.Join(e.dir, hex.EncodeToString(e.id), e.what.String())
}

// cached returns the file that the cache has, nil where it knows that there is
// none. A file that is not of the build ID is as good as none.
func (e *entry) cached() (f *os.File, known bool) {
	if e.dir == "" {
		return nil, false
	}
	info, err := os.Stat(e.path())
	switch {
	case err != nil || !info.Mode().IsRegular():
		return nil, false
	case info.Size() == 0:
		// A clock that was set back makes it not older, but no less good.
		return nil, time.Since(info.ModTime()) < e.missed()
	}
	if f, err = os.Open(e.path()); err != nil {
		return nil, false
	}
	o, err := object.OpenFile(f, e.path())
	if err == nil {
		err = o.CheckBuildID(e.path(), e.id)
		o.Close()
	}
	if err != nil {
		f.Close()
		return nil, false
	}
	return f, true
}

// missed returns how long servers are not asked again for what they did not have.
// A file of the cache says so, in seconds.
func (e *entry) missed() time.Duration {
	text, err := os.ReadFile(filepath.Join(e.dir, "cache_miss_s"))
	if n, parseErr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32); err == nil && parseErr == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	return defaultMissed
}

const defaultMissed = 10 * time.Minute

// remember notes that no server has the file, by an empty one. What another client
// has put there meanwhile stays.
func (e *entry) remember() {
	if e.dir == "" || os.MkdirAll(filepath.Dir(e.path()), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(e.path(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		f.Close()
		return
	}
	if info, err := os.Stat(e.path()); err == nil && info.Size() == 0 {
		now := time.Now()
		os.Chtimes(e.path(), now, now)
	}
}

// part is a file while it is fetched.
type part struct {
	entry *entry
	file  *os.File
	kept  bool
}

// create makes the file that is fetched to: in the cache, where it only has to be
// given its name, or where that cannot be written, where temporary files are.
func (e *entry) create() (*part, error) {
	if e.dir != "" {
		dir := filepath.Dir(e.path())
		if err := os.MkdirAll(dir, 0o700); err == nil {
			if f, err := os.CreateTemp(dir, e.what.String()+".*"); err == nil {
				return &part{entry: e, file: f}, nil
			}
		}
	}
	f, err := os.CreateTemp("", "clew-"+e.what.String()+"-*")
	if err != nil {
		return nil, err
	}
	return &part{entry: &entry{}, file: f}, nil
}

// keep gives the file its name, and opens it. One that is not in the cache has none
// any more.
func (p *part) keep() (*os.File, error) {
	name := p.file.Name()
	if p.entry.dir == "" {
		f, err := os.Open(name)
		return f, err // discard takes the name away
	}
	p.file.Chmod(0o400)
	if err := os.Rename(name, p.entry.path()); err != nil {
		return nil, err
	}
	p.kept = true
	return os.Open(p.entry.path())
}

// discard closes the file, and removes it unless it was kept.
func (p *part) discard() {
	p.file.Close()
	if p.kept {
		return
	}
	os.Remove(p.file.Name())
	if p.entry.dir != "" {
		os.Remove(filepath.Dir(p.entry.path())) // where nothing else is in it
	}
}
