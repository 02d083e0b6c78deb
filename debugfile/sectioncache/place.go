// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package sectioncache

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/object"
)

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
