// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/snapshot/internal/stored"
)

// readFiles reads NT_FILE (fs/binfmt_elf.c, fill_files_note): the number of ranges, the
// page size, three words for each range (the third in pages), and the paths, each with
// a NUL.
func (c *Core) readFiles(b []byte) error {
	if c.notes.hasFile {
		if c.notes.moreFiles {
			return nil // cut reports it
		}
		c.notes.moreFiles = true
		return errors.New("NT_FILE: there is more than one, and the first one counts")
	}
	size := c.dump.WordSize()
	if len(b) < 2*size {
		return fmt.Errorf("NT_FILE: %d bytes, at least %d expected", len(b), 2*size)
	}
	count, page := c.dump.Word(b), c.dump.Word(b[size:])
	all := len(b)
	b = b[2*size:]
	var cut error
	// A range takes three words, and a NUL for its path.
	if most := uint64(len(b)) / uint64(3*size+1); count > most {
		return fmt.Errorf("NT_FILE: %d ranges in %d bytes", count, all)
	}
	words, paths := b[:count*uint64(3*size)], b[count*uint64(3*size):]
	if count > maxFileRanges {
		cut = fmt.Errorf("NT_FILE: %d ranges, of which %d are read", count, maxFileRanges)
		count, words = maxFileRanges, words[:maxFileRanges*3*size]
	}
	last := ""
	c.dump.Files = make([]stored.FileRange, 0, count)
	for ; len(words) > 0; words = words[3*size:] {
		path := paths
		if i := slices.Index(paths, 0); i >= 0 {
			path, paths = paths[:i], paths[i+1:]
		} else {
			cut = fmt.Errorf("NT_FILE: the list of paths is cut off")
			break
		}
		if string(path) != last { // the ranges of a file are adjacent
			last = string(path)
		}
		r := stored.FileRange{Start: c.dump.Word(words), End: c.dump.Word(words[size:]), Offset: c.dump.Word(words[2*size:]) * page, Path: last}
		if r.Start < r.End {
			c.dump.Files = append(c.dump.Files, r)
		}
	}
	c.notes.hasFile = true
	return cut
}

// maxFileRanges bounds the ranges of NT_FILE, each of which can name another file. By
// default a process has at most 65,530 mappings (vm.max_map_count).
const maxFileRanges = 1 << 16
