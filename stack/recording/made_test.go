// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/clewdev/clew/snapshot/perfdata"
)

// made is a recording that a test writes record by record, in the format of a stream: struct
// perf_event_header and the rest of include/uapi/linux/perf_event.h. Its samples have an
// address, a thread and a time (PERF_SAMPLE_IP, _TID and _TIME), the other records the time of
// the previous sample (sample_id_all).
type made struct {
	bytes.Buffer
	time uint64
}

func newMade() *made {
	m := new(made)
	m.WriteString("PERFILE2")
	m.words(16)
	// PERF_RECORD_HEADER_ATTR: perf_event_attr of PERF_ATTR_SIZE_VER0, and one ID.
	m.record(perfdata.TypeHeaderAttr, 0, func(m *made) {
		m.halves(1, 64)
		m.words(0, 1, 7, 0, 1<<18)
		m.halves(0, 0)
		m.words(0, 1)
	})
	return m
}

func (m *made) words(list ...uint64) {
	for _, v := range list {
		m.Write(binary.LittleEndian.AppendUint64(nil, v))
	}
}

func (m *made) halves(list ...uint32) {
	for _, v := range list {
		m.Write(binary.LittleEndian.AppendUint32(nil, v))
	}
}

// trailer ends a record: struct sample_id.
func (m *made) trailer(pid uint32, time uint64) {
	m.halves(pid, pid)
	m.words(time)
}

func (m *made) text(s string) {
	m.WriteString(s)
	m.Write(make([]byte, 8-len(s)%8))
}

func (m *made) record(t perfdata.Type, misc perfdata.Misc, body func(*made)) {
	var b made
	body(&b)
	m.halves(uint32(t), uint32(misc)|uint32(8+b.Len())<<16)
	m.Write(b.Bytes())
}

// mmap maps a page with code in a process.
func (m *made) mmap(pid uint32, at uint64, path string) {
	time := m.time
	m.record(perfdata.TypeMmap, perfdata.Misc(perfdata.ModeUser), func(m *made) {
		m.halves(pid, pid)
		m.words(at, 0x1000, 0)
		m.text(path)
		m.trailer(pid, time)
	})
}

// mmap2 is mmap of a file with an inode.
func (m *made) mmap2(pid uint32, at uint64, path string, number, generation uint64) {
	time := m.time
	m.record(perfdata.TypeMmap2, perfdata.Misc(perfdata.ModeUser), func(m *made) {
		m.halves(pid, pid)
		m.words(at, 0x1000, 0)
		m.halves(8, 1)
		m.words(number, generation)
		m.halves(5, 2)
		m.text(path)
		m.trailer(pid, time)
	})
}

func (m *made) fork(pid, parent uint32, time uint64) {
	m.time = time
	m.record(perfdata.TypeFork, 0, func(m *made) {
		m.halves(pid, parent, pid, parent)
		m.words(time)
		m.trailer(parent, time)
	})
}

func (m *made) sample(pid uint32, at, time uint64) {
	m.time = time
	m.record(perfdata.TypeSample, perfdata.Misc(perfdata.ModeUser), func(m *made) {
		m.words(at)
		m.halves(pid, pid)
		m.words(time)
	})
}

// readBytes reads a recording from memory. It returns nil if the recording cannot be opened.
func readBytes(data []byte, opts Options) (*Recording, error) {
	r, err := perfdata.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return Read(r, opts)
}

// clock sets the time of day at time 0: HEADER_CLOCK_DATA of perf's perf.data-file-format.txt.
func (m *made) clock(wall time.Time) {
	m.record(perfdata.TypeHeaderFeature, 0, func(m *made) {
		m.words(29)
		m.halves(1, 1)
		m.words(uint64(wall.UnixNano()), 0)
	})
}

// exec gives a process an empty address space.
func (m *made) exec(pid uint32, time uint64) {
	m.time = time
	m.record(perfdata.TypeComm, perfdata.MiscCommExec|perfdata.Misc(perfdata.ModeUser), func(m *made) {
		m.halves(pid, pid)
		m.text("program")
		m.trailer(pid, time)
	})
}

// build reads a made recording and returns the builder.
func (m *made) build(t *testing.T, opts Options) *builder {
	t.Helper()
	r, err := perfdata.NewReader(bytes.NewReader(m.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := newBuilder(r, opts)
	defer b.close()
	if err := b.read(); err != nil {
		t.Fatal(err)
	}
	b.finish()
	return b
}
