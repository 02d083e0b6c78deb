// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
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
	options Options
	dir     string   // that the core is in
	file    *os.File // what it is in, decompressed
	size    int64
	stored  *snapshot.User // that the target ran as, see storedUser
	header  *header
	notes   notes
	modules map[string]*module // by path as the core has it
	pieces  []piece            // by address
	unknown []int              // pieces whose permissions the core does not tell
	imaged  atomic.Int64       // bytes that were read of images
	peeked  int                // files that were looked into by findData
	memory  *memory
	dumped  *memory // of what the core itself has

	snapshot snapshot.Snapshot

	mu      sync.Mutex
	missing []snapshot.Missing
	damage  []error
}

// Open opens the core at path, which may be compressed with zstd or lz4.
// It fails where there is no ELF core; what else is wrong is told by
// [Core.Damage]. The options may be nil.
func Open(path string, opts *Options) (*Core, error) {
	c := &Core{modules: make(map[string]*module), dir: filepath.Dir(path)}
	if opts != nil {
		c.options = *opts
	}
	if err := c.open(path); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func (c *Core) open(path string) (err error) {
	c.file, err = untrusted.OpenNamed(path)
	if errors.Is(err, untrusted.ErrNotRegular) {
		return fmt.Errorf("%w: it is not a regular file", ErrNotCore)
	}
	if err != nil {
		return errors.Unwrap(err) // it names the path, as Open does
	}
	info, err := c.file.Stat()
	if err != nil {
		return err
	}
	c.size, c.stored = info.Size(), storedUser(c.file)
	if err := c.decompress(); err != nil {
		return err
	}
	header, damage, err := readHeader(c.file, c.size)
	if err != nil {
		return err
	}
	c.header, c.damage = header, append(c.damage, damage...)
	if m := c.header.machine; m.ELF == elf.EM_NONE {
		return fmt.Errorf("%w: for no machine", ErrNotCore)
	}
	c.readNotes()
	c.checkEnd()
	c.rearrange()
	if !c.notes.hasFile {
		c.findModules()
	}

	slices.SortStableFunc(c.notes.threads, func(a, b snapshot.Thread) int { return cmp.Compare(a.ID, b.ID) })
	s := &c.snapshot
	s.PID, s.Machine, s.Threads = c.notes.pid, c.header.machine, c.notes.threads
	s.Signal, s.Command = c.notes.signal, cmp.Or(c.notes.command, c.notes.name)
	s.Memory, s.Search, s.Open = c.memory, c.options.Search, c.openMapping
	if s.PID == 0 && len(s.Threads) > 0 {
		s.PID = s.Threads[0].ID
	}
	s.Process = c.owner(info)
	if len(s.Threads) == 0 {
		c.damaged(errors.New("the core has no threads: no NT_PRSTATUS note was read"))
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
	if end > uint64(c.size) {
		c.damaged(fmt.Errorf("the core is cut off: %d bytes of %d are there", c.size, end))
	}
}

// Snapshot returns what the core holds, for as long as the Core is open. Its
// Memory reads the core and then the mapped files; its Open opens them, after
// they were found to be the mapped ones. Nothing of it may be changed.
func (c *Core) Snapshot() *snapshot.Snapshot { return &c.snapshot }

// Missing returns the files that were asked for up to now, since a frame lies in
// them or memory of theirs was read, and that are not to be had. The slice is
// the caller's.
func (c *Core) Missing() []snapshot.Missing {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Clone(c.missing)
	slices.SortFunc(list, func(a, b snapshot.Missing) int { return cmp.Compare(a.Address, b.Address) })
	return list
}

// Damage returns what is wrong with the core itself, joined as by [errors.Join],
// or nil: it was cut off, or parts of it make no sense.
func (c *Core) Damage() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.damage...)
}

// Close closes the core and the mapped files.
func (c *Core) Close() error {
	var errs []error
	for _, m := range c.modules {
		if m.file != nil {
			errs = append(errs, m.file.Close())
		}
	}
	if c.file != nil {
		errs = append(errs, c.file.Close())
	}
	return errors.Join(errs...)
}

// maxDamage bounds what is told of one core.
const maxDamage = 16

func (c *Core) damaged(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.damage) < maxDamage {
		c.damage = append(c.damage, err)
	}
}

func (c *Core) missed(m *module) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err *debugfile.NotFoundError
	errors.As(m.err, &err) // Search.Open has no other
	c.missing = append(c.missing, snapshot.Missing{Path: m.path, Address: m.first, BuildID: m.id, Err: err})
}

// openMapping is the snapshot's Open.
func (c *Core) openMapping(mapping *snapshot.Mapping) (*os.File, error) {
	x := c.piece(mapping.Start)
	if x == nil || x.module == nil {
		return nil, fmt.Errorf("mapping %#x-%#x %s: no file is mapped", mapping.Start, mapping.End, mapping.Path)
	}
	if err := x.module.open(); err != nil {
		return nil, err
	}
	return x.module.place.Open()
}
