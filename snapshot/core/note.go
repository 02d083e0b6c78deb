// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"debug/elf"
	"fmt"
	"io"
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
	maxNotes    = 1 << 20 // of one core: a note takes 12 bytes, and a hole in a file none
	noteHeader  = 12
	noteWindow  = 4 << 10
	maxNoteName = 16
)

// eachNote calls visit with the notes of a PT_NOTE segment. Their parts are padded to four
// bytes, also in 64-bit cores and for any p_align.
func (h *header) eachNote(r io.ReaderAt, size int64, p elf.ProgHeader, left *int, visit func(note)) error {
	if p.Off > uint64(size) {
		return fmt.Errorf("notes at offset %#x: the core is cut off at %#x", p.Off, size)
	}
	end := int64(p.Off + min(p.Filesz, uint64(size)-p.Off))
	var room [noteWindow]byte
	var window []byte
	start := int64(0) // offset of window
	for at := int64(p.Off); end-at >= noteHeader; {
		if *left--; *left < 0 {
			return fmt.Errorf("notes at offset %#x: more than %d", p.Off, maxNotes)
		}
		if at < start || at+noteHeader+maxNoteName > start+int64(len(window)) {
			n, err := r.ReadAt(room[:min(noteWindow, end-at)], at)
			if n < noteHeader {
				return fmt.Errorf("notes at offset %#x: %w", at, err)
			}
			start, window = at, room[:n]
		}
		b := window[at-start:]
		names, content := int64(h.order.Uint32(b)), int64(h.order.Uint32(b[4:]))
		n := note{typ: h.order.Uint32(b[8:]), size: content}
		n.at = at + noteHeader + (names+3)&^3
		if n.at+content > end {
			return fmt.Errorf("note of type %#x at offset %#x: %d bytes, of which %d are there", n.typ, at, content, max(0, end-n.at))
		}
		if names > 0 && names <= maxNoteName && noteHeader+names <= int64(len(b)) {
			n.owner = string(b[noteHeader : noteHeader+names-1])
		}
		visit(n)
		at = n.at + (content+3)&^3
	}
	if p.Off+p.Filesz > uint64(size) {
		return fmt.Errorf("notes at offset %#x: %d bytes, of which %d are there", p.Off, p.Filesz, uint64(end)-p.Off)
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
