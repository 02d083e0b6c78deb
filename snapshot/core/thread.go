// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

// notes is the information in the notes of a core.
type notes struct {
	threads   []snapshot.Thread
	pid       int
	name      string // of the process's first thread
	command   string
	user      uint32 // real user ID of the process, in its user namespace
	signal    *snapshot.Signal
	hasFile   bool // there is a list of mapped files
	moreFiles bool // there is a second list

	seen    map[int]bool     // by the IDs of threads
	current *snapshot.Thread // of the last NT_PRSTATUS, nil if that was refused
}

const (
	maxThreads   = 1 << 22  // the kernel's PID_MAX_LIMIT
	maxRegisters = 4 << 10  // larger than any register set that is read here
	maxFileNote  = 32 << 20 // the kernel's default limit is 4 MiB
)

// readNotes reads all readable notes. It reads no byte twice, so that the file's size
// bounds the memory that notes take.
func (c *Core) readNotes() {
	left := maxNotes
	segments := slices.Clone(c.header.notes)
	slices.SortStableFunc(segments, func(a, b elf.ProgHeader) int { return cmp.Compare(a.Off, b.Off) })
	var overlap error
	end := uint64(0) // of the segments read so far
	for _, p := range segments {
		if p.Off < end {
			if overlap == nil {
				overlap = fmt.Errorf("notes at offset %#x: they overlap those that end at %#x", p.Off, end)
				c.dump.Damaged(overlap)
			}
			p.Filesz -= min(p.Filesz, end-p.Off)
			p.Off = end
			if p.Filesz == 0 {
				continue
			}
		}
		if size := uint64(c.dump.Size); p.Off < size {
			end = p.Off + min(p.Filesz, size-p.Off)
		}
		c.growThreads(p, left)
		err := c.header.eachNote(c.dump.File, c.dump.Size, p, &left, func(n note) {
			if n.owner != "CORE" && (n.owner != "LINUX" || n.typ != ntARMTLS) {
				return // another owner, or registers that are not read
			}
			if err := c.readNote(&n); err != nil {
				c.dump.Damaged(err)
			}
		})
		if err != nil {
			c.dump.Damaged(err)
		}
	}
	c.notes.seen, c.notes.current = nil, nil
	// The process's name is that of its first thread. A core does not contain the
	// names of others.
	for i := range c.notes.threads {
		if t := &c.notes.threads[i]; t.ID == c.notes.pid {
			t.Name = c.notes.name
		}
	}
}

// growThreads sizes the slice of threads for a segment of notes: a thread takes some 700
// bytes, and growing step by step takes several times as much.
func (c *Core) growThreads(p elf.ProgHeader, left int) {
	l, threads := c.header.statusLayout(), 0
	// An error is reported when the notes are read.
	_ = c.header.eachNote(c.dump.File, c.dump.Size, p, &left, func(n note) {
		if n.owner == "CORE" && n.typ == ntPRStatus && n.size > int64(l.registers+l.tail) {
			threads++
		}
	})
	c.notes.threads = slices.Grow(c.notes.threads, min(threads, maxThreads))
}

func (c *Core) readNote(n *note) error {
	limit := int64(maxRegisters)
	if n.typ == ntFile {
		limit = maxFileNote
	}
	switch n.typ {
	case ntPRStatus, ntPRFPReg, ntPRPSInfo, ntAuxv, ntARMTLS, ntFile, ntSigInfo:
	default:
		return nil
	}
	b, err := n.read(c.dump.File, limit)
	if err != nil {
		return err
	}
	switch n.typ {
	case ntPRStatus:
		return c.readStatus(b)
	case ntPRFPReg:
		if t := c.notes.current; t != nil && t.Err == nil {
			t.Vectors = b
			snapshot.FloatRegisters(&t.Registers, c.header.machine, b)
		}
	case ntARMTLS:
		if t := c.notes.current; t != nil && t.Err == nil {
			snapshot.ThreadPointer(&t.Registers, c.header.machine, b)
		}
	case ntPRPSInfo:
		c.readProcess(b)
	case ntAuxv:
		c.dump.ReadAuxv(b)
	case ntSigInfo:
		c.readSignal(b)
	case ntFile:
		return c.readFiles(b)
	}
	return nil
}

// statusLayout is a machine's layout of struct elf_prstatus: offsets in bytes
// (include/linux/elfcore.h, with elf_prstatus_common).
type statusLayout struct {
	id, registers int
	tail          int // pr_fpvalid, with the padding of the registers' alignment
}

func (h *header) statusLayout() statusLayout {
	m := h.machine
	long, aligned := m.AddressSize, m.RegisterSize
	if set := m.General; set != nil {
		aligned = cmp.Or(set.Align, set.Width)
	}
	align := func(at, to int) int { return (at + to - 1) / to * to }
	// pr_info of 12 bytes, pr_cursig of 2, pr_sigpend, pr_sighold.
	id := align(12+2, min(long, aligned)) + 2*long
	// Four process IDs, four times of two words each.
	return statusLayout{id, align(id+4*4+8*long, aligned), align(4, aligned)}
}

// readStatus reads a thread.
func (c *Core) readStatus(b []byte) error {
	o, l := c.header.order, c.header.statusLayout()
	c.notes.current = nil
	if len(b) < l.registers+l.tail {
		return fmt.Errorf("NT_PRSTATUS: %d bytes, at least %d expected", len(b), l.registers+l.tail)
	}
	if len(c.notes.threads) == maxThreads {
		return fmt.Errorf("NT_PRSTATUS: more than %d threads", maxThreads)
	}
	t := snapshot.Thread{ID: int(int32(o.Uint32(b[l.id:])))}
	if c.notes.seen[t.ID] {
		return fmt.Errorf("NT_PRSTATUS: thread %d occurs twice", t.ID)
	}
	if err := snapshot.GeneralRegisters(&t.Registers, c.header.machine, b[l.registers:len(b)-l.tail]); err != nil {
		t.Err = fmt.Errorf("thread %d: NT_PRSTATUS: %w", t.ID, err)
	}
	t.Registers.PC &= c.header.machine.CodeMask
	// The first thread is the one for which the core was written.
	if signal := int(o.Uint16(b[12:])); len(c.notes.threads) == 0 && signal != 0 {
		c.notes.signal = &snapshot.Signal{Number: signal, Machine: c.header.machine, Thread: t.ID}
	}
	if c.notes.seen == nil {
		c.notes.seen = make(map[int]bool)
	}
	c.notes.seen[t.ID] = true
	c.notes.threads = append(c.notes.threads, t)
	c.notes.current = &c.notes.threads[len(c.notes.threads)-1]
	return nil
}

// readProcess reads struct elf_prpsinfo of include/linux/elfcore.h. Its user IDs have
// two bytes on arm and i386, and four elsewhere; its size distinguishes them.
func (c *Core) readProcess(b []byte) {
	pid, short := 0, false
	switch len(b) {
	case 136:
		pid = 24
	case 124:
		pid, short = 12, true
	case 128:
		pid = 16
	default:
		c.dump.Damaged(fmt.Errorf("NT_PRPSINFO: %d bytes, expected 136, 128 or 124", len(b)))
		return
	}
	if o := c.header.order; short {
		c.notes.user = uint32(o.Uint16(b[pid-4:]))
	} else {
		c.notes.user = o.Uint32(b[pid-8:])
	}
	c.notes.pid = int(int32(c.header.order.Uint32(b[pid:])))
	c.notes.name = stored.CString(b[pid+16 : pid+32])
	c.notes.command = strings.TrimRight(stored.CString(b[pid+32:pid+112]), " ")
}

// readSignal reads siginfo_t of the thread for which the core was written, in the first
// of these notes: include/uapi/asm-generic/siginfo.h.
func (c *Core) readSignal(b []byte) {
	o, union, word := c.header.order, 12, 4
	if c.header.class == elf.ELFCLASS64 {
		union, word = 16, 8
	}
	s := c.notes.signal
	if len(b) < union+2*word || s == nil || s.Code != 0 || s.HasAddress || s.Sender != 0 || int(o.Uint32(b)) != s.Number {
		return
	}
	code := b[8:]
	if s.Machine.SignalCodeFirst {
		code = b[4:]
	}
	s.Code = int(int32(o.Uint32(code)))
	s.SetFault(c.dump.Word(b[union:]))
	if s.Code <= 0 {
		// SI_USER, SI_QUEUE, SI_TKILL
		s.Sender = int(int32(o.Uint32(b[union:])))
	}
}
