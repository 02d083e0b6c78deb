// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"debug/elf"
	"fmt"
	"time"

	"github.com/clewdev/clew/arch"
)

// feature is a section of the header: HEADER_* of tools/perf/util/header.h.
type feature int

const (
	featureBuildID     feature = 2
	featureHostname    feature = 3
	featureOSRelease   feature = 4
	featureArch        feature = 6
	featureCommandLine feature = 11
	featureEventDesc   feature = 12
	featureClockData   feature = 29

	features = 256
)

// decoded has the bits of the sections that Reader.feature reads.
const decoded = 1<<featureBuildID | 1<<featureHostname | 1<<featureOSRelease | 1<<featureArch |
	1<<featureCommandLine | 1<<featureEventDesc | 1<<featureClockData

// Limits on the parts of a header that a Reader keeps. A stream can have any number of
// records that replace parts of the header.
const (
	maxListed      = 1 << 16 // entries of a list
	maxBuildIDs    = 1 << 17
	maxBuildIDText = 16 << 20 // bytes of their paths
	maxEvents      = 1 << 14
	maxEventIDs    = 1 << 20 // one for each event on each processor
	maxName        = 1 << 12 // bytes of an event's name
)

// fits reports whether a list of n entries may have one more. If not, it sets
// Header.Damage.
func (r *Reader) fits(n, most int, entries string) bool {
	if n >= most && r.header.Damage == nil {
		r.header.Damage = fmt.Errorf("the header has more than %d %s; only these are read", most, entries)
	}
	return n < most
}

// feature reads a section of the header. It reads the existing part of a truncated
// section.
func (r *Reader) feature(f feature, b []byte) {
	h := &r.header
	c := cursor{b: b, big: r.big}
	switch f {
	case featureBuildID:
		for len(c.b) >= headerSize {
			c.u32()
			misc := Misc(c.u16())
			size := c.u16()
			if size < headerSize {
				return
			}
			r.buildID(misc, c.bytes(uint64(size)-headerSize))
		}
	case featureHostname:
		h.Hostname = c.str()
	case featureOSRelease:
		h.OSRelease = c.str()
	case featureArch:
		order := elf.ELFDATA2LSB // the name need not imply it
		if r.big {
			order = elf.ELFDATA2MSB
		}
		r.machine = arch.LookupUname(c.str(), order)
	case featureCommandLine:
		h.CommandLine = nil
		for n := c.u32(); n > 0 && len(c.b) > 0 && r.fits(len(h.CommandLine), maxListed, "arguments"); n-- {
			h.CommandLine = append(h.CommandLine, c.str())
		}
	case featureEventDesc:
		r.eventDesc(&c)
	case featureClockData:
		c.u32() // version
		id, wall, now := int32(c.u32()), c.u64(), c.u64()
		if !c.failed {
			h.Clock.ID = id
			h.Clock.Wall = time.Unix(int64(wall/1e9), int64(wall%1e9))
			h.Clock.Time = now
		}
	}
}

// eventDesc reads the names of events.
func (r *Reader) eventDesc(c *cursor) {
	n, size := c.u32(), c.u32()
	for i := 0; i < int(n) && len(c.b) > 0; i++ {
		c.bytes(uint64(size))
		ids := c.u32()
		name := c.str()
		b := c.bytes(8 * uint64(ids))
		if c.failed {
			return
		}
		// Events have the order of the attributes, but perf inject may have removed some.
		index := i
		if ids > 0 {
			first := cursor{b: b, big: r.big}
			if k, ok := r.ids[first.u64()]; ok {
				index = int(k)
			}
		}
		if index < len(r.attributes) && name != "" {
			r.attributes[index].Name = name
		}
	}
}

// buildID reads struct perf_record_header_build_id after its header: the process, 20
// bytes of a build ID, its size, three reserved bytes, and the path.
func (r *Reader) buildID(misc Misc, b []byte) {
	c := cursor{b: b, big: r.big}
	pid := int32(c.u32())
	id := c.bytes(24)
	if c.failed {
		return
	}
	size := byte(20)
	if misc&MiscBuildIDSize != 0 && id[20] > 0 && id[20] < size {
		size = id[20]
	}
	path := c.text()
	if !r.fits(len(r.buildIDs), maxBuildIDs, "build IDs") || !r.fits(r.buildIDText+len(path), maxBuildIDText+1, "bytes of paths with build IDs") {
		return
	}
	r.buildIDText += len(path)
	r.buildIDs = append(r.buildIDs, BuildID{PID: pid, Mode: misc.Mode(), ID: append([]byte(nil), id[:size]...), Path: string(path)})
}

// attribute adds an event and its IDs, which are words of 64 bits.
func (r *Reader) attribute(b []byte, ids []byte) error {
	if len(r.attributes) >= maxEvents {
		return fmt.Errorf("more than %d events", maxEvents)
	}
	if r.eventIDs += len(ids) / 8; r.eventIDs > maxEventIDs {
		return fmt.Errorf("more than %d IDs of events", maxEventIDs)
	}
	a := parseAttribute(b, r.big)
	a.Name = a.usualName()
	c := cursor{b: ids, big: r.big}
	a.IDs = c.words(make([]uint64, 0, len(ids)/8), uint64(len(ids)/8))
	index := int32(len(r.attributes))
	for _, id := range a.IDs {
		r.ids[id] = index
	}
	if a.Flags&FlagUseClockID != 0 {
		r.header.Clock.ID = a.ClockID
	}
	r.attributes = append(r.attributes, a)
	r.layouts = append(r.layouts, a.layout())
	r.lastID, r.lastAttribute = 0, 0
	return nil
}

// updateName is the kind of EVENT_UPDATE with a name: PERF_EVENT_UPDATE__NAME.
const updateName = 2

func shortName(text []byte) string { return string(text[:min(len(text), maxName)]) }

// update applies a record that replaces a part of the header.
func (r *Reader) update(t Type, misc Misc, payload []byte) error {
	c := cursor{b: payload, big: r.big}
	switch t {
	case TypeHeaderAttr:
		c.u32()
		size := uint64(c.u32())
		if size == 0 {
			size = minAttribute // of the first version, which lacks it
		}
		if c.failed || size < minAttribute || size > uint64(len(payload)) {
			return fmt.Errorf("size of the event is %d, which must be from %d to %d", size, minAttribute, len(payload))
		}
		return r.attribute(payload[:size], payload[size:])
	case TypeHeaderEventType:
		config := c.u64()
		name := shortName(c.text())
		for i := range r.attributes {
			if a := &r.attributes[i]; a.Config == config && name != "" {
				a.Name = name
			}
		}
	case TypeHeaderBuildID:
		r.buildID(misc, payload)
	case TypeHeaderFeature:
		f := c.u64()
		if c.failed {
			return errShort
		}
		if f < features {
			r.feature(feature(f), c.b)
		}
	case TypeEventUpdate:
		kind, id := c.u64(), c.u64()
		i, ok := r.ids[id]
		if !ok || c.failed {
			return fmt.Errorf("no event has the ID %d", id)
		}
		if kind == updateName {
			r.attributes[i].Name = shortName(c.text())
		}
	}
	return nil
}

// Header describes a recording and the machine that it was made on. A field is zero if
// the recording lacks it.
type Header struct {
	Hostname    string
	OSRelease   string   // of the kernel: uname -r
	CommandLine []string // of perf record
	Clock       Clock

	// Damage names a list of the header that is longer than the part that was read. It is
	// nil if all lists are complete.
	Damage error
}

// Clock is the clock of the times of records.
type Clock struct {
	// ID is the clock's number for clock_gettime(2). It is 1 for CLOCK_MONOTONIC, which
	// jitdumps need, and -1 for perf's own, which perf record uses without -k.
	ID int32

	// Wall and Time are the same moment, by the wall clock and by ID. Wall is zero if it is
	// not known.
	Wall time.Time
	Time uint64 // nanoseconds
}

// BuildID is the build ID of a file that was mapped or contains addresses of samples.
type BuildID struct {
	PID  int32  // -1: of the host
	Mode Mode   // ModeKernel: of the kernel or of a module
	Path string // "[kernel.kallsyms]" or "[vdso]" if it is not a file
	ID   []byte
}
