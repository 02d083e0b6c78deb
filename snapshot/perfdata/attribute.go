// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// Attribute is one event that was recorded: struct perf_event_attr of
// include/uapi/linux/perf_event.h, and its name and IDs from the header.
type Attribute struct {
	// Name is perf's name: "cycles:u", "cpu-clock". If the recording has no names, it is
	// the name in perf's list for Kind and Config, or "".
	Name string
	IDs  []uint64 // of the event, one for each processor or thread

	Kind             uint32 // perf_event_attr.type: 0 hardware, 1 software, 2 tracepoint, 3 cache, 4 raw, 5 breakpoint, else of a PMU
	Config           uint64
	Period           uint64 // events per sample; with FlagFrequency, samples per second
	SampleType       SampleType
	ReadFormat       uint64 // PERF_FORMAT_*
	Flags            AttributeFlags
	BranchSampleType uint64 // PERF_SAMPLE_BRANCH_*
	RegsUser         uint64 // registers of Sample.UserRegs
	ClockID          int32  // number for clock_gettime(2); valid with FlagUseClockID
}

// AttributeFlags are the bit fields of a perf_event_attr. The first one is bit 0 on
// machines of either byte order.
type AttributeFlags uint64

// Some of the flags; include/uapi/linux/perf_event.h has all.
const (
	FlagFrequency   AttributeFlags = 1 << 10 // Period is a frequency
	FlagPreciseIP   AttributeFlags = 3 << 15 // two bits: the precision of Sample.IP
	FlagSampleIDAll AttributeFlags = 1 << 18 // records other than samples have a SampleID
	FlagUseClockID  AttributeFlags = 1 << 25
)

// minAttribute is the size of the first version of perf_event_attr
// (PERF_ATTR_SIZE_VER0).
const minAttribute = 64

// parseAttribute reads a perf_event_attr, which fills b. Its size grew over time: fields
// that b lacks are zero, and fields that it has beyond are unknown.
func parseAttribute(b []byte, big bool) Attribute {
	c := cursor{b: b, big: big}
	var a Attribute
	a.Kind = c.u32()
	c.u32() // size
	a.Config = c.u64()
	a.Period = c.u64()
	a.SampleType = SampleType(c.u64())
	a.ReadFormat = c.u64()
	a.Flags = attributeFlags(c.u64(), big)
	c.skip(8 + 16) // wakeup_events, bp_type, config1, config2
	a.BranchSampleType = c.u64()
	a.RegsUser = c.u64()
	c.u32() // sample_stack_user
	a.ClockID = int32(c.u32())
	return a
}

// attributeFlags converts bit fields to the order of little-endian machines. On
// big-endian ones the first field has the highest bit.
func attributeFlags(v uint64, big bool) AttributeFlags {
	if !big {
		return AttributeFlags(v)
	}
	v = bits.Reverse64(v)
	// precise_ip is a number of two bits.
	precise := v >> 15 & 3
	precise = precise>>1 | precise&1<<1
	return AttributeFlags(v&^uint64(FlagPreciseIP) | precise<<15)
}

// layout holds the offsets of fields that are read before a record is decoded, in bytes,
// or -1 if the record lacks the field.
type layout struct {
	id, time    int // in a sample, after its header
	idEnd       int // in other records, from their end
	timeEnd     int // the same
	trailerSize int // of the SampleID of other records
}

func (a *Attribute) layout() layout {
	at := func(field SampleType, before ...SampleType) int {
		if a.SampleType&field == 0 {
			return -1
		}
		n := 0
		for _, f := range before {
			if a.SampleType&f != 0 {
				n += 8
			}
		}
		return n
	}
	l := layout{
		id:      at(FieldID, FieldIdentifier, FieldIP, FieldTID, FieldTime, FieldAddr),
		time:    at(FieldTime, FieldIdentifier, FieldIP, FieldTID),
		idEnd:   -1,
		timeEnd: -1,
	}
	if a.SampleType&FieldIdentifier != 0 {
		l.id = 0
	}
	if a.Flags&FlagSampleIDAll == 0 {
		return l
	}
	l.trailerSize = 8 * bits.OnesCount64(uint64(a.SampleType&trailerFields))
	l.idEnd = at(FieldID, FieldID, FieldStreamID, FieldCPU, FieldIdentifier)
	l.timeEnd = at(FieldTime, FieldTime, FieldID, FieldStreamID, FieldCPU, FieldIdentifier)
	if a.SampleType&FieldIdentifier != 0 {
		l.idEnd = 8
	}
	return l
}

// Names of events of kinds 0 and 1: tools/perf/util/evsel.c.
var (
	hardwareNames = []string{
		"cycles", "instructions", "cache-references", "cache-misses", "branches",
		"branch-misses", "bus-cycles", "stalled-cycles-frontend",
		"stalled-cycles-backend", "ref-cycles",
	}
	softwareNames = []string{
		"cpu-clock", "task-clock", "page-faults", "context-switches",
		"cpu-migrations", "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy", "bpf-output", "cgroup-switches",
	}
)

// usualName returns perf's name of an event, or "".
func (a *Attribute) usualName() string {
	names := hardwareNames
	switch a.Kind {
	case 0:
	case 1:
		names = softwareNames
	default:
		return ""
	}
	if a.Config >= uint64(len(names)) {
		return ""
	}
	return names[a.Config]
}

// otherNames are perf's other names of some events: tools/perf/util/parse-events.c.
var otherNames = map[string]string{
	"cpu-cycles": "cycles", "branch-instructions": "branches",
	"idle-cycles-frontend": "stalled-cycles-frontend", "idle-cycles-backend": "stalled-cycles-backend",
	"faults": "page-faults", "cs": "context-switches", "migrations": "cpu-migrations",
}

// Parts of the names of cache events, as L1-dcache-load-misses: perf_event_open(2), PERF_TYPE_HW_CACHE.
var (
	caches        = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	cacheAccesses = []string{"loads", "stores", "prefetches"}
	cacheMisses   = []string{"load-misses", "store-misses", "prefetch-misses"}
)

// EventByName returns the Kind and the Config of the hardware, software or cache event that perf
// calls name.
func EventByName(name string) (kind uint32, config uint64, ok bool) {
	name = cmp.Or(otherNames[name], name)
	for kind, names := range [][]string{hardwareNames, softwareNames} {
		if i := slices.Index(names, name); i >= 0 {
			return uint32(kind), uint64(i), true
		}
	}
	for i, cache := range caches {
		if event, found := strings.CutPrefix(name, cache+"-"); found {
			for result, names := range [][]string{cacheAccesses, cacheMisses} {
				if operation := slices.Index(names, event); operation >= 0 {
					return 3, uint64(i | operation<<8 | result<<16), true
				}
			}
		}
	}
	return 0, 0, false
}
