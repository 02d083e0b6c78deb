// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package minidump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

func init() { snapshot.Register(snapshot.Opener{Name: "minidump", Open: Open}) }

// errNotMinidump says that a file is not a minidump.
var errNotMinidump error = stored.Unrecognized("not a minidump")

// Minidumps are described in minidumpapiset.h of Microsoft, and Breakpad's extensions in
// its minidump_format.h. All numbers are little-endian. Offsets ("RVA") are offsets in the
// file.
const (
	magic        = "MDMP"
	bigMagic     = "PMDM" // in big-endian byte order
	version      = 0xa793 // in the low 16 bits
	headerSize   = 32
	entrySize    = 12   // of the directory
	maxStreams   = 1024 // Breakpad writes some 15
	memoryHeader = 16   // of Memory64List
)

// streamType is a MINIDUMP_STREAM_TYPE.
type streamType uint32

const (
	threadList      streamType = 3
	moduleList      streamType = 4
	memoryList      streamType = 5
	exception       streamType = 6
	systemInfo      streamType = 7
	memory64List    streamType = 9
	miscInfo        streamType = 15
	threadNames     streamType = 24
	linuxProcStatus streamType = 0x47670004
	linuxCmdLine    streamType = 0x47670006
	linuxAuxv       streamType = 0x47670008
	linuxMaps       streamType = 0x47670009
)

var streamNames = map[streamType]string{
	threadList: "ThreadList", moduleList: "ModuleList", memoryList: "MemoryList", exception: "Exception",
	systemInfo: "SystemInfo", memory64List: "Memory64List", miscInfo: "MiscInfo", threadNames: "ThreadNames",
	linuxProcStatus: "LinuxProcStatus", linuxCmdLine: "LinuxCmdLine", linuxAuxv: "LinuxAuxv", linuxMaps: "LinuxMaps",
}

// location is a range of the file.
type location struct {
	at, size uint64 // bytes
}

// dump is a minidump while it is opened.
type dump struct {
	*stored.Dump
	streams     map[streamType]location
	cpu         *processor
	maps        []snapshot.Mapping
	memory      []stored.FileRange // ranges of memory in the dump
	modules     []module
	processName string
	contexts    map[int]location // of threads, in place of those in ThreadList
}

var le = binary.LittleEndian

// Open opens the minidump at path. Its error wraps [snapshot.ErrUnknown] if the file is
// not a minidump. Errors in a stream do not fail Open: the source reports them by Damage.
func Open(path string, opts *snapshot.Options) (snapshot.Source, error) {
	file, err := stored.Open(path, stored.OptionsOf(opts), errNotMinidump)
	if err != nil {
		return nil, err
	}
	d := &dump{Dump: file}
	if err := d.read(); err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return stored.NewSource(d.Dump, path, opts.Threads)
}

func (d *dump) read() error {
	if err := d.readDirectory(); err != nil {
		return err
	}
	if err := d.readSystem(); err != nil {
		return err
	}
	for _, stream := range []struct {
		typ  streamType
		read func(streamType, location) error
	}{
		// Later streams need the results of earlier ones.
		{linuxAuxv, d.readAuxv},
		{linuxProcStatus, d.readStatus},
		{miscInfo, d.readMisc},
		{linuxCmdLine, d.readCommand},
		{linuxMaps, d.readMaps},
		{exception, d.readException},
		{threadList, d.readThreads},
		{threadNames, d.readThreadNames},
		{memoryList, d.readMemory},
		{memory64List, d.readMemory64},
		{moduleList, d.readModules},
	} {
		if l, ok := d.streams[stream.typ]; ok {
			if err := stream.read(stream.typ, l); err != nil {
				d.Damaged(fmt.Errorf("%s stream at offset %#x: %w", streamNames[stream.typ], l.at, err))
			}
		}
	}
	if len(d.Snapshot.Threads) == 0 {
		d.Damaged(errors.New("the minidump has no threads"))
	}
	d.arrange()
	d.Finish()
	return nil
}

// readDirectory reads the header and the list of streams.
func (d *dump) readDirectory() error {
	var header [headerSize]byte
	n, err := d.File.ReadAt(header[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	switch start := string(header[:min(n, 4)]); {
	case start == bigMagic:
		return errors.New("a minidump in big-endian byte order, which is not supported")
	case start != magic:
		return fmt.Errorf("%w: it starts with % x, not with % x", errNotMinidump, start, magic)
	case n < headerSize:
		return fmt.Errorf("header: %d bytes, %d expected: the minidump is truncated", n, headerSize)
	}
	if v := le.Uint32(header[4:]) & 0xffff; v != version {
		return fmt.Errorf("header: version %#x, %#x expected", v, version)
	}
	count, at := uint64(le.Uint32(header[8:])), uint64(le.Uint32(header[12:]))
	if count > maxStreams {
		d.Damaged(fmt.Errorf("directory at offset %#x: %d streams, the first %d are read", at, count, maxStreams))
		count = maxStreams
	}
	b, err := d.bytes(location{at, count * entrySize})
	if err != nil {
		return fmt.Errorf("directory at offset %#x of %d streams: %w", at, count, err)
	}
	d.streams = make(map[streamType]location)
	for ; len(b) > 0; b = b[entrySize:] {
		typ, l := streamType(le.Uint32(b)), location{uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[4:]))}
		if streamNames[typ] == "" {
			continue
		}
		if _, ok := d.streams[typ]; ok {
			d.Damaged(fmt.Errorf("directory at offset %#x: there is more than one %s stream, only the first one is used", at, streamNames[typ]))
			continue
		}
		d.streams[typ] = l
	}
	return nil
}

// check returns an error unless the file contains a whole range.
func (d *dump) check(l location) error {
	if size := uint64(d.Size); l.at > size || l.size > size-l.at {
		return fmt.Errorf("%d bytes at offset %#x expected, the file ends at %#x", l.size, l.at, size)
	}
	return nil
}

// bytes reads a range of the file. The caller must bound its size.
func (d *dump) bytes(l location) ([]byte, error) {
	if err := d.check(l); err != nil {
		return nil, err
	}
	b := make([]byte, l.size)
	_, err := d.File.ReadAt(b, int64(l.at))
	return b, err
}

// head reads the first bytes of a stream.
func (d *dump) head(l location, size uint64) ([]byte, error) {
	if l.size < size {
		return nil, fmt.Errorf("%d bytes, at least %d expected", l.size, size)
	}
	return d.bytes(location{l.at, size})
}

// text reads a stream of text up to a limit.
func (d *dump) text(l location, limit uint64) ([]byte, error) {
	return d.bytes(location{l.at, min(l.size, limit)})
}

// eachEntry calls visit with each entry of a list: count of them from offset start of a
// stream on, of size bytes each. The slice is only valid during the call.
func (d *dump) eachEntry(l location, start, size, count, limit uint64, visit func([]byte)) (err error) {
	if l.size < start {
		return fmt.Errorf("%d bytes, at least %d expected", l.size, start)
	}
	if most := (l.size - start) / size; count > most {
		err = fmt.Errorf("%d entries of %d bytes expected, %d found", count, size, most)
		count = most
	}
	if count > limit {
		err = fmt.Errorf("%d entries, the first %d are read", count, limit)
		count = limit
	}
	const batch = 512
	for at := l.at + start; count > 0; {
		n := min(count, batch)
		b, failed := d.bytes(location{at, n * size})
		if failed != nil {
			return failed
		}
		for ; len(b) > 0; b = b[size:] {
			visit(b[:size])
		}
		count, at = count-n, at+n*size
	}
	return err
}

// listCount reads the number of entries that a list starts with, and where they start.
// Some writers align the entries to eight bytes.
func (d *dump) listCount(l location, size uint64) (count, start uint64, err error) {
	b, err := d.head(l, 4)
	if err != nil {
		return 0, 0, err
	}
	count, start = uint64(le.Uint32(b)), 4
	if l.size == 8+count*size {
		start = 8
	}
	return count, start, nil
}
