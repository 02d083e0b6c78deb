// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

// Record is one record of a recording. It and everything in it belong to the
// Reader, and hold until the next call of Reader.Next.
type Record struct {
	Type Type
	Misc Misc

	// Offset is where the record begins in the recording, in bytes. Records that
	// were compressed have the offset of the COMPRESSED record that they were in.
	Offset int64

	ID SampleID

	// Body is what the record says: a *Sample, *Mmap (MMAP and MMAP2), *Comm,
	// *Task (FORK and EXIT), *Lost (LOST and LOST_SAMPLES), *Throttle (THROTTLE and
	// UNTHROTTLE), *Read, *Switch (SWITCH and SWITCH_CPU_WIDE), *Namespaces,
	// *Ksymbol, *BPFEvent, *Cgroup, *TextPoke, *Aux, *ItraceStart, *AuxOutputHWID,
	// *Deferred, *ThreadMap, *TimeConv, *AuxtraceInfo or *AuxtraceError. It is nil
	// of a type that has no content or that this package does not know; see Raw.
	Body any

	// Raw is the record as it stands in the recording, with its header of 8 bytes
	// and in the byte order of the recording (Reader.Order).
	Raw []byte

	// Err says why the record could not be read, or not all of it. ID and Body hold
	// what could.
	Err error
}

// SampleID is where and when a record arose: struct sample_id of
// include/uapi/linux/perf_event.h. Of records other than samples it is known only
// where Attribute.SampleIDAll says so; then it stands at their end.
type SampleID struct {
	Fields   SampleType // which of the fields below are known
	PID, TID int32      // FieldTID; -1 where there is no thread. In the PID namespace of perf record
	Time     uint64     // FieldTime: nanoseconds of Header.Clock; else 0
	ID       uint64     // FieldID or FieldIdentifier: of the event
	StreamID uint64     // FieldStreamID
	CPU      uint32     // FieldCPU

	// Attribute is the event that the record is of: an index into
	// Reader.Attributes, or -1 where it is not known.
	Attribute int
}

// Mmap is a mapping that a process made: MMAP or MMAP2. A mapping of a file
// replaces what was mapped at its addresses.
type Mmap struct {
	PID, TID int32 // PID -1: of the kernel
	Start    uint64
	Length   uint64 // bytes
	Offset   uint64 // of Start in the file, bytes; of the kernel's own mapping an address
	Path     []byte // "//anon", "[vdso]", "[heap]", "[kernel.kallsyms]_text", … where it is no file

	// Only of MMAP2. Either the build ID is known (MiscMmapBuildID) or the device
	// and the inode.
	Major, Minor    uint32
	Inode           uint64
	InodeGeneration uint64
	BuildID         []byte // nil where it is not known
	Protection      uint32 // PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4; of MMAP: EXEC unless MiscMmapData
	Flags           uint32 // MAP_SHARED = 1, MAP_PRIVATE = 2, …; of MMAP 0
}

// Comm is the new name of a thread: COMM. An exec has MiscCommExec: the process
// has given up all that was mapped.
type Comm struct {
	PID, TID int32
	Name     []byte
}

// Task is a thread that begins (FORK) or ends (EXIT). A thread begins a process
// of its own where PID and ParentPID differ; it then has its parent's mappings.
type Task struct {
	PID, ParentPID int32
	TID, ParentTID int32
	Time           uint64 // nanoseconds of Header.Clock
}

// Lost is how many records could not be written: LOST, where the buffer was full,
// and LOST_SAMPLES.
type Lost struct {
	ID    uint64 // of the event; of LOST_SAMPLES 0
	Count uint64
}

// Throttle tells that the kernel stops (THROTTLE) or goes on (UNTHROTTLE) to
// sample because there are too many samples.
type Throttle struct {
	Time     uint64 // nanoseconds of Header.Clock
	ID       uint64
	StreamID uint64
}

// Read is the count of an event: READ.
type Read struct {
	PID, TID int32
	Values   ReadValues
}

// Switch is a switch of the context: SWITCH and SWITCH_CPU_WIDE. MiscSwitchOut
// says in which direction.
type Switch struct {
	// Only of SWITCH_CPU_WIDE, else -1: the thread that runs next, or that ran
	// before.
	OtherPID, OtherTID int32
}

// Namespaces are the namespaces that a thread is in: NAMESPACES. The index is
// NamespaceNet and kin.
type Namespaces struct {
	PID, TID int32
	Links    []Namespace
}

// Namespace is one namespace: what stat(2) says of /proc/PID/ns/NAME.
type Namespace struct {
	Device, Inode uint64
}

// Indexes of Namespaces.Links: NET_NS_INDEX and kin.
const (
	NamespaceNet    = 0
	NamespaceUTS    = 1
	NamespaceIPC    = 2
	NamespacePID    = 3
	NamespaceUser   = 4
	NamespaceMount  = 5
	NamespaceCgroup = 6
)

// Ksymbol is a piece of kernel code that comes or goes: KSYMBOL.
type Ksymbol struct {
	Address    uint64
	Length     uint32 // bytes
	Kind       uint16 // PERF_RECORD_KSYMBOL_TYPE_*: 1 BPF, 2 out of line (kprobes, ftrace)
	Unregister bool   // it goes
	Name       []byte
}

// BPFEvent is a BPF program that comes or goes: BPF_EVENT.
type BPFEvent struct {
	Kind  uint16 // PERF_BPF_EVENT_*: 1 PROG_LOAD, 2 PROG_UNLOAD
	Flags uint16
	ID    uint32
	Tag   [8]byte
}

// Cgroup is the path of a control group: CGROUP. Sample.Cgroup refers to it.
type Cgroup struct {
	ID   uint64
	Path []byte
}

// TextPoke is a change of kernel code: TEXT_POKE.
type TextPoke struct {
	Address  uint64
	Old, New []byte
}

// Aux tells of new data in the AUX area: AUX.
type Aux struct {
	Offset, Size uint64 // bytes
	Flags        uint64 // PERF_AUX_FLAG_*
}

// ItraceStart tells that tracing of instructions begins: ITRACE_START.
type ItraceStart struct {
	PID, TID int32
}

// AuxOutputHWID is the number that hardware gives an event in the AUX area:
// AUX_OUTPUT_HW_ID.
type AuxOutputHWID struct {
	HWID uint64
}

// Deferred is the user part of the call chain of samples before it on the same
// thread, whose chain ends with ContextUserDeferred and the same cookie:
// CALLCHAIN_DEFERRED.
type Deferred struct {
	Cookie    uint64
	Callchain []uint64
}

// ThreadMap lists the threads that were recorded: THREAD_MAP.
type ThreadMap struct {
	Threads []Thread
}

// Thread is a thread of a ThreadMap.
type Thread struct {
	TID  uint64
	Comm []byte // may be empty
}

// TimeConv says how the processor's time stamp counter makes the time: TIME_CONV.
type TimeConv struct {
	Shift, Mult, Zero uint64
	Cycles, Mask      uint64 // 0 where the recording has none
	CapUserTimeZero   bool
	CapUserTimeShort  bool
}

// AuxtraceInfo tells what kind of trace the AUX area holds: AUXTRACE_INFO.
type AuxtraceInfo struct {
	Kind uint32
}

// AuxtraceError is an error that perf found in a trace: AUXTRACE_ERROR.
type AuxtraceError struct {
	Kind, Code uint32
	CPU        uint32
	PID, TID   int32
	IP         uint64
	Time       uint64 // 0 where the recording has none
	Message    []byte
}
