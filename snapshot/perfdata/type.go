// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"strconv"
)

// Type is the type of a record: perf_event_header.type. Types below 64 are the kernel's
// (enum perf_event_type of include/uapi/linux/perf_event.h), the others perf's (enum
// perf_user_event_type of tools/lib/perf/include/perf/event.h).
type Type uint32

const (
	TypeMmap              Type = 1
	TypeLost              Type = 2
	TypeComm              Type = 3
	TypeExit              Type = 4
	TypeThrottle          Type = 5
	TypeUnthrottle        Type = 6
	TypeFork              Type = 7
	TypeRead              Type = 8
	TypeSample            Type = 9
	TypeMmap2             Type = 10
	TypeAux               Type = 11
	TypeItraceStart       Type = 12
	TypeLostSamples       Type = 13
	TypeSwitch            Type = 14
	TypeSwitchCPUWide     Type = 15
	TypeNamespaces        Type = 16
	TypeKsymbol           Type = 17
	TypeBPFEvent          Type = 18
	TypeCgroup            Type = 19
	TypeTextPoke          Type = 20
	TypeAuxOutputHWID     Type = 21
	TypeCallchainDeferred Type = 22

	TypeHeaderAttr        Type = 64
	TypeHeaderEventType   Type = 65
	TypeHeaderTracingData Type = 66
	TypeHeaderBuildID     Type = 67
	TypeFinishedRound     Type = 68
	TypeIDIndex           Type = 69
	TypeAuxtraceInfo      Type = 70
	TypeAuxtrace          Type = 71
	TypeAuxtraceError     Type = 72
	TypeThreadMap         Type = 73
	TypeCPUMap            Type = 74
	TypeStatConfig        Type = 75
	TypeStat              Type = 76
	TypeStatRound         Type = 77
	TypeEventUpdate       Type = 78
	TypeTimeConv          Type = 79
	TypeHeaderFeature     Type = 80
	TypeCompressed        Type = 81
	TypeFinishedInit      Type = 82
	TypeCompressed2       Type = 83
	TypeBPFMetadata       Type = 84
	TypeSchedstatCPU      Type = 85
	TypeSchedstatDomain   Type = 86
)

// firstOfPerf is the lowest type that perf writes and not the kernel
// (PERF_RECORD_USER_TYPE_START).
const firstOfPerf Type = 64

var typeNames = [...]string{
	TypeMmap: "MMAP", TypeLost: "LOST", TypeComm: "COMM", TypeExit: "EXIT",
	TypeThrottle: "THROTTLE", TypeUnthrottle: "UNTHROTTLE", TypeFork: "FORK",
	TypeRead: "READ", TypeSample: "SAMPLE", TypeMmap2: "MMAP2", TypeAux: "AUX",
	TypeItraceStart: "ITRACE_START", TypeLostSamples: "LOST_SAMPLES",
	TypeSwitch: "SWITCH", TypeSwitchCPUWide: "SWITCH_CPU_WIDE",
	TypeNamespaces: "NAMESPACES", TypeKsymbol: "KSYMBOL", TypeBPFEvent: "BPF_EVENT",
	TypeCgroup: "CGROUP", TypeTextPoke: "TEXT_POKE",
	TypeAuxOutputHWID: "AUX_OUTPUT_HW_ID", TypeCallchainDeferred: "CALLCHAIN_DEFERRED",
	TypeHeaderAttr: "HEADER_ATTR", TypeHeaderEventType: "HEADER_EVENT_TYPE",
	TypeHeaderTracingData: "HEADER_TRACING_DATA", TypeHeaderBuildID: "HEADER_BUILD_ID",
	TypeFinishedRound: "FINISHED_ROUND", TypeIDIndex: "ID_INDEX",
	TypeAuxtraceInfo: "AUXTRACE_INFO", TypeAuxtrace: "AUXTRACE",
	TypeAuxtraceError: "AUXTRACE_ERROR", TypeThreadMap: "THREAD_MAP",
	TypeCPUMap: "CPU_MAP", TypeStatConfig: "STAT_CONFIG", TypeStat: "STAT",
	TypeStatRound: "STAT_ROUND", TypeEventUpdate: "EVENT_UPDATE",
	TypeTimeConv: "TIME_CONV", TypeHeaderFeature: "FEATURE",
	TypeCompressed: "COMPRESSED", TypeFinishedInit: "FINISHED_INIT",
	TypeCompressed2: "COMPRESSED2", TypeBPFMetadata: "BPF_METADATA",
	TypeSchedstatCPU: "SCHEDSTAT_CPU", TypeSchedstatDomain: "SCHEDSTAT_DOMAIN",
}

// String returns perf's name without PERF_RECORD_, or the number of a type without a
// name.
func (t Type) String() string {
	if uint64(t) < uint64(len(typeNames)) && typeNames[t] != "" {
		return typeNames[t]
	}
	return strconv.FormatUint(uint64(t), 10)
}

// known reports whether this package knows the type.
func (t Type) known() bool {
	return t >= TypeMmap && t <= TypeCallchainDeferred || t >= TypeHeaderAttr && t <= TypeSchedstatDomain
}

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
	MiscExactIP             Misc = 1 << 14 // SAMPLE: IP is the instruction that caused the event
	MiscSwitchOutPreempt    Misc = 1 << 14 // SWITCH, SWITCH_CPU_WIDE: the thread was runnable
	MiscMmapBuildID         Misc = 1 << 14 // MMAP2: with a build ID instead of the inode
	MiscBuildIDSize         Misc = 1 << 15 // HEADER_BUILD_ID: with the size of the build ID
)
