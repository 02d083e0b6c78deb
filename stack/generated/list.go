// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package generated

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/clewdev/clew/jit/gdb/registry"
	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/region"
)

// NewListReader reads the lists in a running target's memory, the GDB JIT list and that of libunwind,
// and no files. It reads symbol files of at most so many bytes, and searches as many.
func NewListReader(t Target, bytes uint64) *Reader {
	r := newListReader(t, bytes)
	for _, next := range sourceReaders() {
		if next.memory {
			r.sources = append(r.sources, next.read(r)...)
		}
	}
	// What was read belongs to a stamp only if that is the same before and after.
	for range maxListReads {
		again := newListReader(t, bytes)
		again.stamps = r.stampAll()
		for _, kind := range []Kind{GDBList, GDBListSearched} {
			var addresses []uint64
			for _, s := range r.sources {
				if s.Kind == kind {
					addresses = append(addresses, s.address)
				}
			}
			if len(addresses) > 0 {
				symbols := func(string) iter.Seq[uint64] { return slices.Values(addresses) }
				again.sources = append(again.sources, again.gdbLists(&registry.Space{Symbols: symbols}, kind)...)
			}
		}
		if slices.ContainsFunc(r.sources, func(s *Source) bool { return s.Kind == DynInfoList }) {
			again.sources = append(again.sources, again.dynInfoLists()...)
		}
		if r = again; !r.Changed() {
			break
		}
	}
	return r
}

// maxListReads is how often NewListReader reads lists that change meanwhile.
const maxListReads = 3

func newListReader(t Target, bytes uint64) *Reader {
	return &Reader{target: t, limits: registry.Limits{Entries: maxListEntries, Total: bytes, Image: bytes, Scan: bytes}}
}

// maxListEntries bounds the entries that NewListReader reads.
const maxListEntries = 1 << 15

// Bytes returns about how much memory the symbol files and the dynamic unwind information that r holds
// take.
func (r *Reader) Bytes() (n uint64) {
	counted := make(map[*region.Region]bool) // procedures can share them
	for _, s := range r.sources {
		for _, c := range s.codes {
			n += uint64(len(c.is.image()))
			info, ok := c.is.(*infoCode)
			if !ok {
				continue
			}
			n += infoBytes
			if t := info.info.Table; t != nil {
				n += tableEntryBytes * uint64(len(t.Entries))
			}
			if p := info.info.Procedure; p != nil {
				for at := p.Regions; at != nil && !counted[at]; at = at.Next {
					counted[at] = true
					n += regionBytes + opBytes*uint64(len(at.Ops))
				}
			}
		}
	}
	return n
}

// What the parts of dynamic unwind information take in memory, in bytes.
const (
	infoBytes       = 512
	tableEntryBytes = 8
	regionBytes     = 64
	opBytes         = 24
)

// Empty reports whether a reader has found no source so far.
func (r *Reader) Empty() bool { return len(r.sources) == 0 }

// Changed reports whether a list has changed since NewListReader read it.
func (r *Reader) Changed() bool { return !slices.EqualFunc(r.stampAll(), r.stamps, bytes.Equal) }

// stampAll returns the stamps of the sources, in their order by kind and address.
func (r *Reader) stampAll() (stamps [][]byte) {
	slices.SortFunc(r.sources, func(a, b *Source) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.address, b.address))
	})
	for _, s := range r.sources {
		stamps = append(stamps, r.stamp(s))
	}
	return stamps
}

func (r *Reader) stamp(s *Source) []byte {
	m, memory := r.target.Snapshot.Machine, r.target.Snapshot.Memory
	if s.Kind != DynInfoList {
		return registry.Stamp(m, memory, s.address)
	}
	_, generation, _ := libunwind.Generation(m, memory, s.address)
	return binary.LittleEndian.AppendUint32(nil, generation)
}
