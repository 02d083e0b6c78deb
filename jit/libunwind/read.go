// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/region"
)

var (
	// ErrNoList means that a program has no list: no libunwind, or one without the
	// dynamic interface.
	ErrNoList = fmt.Errorf("no dyn-info list: %w", fs.ErrNotExist)
	// ErrList means that a list, or a part of it, is invalid.
	ErrList = errors.New("invalid dyn-info list")
	// ErrChanging means that a list changed during each attempt to read it.
	ErrChanging = errors.New("the dyn-info list keeps changing")
)

// Limits of a list. Real lists have thousands of infos and few regions.
const (
	maxInfos   = 1 << 17
	maxRegions = 1 << 17
	maxOps     = 1 << 20
	maxEntries = 1 << 21
	maxNames   = 1 << 23 // bytes
	maxName    = 1 << 12 // bytes
	attempts   = 16
)

// List is a list of dynamic unwind information.
type List struct {
	Address    uint64
	Version    uint32
	Generation uint32 // changes when the list does
	Infos      []Info // the latest first, as libunwind searches

	// Err is the error that ended the list early, or nil.
	Err error
}

// Generation reads only the version and generation of a list. A [List] with the same
// two is still current.
func Generation(m *arch.Machine, memory cfi.Memory, list uint64) (version, generation uint32, err error) {
	r := reader{m: m, layout: layoutOf(m), memory: memory}
	version, generation, _, err = r.head(list)
	return version, generation, err
}

// Read reads the list at an address, which [Find] returns, from the memory of a process or
// core. If the list changes meanwhile, Read reads it again, at most 16 times; then the
// error is [ErrChanging]. If the process runs meanwhile, Read may mistake freed memory for
// a part of the list.
//
// Read trusts no data: the List contains the readable part of each [Info], and Info.Err
// the error.
func Read(m *arch.Machine, memory cfi.Memory, list uint64) (*List, error) {
	for range attempts {
		r := reader{m: m, layout: layoutOf(m), memory: memory, regions: make(map[uint64]*node)}
		out := &List{Address: list}
		var first uint64
		var err error
		if out.Version, out.Generation, first, err = r.head(list); err != nil {
			return nil, err
		}
		r.infos(out, first)
		version, generation, _, err := r.head(list)
		if err != nil {
			return nil, err
		}
		if version == out.Version && generation == out.Generation {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%w: at %#x, in %d attempts", ErrChanging, list, attempts)
}

// reader reads one list and enforces the limits.
type reader struct {
	m       *arch.Machine
	layout  *layout
	memory  cfi.Memory
	regions map[uint64]*node // by address
	buf     [1024]byte

	ops, entries, names int
}

// node is a region, and the error in the rest of the list.
type node struct {
	region *region.Region
	err    error
	walk   uint64 // the info for which it was first read
}

// structure reads up to len(r.buf) bytes. The result is valid until the next call.
func (r *reader) structure(name string, address uint64, size int64) (fields, error) {
	b := r.buf[:size]
	if err := r.memory.ReadMemory(b, address); err != nil {
		return fields{}, fmt.Errorf("%w: %s at %#x: %w", ErrList, name, address, err)
	}
	return fields{r.m, b}, nil
}

func (r *reader) head(list uint64) (version, generation uint32, first uint64, err error) {
	l := r.layout
	f, err := r.structure("the list", list, l.listSize)
	if err != nil {
		return 0, 0, 0, err
	}
	return uint32(f.get(l.version, 4)), uint32(f.get(l.generation, 4)), f.get(l.first, l.word), nil
}

func (r *reader) infos(out *List, first uint64) {
	seen := make(map[uint64]struct{})
	for at := first; at != 0; {
		if _, ok := seen[at]; ok {
			out.Err = fmt.Errorf("%w: the list is circular at the entry at %#x", ErrList, at)
			return
		}
		if len(seen) == maxInfos {
			out.Err = fmt.Errorf("%w: more than %d entries", ErrList, maxInfos)
			return
		}
		seen[at] = struct{}{}
		f, err := r.structure("the entry", at, r.layout.infoSize)
		if err != nil {
			out.Err = err
			return
		}
		next := f.get(r.layout.next, r.layout.word)
		out.Infos = append(out.Infos, r.info(f, at))
		at = next
	}
}

func (r *reader) info(f fields, at uint64) Info {
	l := r.layout
	i := Info{
		Address: at, Start: f.get(l.start, l.word), End: f.get(l.end, l.word), GP: f.get(l.gp, l.word),
		LoadOffset: f.get(l.loadOffset, l.word), Format: Format(int32(f.get(l.format, 4))),
	}
	u := fields{r.m, f.b[l.union:]}
	name := u.get(l.name, l.word)
	switch i.Format {
	case Dynamic:
		p := &region.Procedure{Start: i.Start, End: i.End, Handler: u.get(l.handler, l.word), Flags: uint32(u.get(l.flags, 4))}
		i.Procedure = p
		regions := u.get(l.regions, l.word)
		p.Name, i.Err = r.name(name)
		var err error
		p.Regions, err = r.list(regions, at)
		i.Err = errors.Join(i.Err, err)
	case TableInfo, RemoteTable, IPOffset:
		t := &region.Table{SegmentBase: u.get(l.segbase, l.word), Words: u.get(l.tableLen, l.word), Address: u.get(l.tableData, l.word)}
		i.Table = t
		t.Name, i.Err = r.name(name)
		if i.Format != TableInfo { // the data of a TableInfo may be anything
			var err error
			t.Entries, err = r.table(t)
			i.Err = errors.Join(i.Err, err)
		}
	default:
		i.Err = fmt.Errorf("%w: the entry at %#x has the unknown format %v", ErrList, at, i.Format)
	}
	if i.End < i.Start {
		i.Err = errors.Join(i.Err, fmt.Errorf("%w: the entry at %#x is for [%#x, %#x)", ErrList, at, i.Start, i.End))
	}
	return i
}

func (r *reader) name(at uint64) (string, error) {
	if at == 0 {
		return "", nil
	}
	var name []byte
	for len(name) < maxName {
		// Read up to the next multiple of 64, to avoid touching another page.
		b := r.buf[:64-at%64]
		if r.names += len(b); r.names > maxNames {
			return "", fmt.Errorf("%w: more than %d bytes of names", ErrList, maxNames)
		}
		if err := r.memory.ReadMemory(b, at); err != nil {
			return string(name), fmt.Errorf("%w: a name at %#x: %w", ErrList, at, err)
		}
		if n := bytes.IndexByte(b, 0); n >= 0 {
			return string(append(name, b[:n]...)), nil
		}
		name, at = append(name, b...), at+uint64(len(b))
	}
	return string(name), fmt.Errorf("%w: a name longer than %d bytes", ErrList, len(name))
}

// list reads a list of regions that starts at an address. walk identifies the call.
func (r *reader) list(at, walk uint64) (*region.Region, error) {
	var first *region.Region
	link := &first
	var added []*node
	var failed error
	for at != 0 {
		n, known := r.regions[at]
		if known {
			if n.walk == walk {
				failed = fmt.Errorf("%w: the list of regions is circular at %#x", ErrList, at)
			} else {
				*link, failed = n.region, n.err
			}
			break
		}
		if len(r.regions) == maxRegions {
			failed = fmt.Errorf("%w: more than %d regions", ErrList, maxRegions)
			break
		}
		next, read, err := r.region(at)
		if read == nil {
			failed = err
			break
		}
		n = &node{region: read, walk: walk}
		r.regions[at] = n
		added = append(added, n)
		*link, link = read, &read.Next
		if failed = err; err != nil {
			break
		}
		at = next
	}
	for _, n := range added {
		n.err = failed
	}
	return first, failed
}

func (r *reader) region(at uint64) (next uint64, out *region.Region, err error) {
	l := r.layout
	f, err := r.structure("a region", at, l.ops)
	if err != nil {
		return 0, nil, err
	}
	out = &region.Region{Count: int32(f.get(l.insnCount, 4))}
	next = f.get(l.regionNext, l.word)
	left := f.get(l.opCount, 4)
	for at += uint64(l.ops); left > 0; {
		// Read as many as fit; after a stop none is needed.
		n := min(left, 16)
		if r.ops += int(n); r.ops > maxOps {
			return next, out, fmt.Errorf("%w: more than %d operations", ErrList, maxOps)
		}
		f, err := r.structure("operations", at, int64(n)*l.opSize)
		if err != nil {
			// There may be a stop before the end of the memory.
			n = 1
			if f, err = r.structure("an operation", at, l.opSize); err != nil {
				return next, out, err
			}
		}
		for i := range int64(n) {
			g := fields{r.m, f.b[i*l.opSize:]}
			o := region.Op{
				Tag: region.Tag(g.get(l.tag, 1)), Predicate: int8(g.get(l.qp, 1)), Register: int16(g.get(l.reg, 2)),
				When: int32(g.get(l.when, 4)), Value: g.get(l.val, l.word),
			}
			switch o.Tag {
			case region.TagAdd, region.TagSpillFPRel, region.TagSpillSPRel: // signed
				shift := 64 - 8*uint(l.word)
				o.Value = uint64(int64(o.Value<<shift) >> shift)
			}
			out.Ops = append(out.Ops, o)
			if o.Tag == region.TagStop {
				return next, out, nil
			}
		}
		left -= n
		at += n * uint64(l.opSize)
	}
	return next, out, nil
}

func (r *reader) table(t *region.Table) ([]region.TableEntry, error) {
	const perRead = 1024 / entrySize
	words := uint64(maxEntries * entrySize / r.layout.word)
	n := min(t.Words, words) * uint64(r.layout.word) / entrySize
	if t.Words > words || r.entries+int(n) > maxEntries {
		return nil, fmt.Errorf("%w: a table of %d words, expected at most %d in all", ErrList, t.Words, words)
	}
	var out []region.TableEntry
	for at := t.Address; n > 0; {
		k := min(n, perRead)
		f, err := r.structure("a table", at, int64(k)*entrySize)
		if err != nil {
			return out, err
		}
		r.entries += int(k)
		for i := range int64(k) {
			out = append(out, region.TableEntry{Start: int32(f.get(i*entrySize, 4)), FDE: int32(f.get(i*entrySize+4, 4))})
		}
		n -= k
		at += k * entrySize
	}
	return out, nil
}
