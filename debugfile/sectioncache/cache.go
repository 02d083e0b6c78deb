// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package sectioncache

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/filemap"
	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

// Cache is a directory with decompressed sections. Processes may share it. It is safe
// for concurrent use.
type Cache struct {
	dir   string
	limit int64
}

var _ object.SectionCache = (*Cache)(nil)

const (
	// DefaultLimit is the limit of the [Default] cache, in bytes.
	DefaultLimit = 512 << 20

	// usedEvery is the precision of the times of use.
	usedEvery = 24 * time.Hour

	// forgotten is the age at which a link to a section is removed.
	forgotten = 30 * 24 * time.Hour

	// abandoned is the age at which a temporary file counts as abandoned.
	abandoned = time.Hour
)

// New returns the cache in a directory, which is created at the first write. It keeps
// at most limit bytes.
func New(dir string, limit int64) *Cache { return &Cache{dir, limit} }

// Default returns the user's cache: $XDG_CACHE_HOME/clew/sections, or
// ~/.cache/clew/sections. It returns nil if there is neither, or if the directory belongs
// to another user, as under sudo: its owner could not remove the files.
func Default() *Cache {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	info, err := os.Stat(base)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(base)) // never creates a home directory
	}
	if err != nil || !untrusted.IsOwn(info) {
		return nil
	}
	return New(filepath.Join(base, "clew", "sections"), DefaultLimit)
}

func (c *Cache) path(key object.SectionKey) string {
	return filepath.Join(c.dir, hex.EncodeToString(key[:]))
}

// Load implements [object.SectionCache].
func (c *Cache) Load(key object.SectionKey, size int64) ([]byte, func() error) {
	path := c.path(key)
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != size || !untrusted.IsOwn(info) {
		return nil, nil
	}
	m, err := filemap.Map(f, path, 0, size)
	if err != nil {
		return nil, nil
	}
	if now := time.Now(); now.Sub(info.ModTime()) > usedEvery {
		at := unix.NsecToTimeval(now.UnixNano())
		_ = unix.Futimes(int(f.Fd()), []unix.Timeval{at, at}) // sections in use are kept
	}
	return m.Bytes(), m.Unmap
}

// Store implements [object.SectionCache].
func (c *Cache) Store(key object.SectionKey, data []byte) {
	if int64(len(data)) > c.limit/4 || os.MkdirAll(c.dir, 0o700) != nil || !c.isPrivate() || !hasSpace(c.dir, len(data)) {
		return
	}
	f, err := outputfile.Create(c.path(key))
	if err != nil {
		return
	}
	defer f.Close()
	// Some file systems assign all files to another user: Load would refuse them.
	if info, err := f.Stat(); err != nil || !untrusted.IsOwn(info) {
		return
	}
	if _, err := f.Write(data); err != nil || f.Commit() != nil {
		return
	}
	c.prune()
}

// isPrivate reports whether only the user may write to the directory and its parent, and
// neither is a link: below a directory like /tmp another user could have created them.
func (c *Cache) isPrivate() bool {
	for _, dir := range []string{filepath.Dir(c.dir), c.dir} {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !untrusted.IsOwn(info) || info.Mode().Perm()&0o022 != 0 {
			return false
		}
	}
	return true
}
