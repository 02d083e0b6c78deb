// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/filemap"
)

// Reader reads one recording. It is not safe for concurrent use.
type Reader struct {
	header      Header
	headerSize  uint64 // bytes
	pipe        bool
	big         bool
	machine     *arch.Machine
	buildIDs    []BuildID
	buildIDText int // bytes of their paths
	eventIDs    int // of all attributes
	attributes  []Attribute
	layouts     []layout         // of attributes
	ids         map[uint64]int32 // of attributes, by event ID

	// lastAttribute is the entry of ids for lastID, which was looked up last.
	lastID        uint64
	lastAttribute int32

	lanes  []*lane
	pool   pool
	held   *chunk // contains rec
	rec    Record
	bodies bodies
	newest uint64 // time of all returned records
	counts Counts
	err    error

	files []*os.File // to be closed
}

// Counts counts records that a Reader has read so far.
type Counts struct {
	Records int64 // returned by Next
	Bytes   int64 // of the recording that were read or skipped

	// Lost and LostSamples are the sums of LOST and of LOST_SAMPLES: records that could
	// not be written. Since Linux 6.0 LOST_SAMPLES at the end of a recording repeats the
	// counts of LOST, so the two must not be added.
	Lost        uint64
	LostSamples uint64

	Late    int64 // records that were returned after a record with a later time
	Invalid int64 // records with Err
	Unknown int64 // records of unknown type
}

// Missed returns the number of records that could not be written: the larger of Lost and
// LostSamples, which can count the same records.
func (c *Counts) Missed() uint64 { return max(c.Lost, c.LostSamples) }

// Next returns the next record, in the order that the package comment describes. At the
// end of the recording the error is io.EOF. Any other error concerns the whole recording,
// and later calls return it again. It wraps io.ErrUnexpectedEOF if the recording is
// truncated; all records before the end were then returned, unless the file was truncated
// while it was read. The error of one record is in Record.Err.
func (r *Reader) Next() (rec *Record, err error) {
	if r.err != nil {
		return nil, r.err
	}
	err = filemap.Guard(func() (err error) { rec, err = r.next(); return err })
	if err != nil && errors.Is(err, filemap.ErrFault) {
		r.err = fmt.Errorf("%w: %w", err, io.ErrUnexpectedEOF)
		return nil, r.err
	}
	return rec, err
}

func (r *Reader) next() (*Record, error) {
	if r.held != nil {
		r.pool.release(r.held)
		r.held = nil
	}
	var from *lane
	var first uint64
	for _, l := range r.lanes {
		raw, e, err := l.next()
		if raw != nil {
			r.held = r.pool.chunks[e.chunk]
			r.held.pending++
			return r.decode(raw, e.offset, err), nil
		}
		if t, ok := l.queue.first(); ok && (from == nil || t < first) {
			from, first = l, t
		}
	}
	if from == nil {
		return nil, r.end()
	}
	e := from.queue.pop()
	r.held = r.pool.chunks[e.chunk]
	if e.time < r.newest {
		r.counts.Late++
	}
	r.newest = max(r.newest, e.time)
	raw := r.held.buf[e.pos:]
	size := from.outer.size(raw)
	if size < headerSize || size > len(raw) {
		// The size was valid when the record was read. The file is mapped and has changed.
		r.err = fmt.Errorf("record at %#x: its size is %d now: the recording is written to while it is read", e.offset, size)
		return nil, r.err
	}
	return r.decode(raw[:size:size], e.offset, nil), nil
}

// end returns why there are no more records.
func (r *Reader) end() error {
	r.err = io.EOF
	for _, l := range r.lanes {
		if l.err != io.EOF {
			r.err = l.err
			break
		}
	}
	return r.err
}

// waiting returns how many bytes wait in all queues.
func (r *Reader) waiting() int {
	n := r.pool.size
	for _, l := range r.lanes {
		n += l.queue.waiting() * entrySize
	}
	return n
}

// find returns the event of a record, or -1, and the layout of its records, or nil if the
// recording has no events. The ID of the event has the same offset in the records of all
// events of a recording.
func (r *Reader) find(t Type, payload []byte) (int32, *layout) {
	if len(r.layouts) == 0 {
		return -1, nil
	}
	l := &r.layouts[0]
	if len(r.layouts) == 1 {
		return 0, l
	}
	id := r.word(t, payload, l.id, l.idEnd)
	if id == 0 {
		return -1, l // it has no ID, or perf made it up
	}
	if id != r.lastID {
		index, ok := r.ids[id]
		if !ok {
			index = -1
		}
		r.lastID, r.lastAttribute = id, index
	}
	if r.lastAttribute < 0 {
		return -1, l
	}
	return r.lastAttribute, &r.layouts[r.lastAttribute]
}

// timeOf returns the time of a record that the kernel wrote, or 0.
func (r *Reader) timeOf(t Type, payload []byte) uint64 {
	_, l := r.find(t, payload)
	if l == nil {
		return 0
	}
	return r.word(t, payload, l.time, l.timeEnd)
}

// word returns a word of a record, 0 if the record lacks it. Its offset is at in a sample,
// and end from the end of other records; negative values mean that they lack it.
func (r *Reader) word(t Type, payload []byte, at, end int) uint64 {
	if t != TypeSample {
		if at = len(payload) - end; end < 0 {
			return 0
		}
	}
	if at < 0 || at > len(payload)-8 {
		return 0
	}
	c := cursor{b: payload[at:], big: r.big}
	return c.u64()
}

// decode fills r.rec. err is an error of the record that was found before.
func (r *Reader) decode(raw []byte, offset int64, err error) *Record {
	c := cursor{b: raw, big: r.big}
	rec := &r.rec
	rec.Type, rec.Misc = Type(c.u32()), Misc(c.u16())
	rec.Offset, rec.Raw, rec.Body, rec.Err = offset, raw, nil, err
	rec.ID = SampleID{Attribute: -1}
	payload := raw[headerSize:]
	switch {
	case err != nil:
	case rec.Type >= firstOfPerf:
		c.b = payload
		if rec.Body = r.bodies.decode(rec, &c); c.failed {
			rec.Err = errShort
		}
		if err := r.update(rec.Type, rec.Misc, payload); err != nil {
			rec.Err = err
		}
	default:
		rec.Err = r.decodeKernel(rec, payload)
	}
	r.count(rec)
	return rec
}

// decodeKernel decodes a record that the kernel wrote.
func (r *Reader) decodeKernel(rec *Record, payload []byte) error {
	index, l := r.find(rec.Type, payload)
	if l == nil {
		return errors.New("no event is known yet")
	}
	rec.ID.Attribute = int(index)
	a := &r.attributes[max(index, 0)]
	if rec.Type == TypeSample {
		rec.Body = &r.bodies.sample.sample
		err := r.bodies.sample.decode(payload, r.big, a, &rec.ID)
		if index < 0 && err == nil {
			err = fmt.Errorf("no event has the ID %d; read as one of %s", rec.ID.ID, a.Name)
		}
		return err
	}
	body, ok := rec.ID.readTrailer(payload, r.big, a, l.trailerSize)
	c := cursor{b: body, big: r.big}
	rec.Body = r.bodies.decode(rec, &c)
	if c.failed || !ok {
		return errShort
	}
	return nil
}

// count counts a record that is returned.
func (r *Reader) count(rec *Record) {
	r.counts.Records++
	if rec.Err != nil {
		r.counts.Invalid++
		rec.Err = fmt.Errorf("record %v at %#x: %w", rec.Type, rec.Offset, rec.Err)
	}
	switch rec.Type {
	case TypeLost:
		r.counts.Lost += r.bodies.lost.Count
	case TypeLostSamples:
		r.counts.LostSamples += r.bodies.lost.Count
	default:
		if !rec.Type.known() {
			r.counts.Unknown++
		}
	}
}

// Header returns the description of the recording. The header of a stream is complete when
// Next returns the first sample. The caller must not change it.
func (r *Reader) Header() *Header { return &r.header }

// Attributes returns the recorded events, by SampleID.Attribute. The list of a stream is
// complete when Next returns the first sample. The caller must not change it.
func (r *Reader) Attributes() []Attribute { return r.attributes }

// BuildIDs returns the build IDs that the recording lists. A stream has them at its end,
// if at all (perf inject -b puts each before the first use of its file). The caller must
// not change them.
func (r *Reader) BuildIDs() []BuildID { return r.buildIDs }

// Machine returns the recorded machine, or nil if the recording lacks its name (it is
// truncated) or package arch does not know it.
func (r *Reader) Machine() *arch.Machine { return r.machine }

// Order returns the byte order of the recording and the recorded machine. Record.Raw,
// Sample.UserStack and Sample.Raw have it.
func (r *Reader) Order() binary.ByteOrder {
	if r.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Pipe reports whether the recording is a stream.
func (r *Reader) Pipe() bool { return r.pipe }

// Counts returns the counts so far.
func (r *Reader) Counts() Counts { return r.counts }
