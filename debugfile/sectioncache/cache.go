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
	"slices"
	"strings"
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

// remembered is the suffix of links to sections. A link is named for a place in a file
// and the time of the file's last change.
const remembered = ".place"

// settled is the least age of the last change of a file with remembered sections: a
// later change has another time, however coarse the file system's clock is (as git's
// index has it, Documentation/technical/racy-git.txt).
const settled = 2 * time.Second

// Key implements [object.SectionCache].
func (c *Cache) Key(place object.SectionPlace, hash func() object.SectionKey) object.SectionKey {
	name, changed, ok := identity(place)
	if !ok {
		return hash()
	}
	link := filepath.Join(c.dir, name+remembered)
	if key, ok := follow(link); ok {
		return key
	}
	remember := time.Since(changed) > settled // decided before reading the file
	key := hash()
	if _, err := os.Lstat(c.path(key)); remember && err == nil && c.isPrivate() {
		_ = os.Symlink(hex.EncodeToString(key[:]), link)
	}
	return key
}

// follow returns the key of the section to which one of the user's links points.
func follow(link string) (key object.SectionKey, ok bool) {
	to, err := os.Readlink(link)
	if err != nil || len(to) != hex.EncodedLen(len(key)) {
		return key, false
	}
	if _, err := hex.Decode(key[:], []byte(to)); err != nil {
		return key, false
	}
	info, err := os.Lstat(link)
	return key, err == nil && untrusted.IsOwn(info)
}

// prune removes the least recently used sections above the limit.
func (c *Cache) prune() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var kept []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue
		}
		name := info.Name()
		if info.Mode()&fs.ModeSymlink != 0 && strings.HasSuffix(name, remembered) {
			// Recreating the link costs one hash.
			path := filepath.Join(c.dir, name)
			if _, err := os.Stat(path); err != nil || time.Since(info.ModTime()) > forgotten {
				os.Remove(path)
			}
		}
		if !info.Mode().IsRegular() {
			continue
		}
		// A temporary file of package outputfile, or of an earlier Clew.
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".section.tmp") {
			if time.Since(info.ModTime()) > abandoned {
				os.Remove(filepath.Join(c.dir, name))
			}
			continue
		}
		if key, err := hex.DecodeString(name); err != nil || len(key) != len(object.SectionKey{}) {
			continue // not a file of the cache
		}
		kept = append(kept, info)
		total += info.Size()
	}
	if total <= c.limit {
		return
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range kept {
		if total <= c.limit/4*3 {
			return // leave space for the next ones
		}
		// Processes that have it mapped keep it.
		if os.Remove(filepath.Join(c.dir, info.Name())) == nil {
			total -= info.Size()
		}
	}
}
