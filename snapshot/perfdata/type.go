// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import "strconv"

// Type is the type of a record: perf_event_header.type. Types below 64 are the kernel's
// (enum perf_event_type of include/uapi/linux/perf_event.h), the others perf's (enum
// perf_user_event_type of tools/lib/perf/include/perf/event.h).
type Type uint32

// The types that this package reads, and some others.
const (
	TypeMmap              Type = 1
	TypeLost              Type = 2
	TypeComm              Type = 3
	TypeExit              Type = 4
	TypeFork              Type = 7
	TypeSample            Type = 9
	TypeMmap2             Type = 10
	TypeLostSamples       Type = 13
	TypeSwitch            Type = 14
	TypeSwitchCPUWide     Type = 15
	TypeNamespaces        Type = 16
	TypeKsymbol           Type = 17
	TypeCallchainDeferred Type = 22

	TypeHeaderAttr        Type = 64
	TypeHeaderEventType   Type = 65
	TypeHeaderTracingData Type = 66
	TypeHeaderBuildID     Type = 67
	TypeFinishedRound     Type = 68
	TypeAuxtrace          Type = 71
	TypeEventUpdate       Type = 78
	TypeHeaderFeature     Type = 80
	TypeCompressed        Type = 81
	TypeCompressed2       Type = 83
)

// firstOfPerf is the lowest type that perf writes and not the kernel
// (PERF_RECORD_USER_TYPE_START).
const firstOfPerf Type = 64

// typeNames are the names of the types, in order.
var typeNames = [...]string{
	TypeMmap: "MMAP", "LOST", "COMM", "EXIT", "THROTTLE", "UNTHROTTLE", "FORK", "READ", "SAMPLE",
	"MMAP2", "AUX", "ITRACE_START", "LOST_SAMPLES", "SWITCH", "SWITCH_CPU_WIDE", "NAMESPACES",
	"KSYMBOL", "BPF_EVENT", "CGROUP", "TEXT_POKE", "AUX_OUTPUT_HW_ID", "CALLCHAIN_DEFERRED",

	firstOfPerf: "HEADER_ATTR", "HEADER_EVENT_TYPE", "HEADER_TRACING_DATA", "HEADER_BUILD_ID",
	"FINISHED_ROUND", "ID_INDEX", "AUXTRACE_INFO", "AUXTRACE", "AUXTRACE_ERROR", "THREAD_MAP",
	"CPU_MAP", "STAT_CONFIG", "STAT", "STAT_ROUND", "EVENT_UPDATE", "TIME_CONV", "FEATURE",
	"COMPRESSED", "FINISHED_INIT", "COMPRESSED2", "BPF_METADATA", "SCHEDSTAT_CPU",
	"SCHEDSTAT_DOMAIN",
}

// String returns perf's name without PERF_RECORD_, or the number of a type without a
// name.
func (t Type) String() string {
	if t.known() {
		return typeNames[t]
	}
	return strconv.FormatUint(uint64(t), 10)
}

// known reports whether the type has a name.
func (t Type) known() bool { return uint64(t) < uint64(len(typeNames)) && typeNames[t] != "" }

// Misc is perf_event_header.misc: the mode of the processor, and bits with a meaning that
// depends on the type of the record.
type Misc uint16

// Mode is the mode of the processor.
type Mode uint8

// The modes of the processor: PERF_RECORD_MISC_KERNEL and others.
const (
	ModeUnknown     Mode = 0
	ModeKernel      Mode = 1
	ModeUser        Mode = 2
	ModeHypervisor  Mode = 3
	ModeGuestKernel Mode = 4
	ModeGuestUser   Mode = 5
)

// Mode returns the mode of the processor at a sample, or the owner of a mapping.
func (m Misc) Mode() Mode { return Mode(m & 7) }

// The bits of a Misc: PERF_RECORD_MISC_*.
const (
	MiscProcMapParseTimeout Misc = 1 << 12 // MMAP2: perf gave up reading /proc/PID/maps
	MiscMmapData            Misc = 1 << 13 // MMAP, MMAP2: not executable
	MiscCommExec            Misc = 1 << 13 // COMM: by an exec
	MiscForkExec            Misc = 1 << 13 // FORK: made up by perf
	MiscSwitchOut           Misc = 1 << 13 // SWITCH, SWITCH_CPU_WIDE: away from the thread
	MiscSwitchOutPreempt    Misc = 1 << 14 // SWITCH, SWITCH_CPU_WIDE: the thread was runnable
	MiscMmapBuildID         Misc = 1 << 14 // MMAP2: with a build ID instead of the inode
	MiscBuildIDSize         Misc = 1 << 15 // HEADER_BUILD_ID: with the size of the build ID
)
