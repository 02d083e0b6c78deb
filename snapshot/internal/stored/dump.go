// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stored

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/snapshot"
)

// Options says where to search for mapped files.
type Options struct {
	Program string           // the path of the program's file, if the dump does not give it
	Search  debugfile.Search // its Root is the sysroot
}

// OptionsOf returns the Options for snapshot.Open.
func OptionsOf(opts *snapshot.Options) Options {
	o := Options{Program: opts.Program, Search: debugfile.Search{Root: opts.Root}}
	if opts.Search != nil {
		o.Search = opts.Search(opts.Root)
	}
	return o
}

// Unrecognized is the error for a file of another format. It wraps snapshot.ErrUnknown, so
// that snapshot.Open asks the next opener.
type Unrecognized string

func (e Unrecognized) Error() string { return string(e) }

// Unwrap returns snapshot.ErrUnknown.
func (e Unrecognized) Unwrap() error { return snapshot.ErrUnknown }

// Dump is an open dump. The reader of its format sets the exported fields before it calls
// Finish. After that its methods may be called concurrently, except Close, which must
// come last.
type Dump struct {
	Options  Options
	File     *os.File // uncompressed
	Size     int64    // of File, bytes
	Machine  *arch.Machine
	User     uint32 // user ID of the target, in its user namespace
	Auxv     map[uint64]uint64
	Segments []Segment   // mapped memory, by address after Arrange
	Files    []FileRange // ranges of mapped files
	Listed   bool        // Files are listed in the dump
	Program  uint64      // an address in the program's file, if Auxv does not have one

	// BuildIDs are the build IDs in the dump, by the address of the file's first byte.
	BuildIDs map[uint64]BuildID

	Snapshot snapshot.Snapshot // Finish sets the fields that all formats have in common

	info    fs.FileInfo
	dir     string             // of the dump
	owner   *debugfile.User    // user of the target, see storedUser
	modules map[string]*module // by path in the dump
	pieces  []piece            // by address
	unknown []int              // pieces with unknown permissions
	imaged  atomic.Int64       // bytes read of images
	peeked  int                // files that findData examined
	memory  *memory
	dumped  *memory // reads the dump's own memory only

	mu      sync.Mutex
	missing []snapshot.Missing
	damage  []error
}

// BuildID is the build ID of a mapped file.
type BuildID struct {
	Bytes  []byte
	Prefix bool // Bytes is only the start of the build ID
}

// Open opens the file of a dump. Its error wraps unrecognized if the file is not a regular
// file.
func Open(path string, options Options, unrecognized error) (*Dump, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		if errors.Is(err, untrusted.ErrNotRegular) {
			err = fmt.Errorf("%w: it is not a regular file", unrecognized)
		} else if inner := errors.Unwrap(err); inner != nil {
			err = inner // err names the path too
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &Dump{Options: options, File: f, Size: info.Size(), info: info, dir: filepath.Dir(path), owner: storedUser(f),
		modules: make(map[string]*module)}
	if search := &d.Options.Search; search.Root == "" && search.ReadAs == nil {
		user := d.user()
		search.ReadAs = &user
	}
	return d, nil
}

// Finish completes the snapshot after Arrange.
func (d *Dump) Finish() {
	s := &d.Snapshot
	slices.SortStableFunc(s.Threads, func(a, b snapshot.Thread) int { return cmp.Compare(a.ID, b.ID) })
	s.Machine, s.Memory, s.Search, s.Open = d.Machine, d.memory, d.Options.Search, d.openMapping
	if s.PID == 0 && len(s.Threads) > 0 {
		s.PID = s.Threads[0].ID
	}
	s.Process = d.process()
}

// Missing returns the files that were needed so far, for a frame or for their memory, but
// were not found. The caller owns the slice.
func (d *Dump) Missing() []snapshot.Missing {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := slices.Clone(d.missing)
	slices.SortFunc(list, func(a, b snapshot.Missing) int { return cmp.Compare(a.Address, b.Address) })
	return list
}

// Damage returns the errors in the dump itself, joined as by [errors.Join], or nil.
func (d *Dump) Damage() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.damage...)
}

// Close closes the dump and the mapped files.
func (d *Dump) Close() error {
	var errs []error
	for _, m := range d.modules {
		if m.file != nil {
			errs = append(errs, m.file.Close())
		}
	}
	if d.File != nil {
		errs = append(errs, d.File.Close())
	}
	return errors.Join(errs...)
}

// maxDamage bounds how many errors Damage joins.
const maxDamage = 16

// Damaged adds an error to those of Damage.
func (d *Dump) Damaged(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.damage) < maxDamage {
		d.damage = append(d.damage, err)
	}
}

func (d *Dump) missed(m *module) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err *debugfile.NotFoundError
	errors.As(m.err, &err) // Search.Open has no other
	d.missing = append(d.missing, snapshot.Missing{Path: m.path, Address: m.first, BuildID: m.id, Err: err})
}

// openMapping implements the Open function of the snapshot.
func (d *Dump) openMapping(mapping *snapshot.Mapping) (*os.File, error) {
	x := d.piece(mapping.Start)
	if x == nil || x.module == nil {
		return nil, fmt.Errorf("mapping %#x-%#x %s: no file is mapped", mapping.Start, mapping.End, mapping.Path)
	}
	if err := x.module.open(); err != nil {
		return nil, err
	}
	return x.module.place.Open()
}

// Source is a dump as a source of some of its threads.
type Source struct {
	*Dump
	taken snapshot.Snapshot
}

// NewSource returns a finished dump as a source of the threads with these IDs; nil means
// all. If the dump has no such thread, NewSource closes it.
func NewSource(d *Dump, path string, threads []int) (*Source, error) {
	s := &Source{Dump: d, taken: d.Snapshot}
	if threads != nil {
		s.taken.Threads = slices.DeleteFunc(slices.Clone(s.taken.Threads), func(t snapshot.Thread) bool { return !slices.Contains(threads, t.ID) })
		if len(s.taken.Threads) == 0 {
			d.Close()
			return nil, fmt.Errorf("%s: it has no thread %s", path, strings.Trim(fmt.Sprint(threads), "[]"))
		}
	}
	return s, nil
}

// Snapshot implements snapshot.Source.
func (s *Source) Snapshot() (*snapshot.Snapshot, error) { return &s.taken, nil }

// Entries of the auxiliary vector, include/uapi/linux/auxvec.h.
const (
	atPHDR        = 3
	atPHNum       = 5
	atPageSize    = 6
	atBase        = 7
	atEntry       = 9
	atExecFn      = 31
	atSysInfoEHdr = 33
)

// MaxAuxv bounds the size of an auxiliary vector, in bytes. The kernel's has some twenty
// entries.
const MaxAuxv = 4 << 10

// ReadAuxv reads an auxiliary vector.
func (d *Dump) ReadAuxv(b []byte) {
	size := d.WordSize()
	d.Auxv = make(map[uint64]uint64)
	for b = b[:min(len(b), MaxAuxv)]; len(b) >= 2*size; b = b[2*size:] {
		if key := d.Word(b); key != 0 {
			d.Auxv[key] = d.Word(b[size:])
		}
	}
}

// Word reads a word of the dump's machine.
func (d *Dump) Word(b []byte) uint64 {
	return d.Machine.Uint(b[:d.WordSize()])
}

// WordSize returns the size of a word in bytes.
func (d *Dump) WordSize() int {
	if d.Machine.Class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

// CString returns the bytes before the first NUL.
func CString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
