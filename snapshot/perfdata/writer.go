// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// Writer writes a recording as a stream, as perf record -o - does, in the byte
// order of this machine. Start comes first. Kernel and Round write what the kernel's buffers
// contain; Comm and Mmap describe what existed before, or with Time and the other methods what
// another source than the kernel's buffers knows. The error of a failed write is returned by all
// later calls. A Writer is not safe for concurrent use.
type Writer struct {
	// Time is that of the records that Comm, Exec, Mmap and Exit write, 0 for what existed before
	// the recording.
	Time uint64

	w          io.Writer
	sampleType SampleType
	buf        []byte
	err        error
}

// o is the byte order that a Writer writes.
var o = binary.NativeEndian

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Start writes the header: the event's perf_event_attr in the form of the kernel, its name and
// one of its IDs, the name of the machine (uname -m), and the fields of h except Damage.
func (w *Writer) Start(h *Header, machine, event string, id uint64, attr []byte) error {
	w.sampleType = parseAttribute(attr, o.Uint16([]byte{0, 1}) == 1).SampleType
	w.buf = o.AppendUint64(w.buf[:0], binary.LittleEndian.Uint64([]byte(magicLittle)))
	w.buf = o.AppendUint64(w.buf, magicSize)
	w.write()
	w.Event(event, id, attr)
	w.feature(featureHostname, h.Hostname)
	w.feature(featureOSRelease, h.OSRelease)
	w.feature(featureArch, machine)
	w.recordFeature(featureCommandLine, func(b []byte) []byte {
		b = o.AppendUint32(b, uint32(len(h.CommandLine)))
		for _, s := range h.CommandLine {
			b = w.text(b, s)
		}
		return b
	})
	w.recordFeature(featureClockData, func(b []byte) []byte {
		b = o.AppendUint32(o.AppendUint32(b, 1), uint32(h.Clock.ID))
		return o.AppendUint64(o.AppendUint64(b, uint64(h.Clock.Wall.UnixNano())), h.Clock.Time)
	})
	return w.err
}

// Event writes another event. Its samples must have the same fields as those of the first one.
func (w *Writer) Event(event string, id uint64, attr []byte) error {
	w.record(TypeHeaderAttr, 0, func(b []byte) []byte { return o.AppendUint64(append(b, attr...), id) })
	return w.record(TypeEventUpdate, 0, func(b []byte) []byte {
		return appendText(o.AppendUint64(o.AppendUint64(b, updateName), id), []byte(event))
	})
}

// Comm writes the name of a thread.
func (w *Writer) Comm(c *Comm) error { return w.comm(c, 0) }

// Exec writes that a process executed a program, with its new name.
func (w *Writer) Exec(c *Comm) error { return w.comm(c, MiscCommExec) }

func (w *Writer) comm(c *Comm, misc Misc) error {
	return w.record(TypeComm, misc, func(b []byte) []byte {
		b = o.AppendUint32(b, uint32(c.PID))
		b = o.AppendUint32(b, uint32(c.TID))
		return w.trailer(appendText(b, c.Name), c.PID, c.TID)
	})
}

// Exit writes that a thread has ended.
func (w *Writer) Exit(pid, tid int32) error {
	return w.record(TypeExit, 0, func(b []byte) []byte {
		for _, id := range [...]int32{pid, pid, tid, tid} {
			b = o.AppendUint32(b, uint32(id))
		}
		return w.trailer(o.AppendUint64(b, w.Time), pid, tid)
	})
}

// writable are the fields that Sample writes.
const writable = FieldIP | FieldTID | FieldTime | FieldCPU | FieldPeriod | FieldCallchain | FieldUserRegs | FieldUserStack | FieldIdentifier

// Sample writes a sample of a thread in user mode, with the fields that the event has: any of IP,
// TID, TIME, CPU, PERIOD, CALLCHAIN, REGS_USER, STACK_USER and IDENTIFIER. The set of UserRegs is
// that of the event, and UserStack has a whole number of words.
func (w *Writer) Sample(id *SampleID, s *Sample) error {
	if w.sampleType&^writable != 0 {
		return fmt.Errorf("samples with the fields %#x cannot be written", uint64(w.sampleType&^writable))
	}
	return w.record(TypeSample, Misc(ModeUser), func(b []byte) []byte {
		for _, f := range [...]struct {
			field SampleType
			value uint64
		}{{FieldIdentifier, id.ID}, {FieldIP, s.IP}, {FieldTID, 0}, {FieldTime, id.Time}, {FieldCPU, uint64(id.CPU)}, {FieldPeriod, s.Period}} {
			switch {
			case w.sampleType&f.field == 0:
			case f.field == FieldTID:
				b = o.AppendUint32(o.AppendUint32(b, uint32(id.PID)), uint32(id.TID))
			case f.field == FieldCPU:
				b = o.AppendUint32(o.AppendUint32(b, id.CPU), 0)
			default:
				b = o.AppendUint64(b, f.value)
			}
		}
		if w.sampleType&FieldCallchain != 0 {
			b = o.AppendUint64(b, uint64(len(s.Callchain)))
			for _, ip := range s.Callchain {
				b = o.AppendUint64(b, ip)
			}
		}
		if w.sampleType&FieldUserRegs != 0 {
			b = o.AppendUint64(b, uint64(s.UserRegs.ABI))
			for _, v := range s.UserRegs.Values {
				b = o.AppendUint64(b, v)
			}
		}
		if w.sampleType&FieldUserStack != 0 {
			b = o.AppendUint64(b, uint64(len(s.UserStack)))
			if b = append(b, s.UserStack...); len(s.UserStack) > 0 {
				b = o.AppendUint64(b, uint64(len(s.UserStack)))
			}
		}
		return b
	})
}

// Mmap writes a mapping.
func (w *Writer) Mmap(m *Mmap) error {
	misc := Misc(ModeUser)
	if m.Protection&protExec == 0 {
		misc |= MiscMmapData
	}
	if m.BuildID != nil {
		misc |= MiscMmapBuildID
	}
	return w.record(TypeMmap2, misc, func(b []byte) []byte {
		b = o.AppendUint32(o.AppendUint32(b, uint32(m.PID)), uint32(m.TID))
		b = o.AppendUint64(o.AppendUint64(o.AppendUint64(b, m.Start), m.Length), m.Offset)
		if m.BuildID != nil {
			var id [24]byte // its size, three reserved bytes, and up to 20 bytes
			id[0] = byte(copy(id[4:], m.BuildID))
			b = append(b, id[:]...)
		} else {
			b = o.AppendUint64(o.AppendUint32(o.AppendUint32(b, m.Major), m.Minor), m.Inode)
			b = o.AppendUint64(b, m.InodeGeneration)
		}
		b = appendText(o.AppendUint32(o.AppendUint32(b, m.Protection), m.Flags), m.Path)
		return w.trailer(b, m.PID, m.TID)
	})
}

// Kernel writes a record as it is in the kernel's buffer, in one or several parts.
func (w *Writer) Kernel(parts ...[]byte) error {
	for _, part := range parts {
		if w.err == nil {
			_, w.err = w.w.Write(part)
		}
	}
	return w.err
}

// Round ends a round: what follows is not older than what the previous round contained.
func (w *Writer) Round() error {
	return w.record(TypeFinishedRound, 0, func(b []byte) []byte { return b })
}

// trailer appends the SampleID of a record without an event and a processor.
func (w *Writer) trailer(b []byte, pid, tid int32) []byte {
	if w.sampleType&FieldTID != 0 {
		b = o.AppendUint32(o.AppendUint32(b, uint32(pid)), uint32(tid))
	}
	if w.sampleType&FieldTime != 0 {
		b = o.AppendUint64(b, w.Time)
	}
	return append(b, make([]byte, 8*bits.OnesCount64(uint64(w.sampleType&(trailerFields&^(FieldTID|FieldTime)))))...)
}

func (w *Writer) feature(f feature, text string) {
	w.recordFeature(f, func(b []byte) []byte { return w.text(b, text) })
}

func (w *Writer) recordFeature(f feature, fill func([]byte) []byte) {
	w.record(TypeHeaderFeature, 0, func(b []byte) []byte { return fill(o.AppendUint64(b, uint64(f))) })
}

// text appends a length and a text with a zero byte.
func (w *Writer) text(b []byte, s string) []byte {
	b = o.AppendUint32(b, uint32(len(s)+1))
	return append(append(b, s...), 0)
}

// appendText appends a text with a zero byte, padded to whole words.
func appendText(b, text []byte) []byte {
	return append(append(b, text...), make([]byte, 8-len(text)%8)...)
}

// record writes a record, padded to whole words.
func (w *Writer) record(t Type, misc Misc, fill func([]byte) []byte) error {
	b := o.AppendUint32(w.buf[:0], uint32(t))
	b = o.AppendUint32(b, 0)
	b = fill(b)
	b = append(b, make([]byte, -len(b)&7)...)
	w.buf = b
	if len(b) > math.MaxUint16 {
		return fmt.Errorf("a record %v of %d bytes: a record has at most %d", t, len(b), math.MaxUint16)
	}
	o.PutUint16(b[4:], uint16(misc))
	o.PutUint16(b[6:], uint16(len(b)))
	return w.write()
}

func (w *Writer) write() error { return w.Kernel(w.buf) }
