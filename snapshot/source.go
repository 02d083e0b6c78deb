// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clewdev/clew/debugfile"
)

// Source provides a snapshot: it is a live process, a core or a minidump. It is not
// safe for concurrent use.
type Source interface {
	// Snapshot returns the snapshot. A live process is stopped for it at the first call.
	Snapshot() (*Snapshot, error)

	// Missing returns the mapped files that could not be found, and Damage the reason why
	// parts of the source could not be read. Both are complete once the stacks are named.
	Missing() []Missing
	Damage() error

	// Close releases the source. Its snapshot must not be used any more.
	Close() error
}

// Missing describes a mapped file that could not be found.
type Missing struct {
	Path    string // as the target saw it
	Address uint64 // the lowest address of its mappings
	BuildID []byte // nil if unknown
	Err     *debugfile.NotFoundError
}

// Options changes what Open does. The zero value is valid.
type Options struct {
	Threads []int // the IDs of the threads to include; nil for all
	Vectors bool  // with floating-point and vector registers

	// Search returns where to search for the files of the target, given the directory
	// that their absolute paths are relative to; nil for that directory alone.
	Search func(root string) debugfile.Search

	// Root and Program are for stored sources. Root is the directory that contains the
	// files of the target. Program is the path of its program, if the source does not
	// give it.
	Root, Program string

	// Progress is called now and then while a stored source is decompressed, with bytes of
	// its file. It may be nil.
	Progress func(done, total int64)

	// Goroutines, Hold and Timeout are for live processes: see process.Options.
	Goroutines bool
	Hold       func(*Snapshot)
	Timeout    time.Duration
}

// Retaker is a Source of a running target that can take its snapshot again.
type Retaker interface {
	// Retake takes another snapshot that also contains the memory around some pages, which
	// Snapshot returns from then on. Its Pause is that of both, and the previous snapshot's
	// Memory is closed. If Retake fails, it returns the previous snapshot.
	Retake(pages []uint64) *Snapshot
}

// Opener opens sources of one kind. Packages register theirs: snapshot/process,
// snapshot/core, snapshot/minidump.
type Opener struct {
	// Name is the kind of source, "core". Open asks the openers in the order of their names.
	Name string

	// Live says that sources are running, and that their threads are stopped for the
	// snapshot.
	Live bool

	// Match reports whether a name names a source of this kind, even if a file has the same
	// name. It is nil if Open decides by the content of the file.
	Match func(name string) bool

	// Open opens a source. Its error wraps ErrUnknown if the file is not of this kind.
	Open func(name string, opts *Options) (Source, error)
}

// ErrUnknown says that no Opener supports the kind of the file.
var ErrUnknown = errors.New("not a source of snapshots")

var openers []Opener

// Register makes Open ask an opener. It is called from the init functions of the packages
// that read sources, and must not be called later.
func Register(o Opener) {
	// The order in which packages are initialised depends on what they import.
	i, _ := slices.BinarySearchFunc(openers, o, func(a, b Opener) int { return cmp.Compare(a.Name, b.Name) })
	openers = slices.Insert(openers, i, o)
}

// matching returns the opener that a name matches, nil if the content of the file decides.
func matching(name string) *Opener {
	for i := range openers {
		if o := &openers[i]; o.Match != nil && o.Match(name) {
			return o
		}
	}
	return nil
}

// IsLive reports whether Open treats name as the ID of a live process. All other names
// are paths.
func IsLive(name string) bool {
	o := matching(name)
	return o != nil && o.Live
}

// Open opens a source by its name: the ID of a process, or the path of a core or
// minidump. The program must import the packages that read these. The options may be
// nil. If no registered opener supports the file, the error is the first opener's and
// wraps ErrUnknown.
func Open(name string, opts *Options) (Source, error) {
	if opts == nil {
		opts = new(Options)
	}
	if o := matching(name); o != nil {
		return o.Open(name, opts)
	}
	var unknown error
	for i := range openers {
		if openers[i].Match != nil {
			continue
		}
		s, failed := openers[i].Open(name, opts)
		if failed == nil || !errors.Is(failed, ErrUnknown) {
			return s, failed
		}
		if unknown == nil {
			unknown = failed
		}
	}
	if unknown == nil {
		unknown = fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	return nil, unknown
}
