// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

// Record is one record of a recording. It belongs to the Reader with all its contents,
// and is valid until the next call of Reader.Next.
type Record struct {
	Type Type
	Misc Misc

	// Offset is the offset of the record in the recording, in bytes. A record that was
	// compressed has the offset of its COMPRESSED record.
	Offset int64

	ID SampleID

	// Body is the content of the record: a *Sample, *Mmap (MMAP and MMAP2), *Comm,
	// *Task (FORK and EXIT), *Lost (LOST and LOST_SAMPLES), *Namespaces, *Ksymbol or
	// *Deferred. It is nil for other types; see Raw.
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
	Fields   SampleType // the fields below that are known
	PID, TID int32      // FieldTID; -1 if there is no thread. In the PID namespace of perf record
	Time     uint64     // FieldTime: nanoseconds of Header.Clock, otherwise 0
	ID       uint64     // FieldID or FieldIdentifier: of the event
	StreamID uint64     // FieldStreamID
	CPU      uint32     // FieldCPU

	// Attribute is the record's event: an index into Reader.Attributes, or -1 if it is not
	// known.
	Attribute int
}

// Mmap is a mapping that a process made: MMAP or MMAP2. A mapping of a file
// replaces earlier mappings at its addresses.
type Mmap struct {
	PID, TID int32 // PID -1: of the kernel
	Start    uint64
	Length   uint64 // bytes
	Offset   uint64 // of Start in the file, in bytes; for the kernel's own mapping an address
	Path     []byte // "//anon", "[vdso]", "[heap]", "[kernel.kallsyms]_text", … if it is not a file

	// Only in MMAP2. Either the build ID is known (MiscMmapBuildID) or the device
	// and the inode.
	Major, Minor    uint32
	Inode           uint64
	InodeGeneration uint64
	BuildID         []byte // nil if it is not known
	Protection      uint32 // PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4; in MMAP EXEC unless MiscMmapData is set
	Flags           uint32 // MAP_SHARED = 1, MAP_PRIVATE = 2, …; 0 in MMAP
}

// Comm is the new name of a thread: COMM. An exec has MiscCommExec, and removes all
// mappings of the process.
type Comm struct {
	PID, TID int32
	Name     []byte
}

// Task is the start (FORK) or end (EXIT) of a thread. If PID and ParentPID differ, the
// thread starts a process, which has its parent's mappings.
type Task struct {
	PID, ParentPID int32
	TID, ParentTID int32
	Time           uint64 // nanoseconds of Header.Clock
}

// Lost is the number of records that could not be written: LOST, because the buffer was
// full, and LOST_SAMPLES.
type Lost struct {
	ID    uint64 // of the event; 0 in LOST_SAMPLES
	Count uint64
}

// Namespaces are the namespaces of a thread: NAMESPACES.
type Namespaces struct {
	PID, TID int32
	Links    []Namespace
}

// Namespace identifies a namespace by the results of stat(2) for /proc/PID/ns/NAME.
type Namespace struct {
	Device, Inode uint64
}

// NamespaceMount is the index of the mount namespace in Namespaces.Links: MNT_NS_INDEX.
const NamespaceMount = 5

// Ksymbol is kernel code that is added or removed: KSYMBOL.
type Ksymbol struct {
	Address    uint64
	Length     uint32 // bytes
	Kind       uint16 // PERF_RECORD_KSYMBOL_TYPE_*: 1 BPF, 2 out of line (kprobes, ftrace)
	Unregister bool   // it is removed
	Name       []byte
}

// Deferred is the user part of call chains: CALLCHAIN_DEFERRED. It belongs to earlier
// samples of the same thread with chains that end with ContextUserDeferred and the same
// cookie.
type Deferred struct {
	Cookie    uint64
	Callchain []uint64
}
