// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

// Attribute is one event that was recorded: struct perf_event_attr of
// include/uapi/linux/perf_event.h, with what the recording says of it elsewhere.
type Attribute struct {
	// Name is as perf prints it: "cycles:u", "cpu-clock". Where the recording has
	// no names, that of perf's list for Kind and Config, or "".
	Name string
	IDs  []uint64 // of the event, one for each processor or thread
	Unit string   // "" where it is not told
	// Scale is what counts are to be multiplied with to be of Unit; 1 where it is
	// not told.
	Scale float64

	Kind             uint32 // perf_event_attr.type: 0 hardware, 1 software, 2 tracepoint, 3 cache, 4 raw, 5 breakpoint, else of a PMU
	Config           uint64
	Config1, Config2 uint64
	Period           uint64 // events per sample; with Frequency, samples per second
	SampleType       SampleType
	ReadFormat       uint64 // PERF_FORMAT_*
	Flags            AttributeFlags
	BreakpointType   uint32
	BranchSampleType uint64 // PERF_SAMPLE_BRANCH_*
	RegsUser         uint64 // registers of Sample.UserRegs
	RegsIntr         uint64 // registers of Sample.IntrRegs
	StackUser        uint32 // bytes that Sample.UserStack is asked for
	ClockID          int32  // as clock_gettime(2) has it; valid with FlagUseClockID
	MaxStack         uint16 // frames of a call chain; 0: the system's limit
	AuxSampleSize    uint32 // bytes
}

// AttributeFlags are the bits of a perf_event_attr, the first being bit 0 on
// machines of either byte order.
type AttributeFlags uint64

const (
	FlagDisabled       AttributeFlags = 1 << 0
	FlagInherit        AttributeFlags = 1 << 1
	FlagExcludeUser    AttributeFlags = 1 << 4
	FlagExcludeKernel  AttributeFlags = 1 << 5
	FlagMmap           AttributeFlags = 1 << 8
	FlagComm           AttributeFlags = 1 << 9
	FlagFrequency      AttributeFlags = 1 << 10
	FlagTask           AttributeFlags = 1 << 13
	FlagPreciseIP      AttributeFlags = 3 << 15 // two bits: how exact Sample.IP is
	FlagMmapData       AttributeFlags = 1 << 17
	FlagSampleIDAll    AttributeFlags = 1 << 18
	FlagMmap2          AttributeFlags = 1 << 23
	FlagCommExec       AttributeFlags = 1 << 24
	FlagUseClockID     AttributeFlags = 1 << 25
	FlagContextSwitch  AttributeFlags = 1 << 26
	FlagNamespaces     AttributeFlags = 1 << 28
	FlagKsymbol        AttributeFlags = 1 << 29
	FlagBPFEvent       AttributeFlags = 1 << 30
	FlagCgroup         AttributeFlags = 1 << 32
	FlagTextPoke       AttributeFlags = 1 << 33
	FlagBuildID        AttributeFlags = 1 << 34
	FlagDeferCallchain AttributeFlags = 1 << 38
	FlagDeferOutput    AttributeFlags = 1 << 39
)

// Frequency says that Period is a frequency.
func (a *Attribute) Frequency() bool { return a.Flags&FlagFrequency != 0 }

// SampleIDAll says that records other than samples have a SampleID.
func (a *Attribute) SampleIDAll() bool { return a.Flags&FlagSampleIDAll != 0 }
