// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

// Options changes what Open does. The zero value is good.
type Options struct {
	// Program is the path of the program's file, where the core does not lead to
	// it: the core names none (qemu-user's), or it lies elsewhere now.
	Program string

	// Search is where the mapped files are looked for; its Root is the sysroot.
	Search debugfile.Search

	// TempDir is where a compressed core is decompressed to; "" stands for
	// os.TempDir().
	TempDir string

	// Progress is called now and then while a core is decompressed: how many
	// bytes of the file were read, and how many it has. It may be nil.
	Progress func(done, total int64)
}

// Core is an open core. Its methods may be called from several goroutines,
// Close after all others only.
type Core struct {
	dump   *stored.Dump
	header *header
	notes  notes
}

// The kinds of reads that fail, besides those of files that are missing.
var (
	// ErrNotMapped: the target had nothing at the address.
	ErrNotMapped = stored.ErrNotMapped
	// ErrNotDumped: the core was written without the memory at the address, and no
	// mapped file has it.
	ErrNotDumped = stored.ErrNotDumped
	// ErrCutOff: the core's file ends before it.
	ErrCutOff = stored.ErrCutOff
)

// Open opens the core at path, which may be compressed with zstd or lz4.
// It fails if the file is not an ELF core. [Core.Damage] reports all other defects.
// The options may be nil.
func Open(path string, opts *Options) (*Core, error) {
	if opts == nil {
		opts = new(Options)
	}
	dump, err := stored.Open(path, stored.Options{Program: opts.Program, Search: opts.Search})
	if errors.Is(err, untrusted.ErrNotRegular) {
		err = fmt.Errorf("%w: it is not a regular file", ErrNotCore)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &Core{dump: dump}
	if err := c.read(opts); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func (c *Core) read(opts *Options) error {
	d := c.dump
	if err := c.decompress(opts); err != nil {
		return err
	}
	header, damage, err := readHeader(d.File, d.Size)
	if err != nil {
		return err
	}
	c.header, d.Machine, d.Segments = header, header.machine, header.loads
	for _, err := range damage {
		d.Damaged(err)
	}
	if d.Machine.ELF == elf.EM_NONE {
		return fmt.Errorf("%w: for no machine", ErrNotCore)
	}
	c.readNotes()
	c.checkEnd()
	d.User, d.Listed = c.notes.user, c.notes.hasFile
	s := &d.Snapshot
	s.PID, s.Threads, s.Signal, s.Command = c.notes.pid, c.notes.threads, c.notes.signal, c.notes.command
	d.Arrange()
	if !d.Listed {
		d.FindModules()
	}
	s.Command = cmp.Or(s.Command, c.notes.name)
	d.Finish()
	if len(s.Threads) == 0 {
		d.Damaged(errors.New("the core has no threads: no NT_PRSTATUS note was read"))
	}
	return nil
}

// checkEnd notes where the core is cut off.
func (c *Core) checkEnd() {
	end := uint64(0)
	for i := range c.header.loads {
		if p := &c.header.loads[i]; p.Filesz > 0 && p.Off+p.Filesz >= p.Off {
			end = max(end, p.Off+p.Filesz)
		}
	}
	if end > uint64(c.dump.Size) {
		c.dump.Damaged(fmt.Errorf("the core is cut off: %d bytes of %d are there", c.dump.Size, end))
	}
}

// Snapshot returns what the core holds, for as long as the Core is open. Its
// Memory reads the core and then the mapped files; its Open opens them, after
// they were found to be the mapped ones. Nothing of it may be changed.
func (c *Core) Snapshot() *snapshot.Snapshot { return &c.dump.Snapshot }

// Missing returns the files that were asked for up to now, since a frame lies in
// them or memory of theirs was read, and that are not to be had. The slice is
// the caller's.
func (c *Core) Missing() []snapshot.Missing { return c.dump.Missing() }

// Damage returns what is wrong with the core itself, joined as by [errors.Join],
// or nil: it was cut off, or parts of it make no sense.
func (c *Core) Damage() error { return c.dump.Damage() }

// Close closes the core and the mapped files.
func (c *Core) Close() error { return c.dump.Close() }
