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
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

// Options changes what Open does. The zero value is valid.
type Options struct {
	// Program is the path of the program's file, if the core does not name it, as
	// qemu-user's cores do not, or if it is elsewhere now.
	Program string

	// Search is where to search for the mapped files; its Root is the sysroot.
	Search debugfile.Search

	// TempDir is the directory for a decompressed core; "" stands for os.TempDir().
	TempDir string

	// Progress is called now and then while a core is decompressed, with the number of
	// bytes that were read and that the file has. It may be nil.
	Progress func(done, total int64)
}

// Core is an open core. Several goroutines may call its methods, but Close must be the last
// call.
type Core struct {
	dump   *stored.Dump
	header *header
	notes  notes
}

// The errors of reading memory, besides those about missing files.
var (
	ErrNotMapped = stored.ErrNotMapped // the target had nothing mapped at the address
	ErrNotDumped = stored.ErrNotDumped // neither the core nor a mapped file contains the memory
	ErrTruncated = stored.ErrTruncated // the core's file ends before the memory
)

// Open opens the core at path, which may be compressed with zstd or lz4.
// It fails if the file is not an ELF core. [Core.Damage] reports all other defects.
// The options may be nil.
func Open(path string, opts *Options) (*Core, error) {
	if opts == nil {
		opts = new(Options)
	}
	dump, err := stored.Open(path, stored.Options{Program: opts.Program, Search: opts.Search}, ErrNotCore)
	if err != nil {
		return nil, err
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
		return fmt.Errorf("%w: its machine is EM_NONE", ErrNotCore)
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

// checkEnd reports a core that is truncated.
func (c *Core) checkEnd() {
	end := uint64(0)
	for i := range c.header.loads {
		if p := &c.header.loads[i]; p.Filesz > 0 && p.Off+p.Filesz >= p.Off {
			end = max(end, p.Off+p.Filesz)
		}
	}
	if end > uint64(c.dump.Size) {
		c.dump.Damaged(fmt.Errorf("the file is truncated: it has %d of %d bytes", c.dump.Size, end))
	}
}

// Snapshot returns the snapshot, which is valid until Close. Its Memory reads the core, and
// otherwise the mapped files. Its Open opens a file only if it is the mapped one. The caller
// must not change the snapshot.
func (c *Core) Snapshot() *snapshot.Snapshot { return &c.dump.Snapshot }

// Missing returns the files that were needed so far, for a frame or for their memory, but
// were not found. The caller owns the slice.
func (c *Core) Missing() []snapshot.Missing { return c.dump.Missing() }

// Damage returns the errors in the core itself, joined as by [errors.Join], or nil: it is cut
// off, or parts of it are invalid.
func (c *Core) Damage() error { return c.dump.Damage() }

// Close closes the core and the mapped files.
func (c *Core) Close() error { return c.dump.Close() }

func init() { snapshot.Register(snapshot.Opener{Name: "core", Open: openSource}) }

func openSource(path string, opts *snapshot.Options) (snapshot.Source, error) {
	o := stored.OptionsOf(opts)
	c, err := Open(path, &Options{Program: o.Program, Search: o.Search, Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	return stored.NewSource(c.dump, path, opts.Threads)
}
