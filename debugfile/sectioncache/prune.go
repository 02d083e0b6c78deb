// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package sectioncache

import (
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clewdev/clew/object"
)

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
