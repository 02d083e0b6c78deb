// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"crypto/sha256"
	"io/fs"
)

// SectionCache keeps what compressed sections inflate to. It is used by several
// goroutines at once.
type SectionCache interface {
	// Key returns what hash does, the key of the section at a place. It may remember
	// that of a file which cannot have changed since: hash reads all of the section. A
	// panic of hash, see [Guard], passes through.
	Key(place SectionPlace, hash func() SectionKey) SectionKey

	// Load returns what a section inflates to, size bytes, and what ends their use:
	// Close of the File calls it. It returns nil where the section is not kept. The
	// bytes are not changed.
	Load(key SectionKey, size int64) (data []byte, release func() error)

	// Store is told what a section inflates to. The bytes belong to the caller, who does
	// not change them.
	Store(key SectionKey, data []byte)
}

// SectionKey is the SHA-256 of a compressed section with its header: of what lies in
// the file.
type SectionKey [sha256.Size]byte

// SectionPlace is where a compressed section lies.
type SectionPlace struct {
	File         fs.FileInfo // as it was before the file was read
	Offset, Size uint64      // in the file, bytes
}

// leastKept is how many bytes a section inflates to at least that is kept.
const leastKept = 32 << 10

// inflated returns what a compressed section inflates to.
func (f *File) inflated(s sectionHeader, data []byte) ([]byte, error) {
	size := f.expandedSize(data, false)
	search := f.search.Load()
	if search == nil || search.Sections == nil || size < leastKept || size > 1<<40 {
		return f.decompress(s, data)
	}
	hash := func() SectionKey { return sha256.Sum256(data) }
	var key SectionKey
	if f.info != nil {
		key = search.Sections.Key(SectionPlace{f.info, s.off, s.size}, hash)
	} else {
		key = hash()
	}
	if kept, release := search.Sections.Load(key, int64(size)); kept != nil {
		f.mu.Lock()
		f.releases = append(f.releases, release)
		f.mu.Unlock()
		return kept, nil
	}
	out, err := f.decompress(s, data)
	if err == nil {
		search.Sections.Store(key, out)
	}
	return out, err
}
