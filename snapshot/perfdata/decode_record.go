// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

// bodies holds a body of each type, which is reused for the next record.
type bodies struct {
	sample     sampleDecoder
	mmap       Mmap
	comm       Comm
	task       Task
	lost       Lost
	namespaces Namespaces
	ksymbol    Ksymbol
	deferred   Deferred
}

// decode reads the body of a record that is not a sample. c has the bytes between the
// header and the SampleID. decode returns nil for a type without a body.
func (b *bodies) decode(rec *Record, c *cursor) any {
	switch rec.Type {
	case TypeMmap, TypeMmap2:
		b.mmap.read(c, rec.Type, rec.Misc)
		return &b.mmap
	case TypeComm:
		b.comm = Comm{PID: int32(c.u32()), TID: int32(c.u32())}
		b.comm.Name = c.text()
		return &b.comm
	case TypeFork, TypeExit:
		b.task = Task{PID: int32(c.u32()), ParentPID: int32(c.u32()), TID: int32(c.u32()), ParentTID: int32(c.u32()), Time: c.u64()}
		return &b.task
	case TypeLost:
		b.lost = Lost{ID: c.u64(), Count: c.u64()}
		return &b.lost
	case TypeLostSamples:
		b.lost = Lost{Count: c.u64()}
		return &b.lost
	case TypeNamespaces:
		b.namespaces.read(c)
		return &b.namespaces
	case TypeKsymbol:
		b.ksymbol = Ksymbol{Address: c.u64(), Length: c.u32(), Kind: c.u16()}
		b.ksymbol.Unregister = c.u16()&1 != 0
		b.ksymbol.Name = c.text()
		return &b.ksymbol
	case TypeCallchainDeferred:
		b.deferred = Deferred{Cookie: c.u64(), Callchain: b.deferred.Callchain[:0]}
		b.deferred.Callchain = c.words(b.deferred.Callchain, c.u64())
		return &b.deferred
	}
	return nil
}

const protExec = 4 // PROT_EXEC

func (m *Mmap) read(c *cursor, t Type, misc Misc) {
	*m = Mmap{PID: int32(c.u32()), TID: int32(c.u32()), Start: c.u64(), Length: c.u64(), Offset: c.u64()}
	if t == TypeMmap {
		if misc&MiscMmapData == 0 {
			m.Protection = protExec
		}
		m.Path = c.text()
		return
	}
	if misc&MiscMmapBuildID != 0 {
		b := c.bytes(24)
		// A size of one byte, three reserved bytes, and space for 20.
		if len(b) == 24 && b[0] > 0 && b[0] <= 20 {
			m.BuildID = b[4 : 4+b[0] : 4+b[0]]
		}
	} else {
		m.Major, m.Minor, m.Inode, m.InodeGeneration = c.u32(), c.u32(), c.u64(), c.u64()
	}
	m.Protection, m.Flags = c.u32(), c.u32()
	m.Path = c.text()
}

func (n *Namespaces) read(c *cursor) {
	*n = Namespaces{PID: int32(c.u32()), TID: int32(c.u32()), Links: n.Links[:0]}
	count := c.u64()
	if count > uint64(len(c.b))/16 {
		c.fail()
		return
	}
	for range count {
		n.Links = append(n.Links, Namespace{c.u64(), c.u64()})
	}
}

// readTrailer reads the SampleID from the end of a record that is not a sample. payload is
// the record without its header. readTrailer returns the bytes before the SampleID, and
// false if the record is too short to have one.
func (id *SampleID) readTrailer(payload []byte, big bool, a *Attribute, size int) (rest []byte, ok bool) {
	if size > len(payload) {
		return payload, false
	}
	c := cursor{b: payload[len(payload)-size:], big: big}
	has := a.SampleType & trailerFields
	id.readMoment(&c, has)
	id.readSource(&c, has)
	if has&FieldIdentifier != 0 {
		id.ID = c.u64()
	}
	id.Fields = has
	return payload[: len(payload)-size : len(payload)-size], true
}

// readMoment reads the thread and the time.
func (id *SampleID) readMoment(c *cursor, has SampleType) {
	if has&FieldTID != 0 {
		id.PID, id.TID = int32(c.u32()), int32(c.u32())
	}
	if has&FieldTime != 0 {
		id.Time = c.u64()
	}
}

// readSource reads the event and the processor.
func (id *SampleID) readSource(c *cursor, has SampleType) {
	if has&FieldID != 0 {
		id.ID = c.u64()
	}
	if has&FieldStreamID != 0 {
		id.StreamID = c.u64()
	}
	if has&FieldCPU != 0 {
		id.CPU = c.u32()
		c.u32()
	}
}
