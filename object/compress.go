// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib" // twice as fast as the standard library's
	"github.com/ulikunitz/xz"

	"github.com/clewdev/clew/internal/filemap"
)

// Decompression is bounded by the claimed size, and all of a file's together
// by 64 MiB plus sixteen times the file's size: debug sections shrink to a
// quarter or a third, those of small files to what 64 MiB cover.

// decompress returns the content of a section with SHF_COMPRESSED (gABI,
// "Section Compression").
func (f *File) decompress(s sectionHeader, data []byte) ([]byte, error) {
	chdr := 12
	if f.class == elf.ELFCLASS64 {
		chdr = 24
	}
	if len(data) < chdr {
		return nil, fmt.Errorf("compression header: %d bytes, %d expected", len(data), chdr)
	}
	kind, size := elf.CompressionType(f.order.Uint32(data)), uint64(0)
	if f.class == elf.ELFCLASS64 {
		size = f.order.Uint64(data[8:])
	} else {
		size = uint64(f.order.Uint32(data[4:]))
	}
	switch kind {
	case elf.COMPRESS_ZLIB:
		r, err := zlib.NewReader(bytes.NewReader(data[chdr:]))
		if err != nil {
			return nil, err
		}
		return f.inflate(r, size, len(data))
	case elf.COMPRESS_ZSTD:
		r, err := zstdReader(data[chdr:], size)
		if err != nil {
			return nil, err
		}
		return f.inflate(r, size, len(data))
	}
	return nil, fmt.Errorf("compression header: unknown compression %d", kind)
}

// decompressLegacy returns the content of a .zdebug section: "ZLIB", the size
// as eight bytes big-endian, the stream.
func (f *File) decompressLegacy(data []byte) ([]byte, error) {
	if len(data) < 12 {
		return nil, fmt.Errorf("compression header: %d bytes, 12 expected", len(data))
	}
	r, err := zlib.NewReader(bytes.NewReader(data[12:]))
	if err != nil {
		return nil, err
	}
	return f.inflate(r, binary.BigEndian.Uint64(data[4:]), len(data))
}

// expandedSize returns the decompressed size in bytes by the header of a compressed
// section, 0 if the header is truncated.
func (f *File) expandedSize(data []byte, legacy bool) uint64 {
	switch {
	case legacy && len(data) >= 12:
		return binary.BigEndian.Uint64(data[4:])
	case legacy:
	case f.class == elf.ELFCLASS64 && len(data) >= 24:
		return f.order.Uint64(data[8:])
	case f.class == elf.ELFCLASS32 && len(data) >= 12:
		return uint64(f.order.Uint32(data[4:]))
	}
	return 0
}

// inflate reads size bytes from r. The file only claims the size, so the buffer starts at
// a multiple of the compressed size and grows as bytes come.
func (f *File) inflate(r io.Reader, size uint64, compressed int) ([]byte, error) {
	if err := f.spend(size); err != nil {
		return nil, fmt.Errorf("decompression: %w", err)
	}
	data := make([]byte, 0, min(size, 8*uint64(compressed)+4096))
	for uint64(len(data)) < size {
		if len(data) == cap(data) {
			grown := make([]byte, len(data), min(size, 2*uint64(cap(data))))
			copy(grown, data)
			data = grown
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err != nil && uint64(len(data)) < size {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("decompression: after %d of %d bytes: %w", len(data), size, err)
		}
	}
	return data, nil
}

// zstdReader decompresses a zstd stream. The standard library's decoder can be
// reached through debug/elf only: the stream is shown to it as the one section
// of a file made up around it.
func zstdReader(stream []byte, size uint64) (io.Reader, error) {
	const names = "\x00.z\x00.n\x00"
	const sections = 64
	const content = sections + 3*64
	b := make([]byte, content, content+24+len(names))
	o := binary.LittleEndian
	copy(b, elf.ELFMAG)
	b[elf.EI_CLASS], b[elf.EI_DATA], b[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	o.PutUint16(b[16:], uint16(elf.ET_REL))
	o.PutUint32(b[20:], uint32(elf.EV_CURRENT))
	o.PutUint64(b[40:], sections)
	o.PutUint16(b[52:], 64)
	o.PutUint16(b[58:], 64)
	o.PutUint16(b[60:], 3)
	o.PutUint16(b[62:], 2)
	put := func(i int, name, typ uint32, flags elf.SectionFlag, off, size uint64) {
		s := b[sections+64*i:]
		o.PutUint32(s, name)
		o.PutUint32(s[4:], typ)
		o.PutUint64(s[8:], uint64(flags))
		o.PutUint64(s[24:], off)
		o.PutUint64(s[32:], size)
	}
	put(1, 1, uint32(elf.SHT_PROGBITS), elf.SHF_COMPRESSED, content+uint64(len(names)), 24+uint64(len(stream)))
	put(2, 4, uint32(elf.SHT_STRTAB), 0, content, uint64(len(names)))
	b = append(b, names...)
	b = o.AppendUint64(b, uint64(elf.COMPRESS_ZSTD))
	b = o.AppendUint64(b, size)
	b = o.AppendUint64(b, 1)
	file, err := elf.NewFile(&joined{b, stream})
	if err != nil {
		return nil, err
	}
	return file.Sections[1].Open(), nil
}

// joined reads two byte slices as one.
type joined [2][]byte

func (j *joined) ReadAt(p []byte, off int64) (n int, err error) {
	for _, part := range j {
		if off < int64(len(part)) {
			k := copy(p[n:], part[off:])
			n += k
			off = 0
		} else {
			off -= int64(len(part))
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// openMiniDebugInfo opens .gnu_debugdata: an ELF file with the symbols that
// .dynsym leaves out, compressed by xz. It returns nil where there is none.
func (f *File) openMiniDebugInfo() (mini *File, err error) {
	fault := Guard(func() error {
		i, ok := f.find(".gnu_debugdata")
		if !ok {
			return nil
		}
		var data []byte
		if data, err = f.content(i); err == nil {
			data, err = f.unxz(data)
		}
		if err == nil {
			mini, err = NewFile(data, f.name+"(.gnu_debugdata)")
		}
		if err != nil {
			err = fmt.Errorf("section .gnu_debugdata: %w", err)
		}
		return nil
	})
	if fault != nil {
		return nil, fault
	}
	if mini != nil {
		// One level is all there is.
		mini.mini = func() (*File, error) { return nil, nil }
	}
	return mini, err
}

// unxz decompresses a stream of unknown size, to at most 64 MiB: the symbols of
// libLLVM, compressed so, take 4.
func (f *File) unxz(data []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError("xz", r)
		}
	}()
	// A dictionary larger than the output is only ever asked for by mistake.
	config := xz.ReaderConfig{SingleStream: true}
	r, err := config.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	// In blocks that are joined at the end: to grow one slice would allocate several
	// times what is read.
	var blocks [][]byte
	block := make([]byte, 0, 64<<10)
	size := 0
	for err == nil {
		if len(block) == cap(block) {
			blocks = append(blocks, block)
			block = make([]byte, 0, min(2*cap(block), 4<<20))
		}
		var n int
		n, err = r.Read(block[len(block):cap(block)])
		block = block[:len(block)+n]
		if size += n; size > slack {
			return nil, fmt.Errorf("more than %d bytes when decompressed", slack)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return bytes.Join(append(blocks, block), nil), f.spend(uint64(size))
}

// panicError returns the error for a recovered panic of a library. It panics again on a
// fault of a mapping, for Guard.
func panicError(library string, r any) error {
	if fault, ok := r.(interface{ Addr() uintptr }); ok {
		if _, ok := filemap.At(fault.Addr()); ok {
			panic(r)
		}
	}
	return fmt.Errorf("%s: panic: %v", library, r)
}
