// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/clewdev/clew/snapshot/internal/stored"
)

// Types of notes, include/uapi/linux/elf.h. Their owner is "CORE", or "LINUX" for those
// of one machine.
const (
	ntPRStatus = 1
	ntPRFPReg  = 2
	ntPRPSInfo = 3
	ntAuxv     = 6
	ntARMTLS   = 0x401
	ntFile     = 0x46494c45
	ntSigInfo  = 0x53494749
)

// note is one note of a core; its content is read later.
type note struct {
	owner string
	typ   uint32
	at    int64 // offset of the content in the core
	size  int64
}

const (
	maxNotes    = 1 << 20 // of one core: notes have 12 bytes, but can lie in a hole of the file
	noteHeader  = 12
	noteWindow  = 4 << 10
	maxNoteName = 16
)

// eachNote calls visit with the notes of a PT_NOTE segment. Their parts are padded to four
// bytes, also in 64-bit cores and for any p_align.
func (h *header) eachNote(r io.ReaderAt, size int64, p elf.ProgHeader, left *int, visit func(note)) error {
	if p.Off > uint64(size) {
		return fmt.Errorf("notes at offset %#x: the core is truncated at %#x", p.Off, size)
	}
	end := int64(p.Off + min(p.Filesz, uint64(size)-p.Off))
	var buffer [noteWindow]byte
	var window []byte
	start := int64(0) // offset of window
	for at := int64(p.Off); end-at >= noteHeader; {
		if *left--; *left < 0 {
			return fmt.Errorf("notes at offset %#x: more than %d", p.Off, maxNotes)
		}
		if at < start || at+noteHeader+maxNoteName > start+int64(len(window)) {
			n, err := r.ReadAt(buffer[:min(noteWindow, end-at)], at)
			if n < noteHeader {
				return fmt.Errorf("notes at offset %#x: %w", at, err)
			}
			start, window = at, buffer[:n]
		}
		b := window[at-start:]
		names, content := int64(h.order.Uint32(b)), int64(h.order.Uint32(b[4:]))
		n := note{typ: h.order.Uint32(b[8:]), size: content}
		n.at = at + noteHeader + (names+3)&^3
		if n.at+content > end {
			return fmt.Errorf("note of type %#x at offset %#x: %d bytes, only %d exist", n.typ, at, content, max(0, end-n.at))
		}
		if names > 0 && names <= maxNoteName && noteHeader+names <= int64(len(b)) {
			n.owner = string(b[noteHeader : noteHeader+names-1])
		}
		visit(n)
		at = n.at + (content+3)&^3
	}
	if p.Off+p.Filesz > uint64(size) {
		return fmt.Errorf("notes at offset %#x: %d bytes, only %d exist", p.Off, p.Filesz, uint64(end)-p.Off)
	}
	return nil
}

// read reads the content of a note, at most limit bytes.
func (n *note) read(r io.ReaderAt, limit int64) ([]byte, error) {
	b := make([]byte, min(n.size, limit))
	if k, err := r.ReadAt(b, n.at); k < len(b) {
		return nil, fmt.Errorf("note of type %#x at offset %#x: %w", n.typ, n.at, err)
	}
	return b, nil
}

// readFiles reads NT_FILE (fs/binfmt_elf.c, fill_files_note): the number of ranges, the
// page size, three words for each range (the third in pages), and the paths, each with
// a NUL.
func (c *Core) readFiles(b []byte) error {
	if c.notes.hasFile {
		if c.notes.moreFiles {
			return nil // cut reports it
		}
		c.notes.moreFiles = true
		return errors.New("NT_FILE: there is more than one, only the first one is used")
	}
	size := c.dump.WordSize()
	if len(b) < 2*size {
		return fmt.Errorf("NT_FILE: %d bytes, at least %d expected", len(b), 2*size)
	}
	count, page := c.dump.Word(b), c.dump.Word(b[size:])
	all := len(b)
	b = b[2*size:]
	var cut error
	// A range has three words, and at least the NUL of its path.
	if most := uint64(len(b)) / uint64(3*size+1); count > most {
		return fmt.Errorf("NT_FILE: %d ranges in %d bytes", count, all)
	}
	words, paths := b[:count*uint64(3*size)], b[count*uint64(3*size):]
	if count > maxFileRanges {
		cut = fmt.Errorf("NT_FILE: %d ranges, only the first %d are read", count, maxFileRanges)
		count, words = maxFileRanges, words[:maxFileRanges*3*size]
	}
	last := ""
	c.dump.Files = make([]stored.FileRange, 0, count)
	for ; len(words) > 0; words = words[3*size:] {
		path := paths
		if i := slices.Index(paths, 0); i >= 0 {
			path, paths = paths[:i], paths[i+1:]
		} else {
			cut = fmt.Errorf("NT_FILE: the list of paths is truncated")
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
