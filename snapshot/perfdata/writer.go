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

// Writer writes a recording of one event as a stream, as perf record -o - does, in the byte
// order of this machine. Start comes first. Kernel and Round write what the kernel's buffers
// contain; Comm and Mmap describe what existed before. The error of a failed write is
// returned by all later calls. A Writer is not safe for concurrent use.
type Writer struct {
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
	w.record(TypeHeaderAttr, 0, func(b []byte) []byte { return o.AppendUint64(append(b, attr...), id) })
	w.record(TypeEventUpdate, 0, func(b []byte) []byte {
		return appendText(o.AppendUint64(o.AppendUint64(b, updateName), id), []byte(event))
	})
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

// Comm writes the name of a thread, with time 0.
func (w *Writer) Comm(c *Comm) error {
	return w.record(TypeComm, 0, func(b []byte) []byte {
		b = o.AppendUint32(b, uint32(c.PID))
		b = o.AppendUint32(b, uint32(c.TID))
		return w.trailer(appendText(b, c.Name), c.PID, c.TID)
	})
}

// Mmap writes a mapping, with time 0.
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

// Kernel writes a record as it is in the kernel's buffer.
func (w *Writer) Kernel(record []byte) error {
	w.buf = append(w.buf[:0], record...)
	return w.write()
}

// Round ends a round: what follows is not older than what the previous round contained.
func (w *Writer) Round() error {
	return w.record(TypeFinishedRound, 0, func(b []byte) []byte { return b })
}

// trailer appends the SampleID of a record without a time, an event and a processor.
func (w *Writer) trailer(b []byte, pid, tid int32) []byte {
	if w.sampleType&FieldTID != 0 {
		b = o.AppendUint32(o.AppendUint32(b, uint32(pid)), uint32(tid))
	}
	return append(b, make([]byte, 8*bits.OnesCount64(uint64(w.sampleType&(trailerFields&^FieldTID))))...)
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

func (w *Writer) write() error {
	if w.err == nil {
		_, w.err = w.w.Write(w.buf)
	}
	return w.err
}
