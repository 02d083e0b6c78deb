// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// entry is the place of a file in the cache: debuginfod_find_debuginfo(3), "CACHE".
type entry struct {
	dir  string // of the cache, "" without a cache
	what debugfile.Kind
	id   []byte
}

func (e *entry) path() string {
	return filepath.Join(e.dir, hex.EncodeToString(e.id), e.what.String())
}

// cached returns the cached file, or nil if the cache records that no server has it. A
// file with another build ID counts as missing.
func (e *entry) cached() (f *os.File, known bool) {
	if e.dir == "" {
		return nil, false
	}
	f, err := untrusted.Open("", e.path())
	if err != nil {
		return nil, false
	}
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		f.Close()
		// If the clock was set back, the file is still valid.
		return nil, time.Since(info.ModTime()) < e.missed()
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

// missed returns how long servers are not asked again for a file that they did not have.
// A file in the cache sets it, in seconds.
func (e *entry) missed() time.Duration {
	text, err := untrusted.ReadFile("", filepath.Join(e.dir, "cache_miss_s"), 1<<10)
	if n, parseErr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32); err == nil && parseErr == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	return defaultMissed
}

const defaultMissed = 10 * time.Minute

// remember records that no server has the file, by an empty file. A file that another
// client stored meanwhile stays.
func (e *entry) remember() {
	if !e.makeDirectory() {
		return
	}
	f, err := os.OpenFile(e.path(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		f.Close()
		return
	}
	if info, err := untrusted.Stat("", e.path()); err == nil && info.Size() == 0 {
		now := time.Now()
		os.Chtimes(e.path(), now, now)
	}
}

// makeDirectory makes the directory of the entry, and reports whether it may be written
// to. Root writes to no other user's cache, as under sudo: a link there could lead
// anywhere, and its owner could not remove the files.
func (e *entry) makeDirectory() bool {
	if e.dir == "" {
		return false
	}
	if os.Geteuid() == 0 {
		at := e.dir
		info, err := untrusted.Stat("", at)
		for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at {
			at = filepath.Dir(at)
			info, err = untrusted.Stat("", at)
		}
		if err != nil || untrusted.OwnerOf(info).ID != 0 {
			return false
		}
	}
	return os.MkdirAll(filepath.Dir(e.path()), 0o700) == nil
}

// part is a file that is being fetched.
type part struct {
	entry  *entry
	file   *os.File
	cached *outputfile.File // the same file in the cache, nil for a temporary one
	kept   bool
}

// create makes the file to fetch to: in the cache, or, if that is not writable, in the
// directory for temporary files.
func (e *entry) create() (*part, error) {
	if e.makeDirectory() {
		if f, err := outputfile.Create(e.path()); err == nil {
			return &part{entry: e, file: f.File, cached: f}, nil
		}
	}
	f, err := outputfile.Temporary("")
	if err != nil {
		return nil, err
	}
	return &part{entry: e, file: f}, nil
}

// keep names the file in the cache and returns it, positioned at its beginning.
func (p *part) keep() (*os.File, error) {
	if p.cached != nil {
		// After Commit, which keeps the mode of the empty file that it replaces.
		if err := errors.Join(p.cached.Commit(), p.cached.Chmod(0o400)); err != nil {
			return nil, err
		}
		p.cached.Detach()
	}
	p.kept = true
	_, err := p.file.Seek(0, io.SeekStart)
	return p.file, err
}

// discard removes the file unless it was kept.
func (p *part) discard() {
	switch {
	case p.kept:
	case p.cached == nil:
		p.file.Close()
	default:
		p.cached.Close()
		os.Remove(filepath.Dir(p.entry.path())) // if it is empty
	}
}
