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

	// Body is the content of the record: a *Sample, *Mmap (MMAP and MMAP2), *Comm,
	// *Task (FORK and EXIT), *Lost (LOST and LOST_SAMPLES), *Throttle (THROTTLE and
	// UNTHROTTLE), *Read, *Switch (SWITCH and SWITCH_CPU_WIDE), *Namespaces,
	// *Ksymbol, *BPFEvent, *Cgroup, *Deferred or *ThreadMap. It is nil for other
	// types, such as those of the AUX area; see Raw.
	Body any

	// Raw is the whole record with its header of 8 bytes, in the byte order of the
	// recording (Reader.Order).
	Raw []byte

	// Err is the reason why the record could not be read completely. ID and Body hold
	// the parts that were read.
	Err error
}

// SampleID is the place and time of a record: struct sample_id of
// include/uapi/linux/perf_event.h. Records other than samples have one only if the
// event has FlagSampleIDAll.
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
