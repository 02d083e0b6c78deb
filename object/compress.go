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
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/clewdev/clew/internal/filemap"
)

// The claimed size bounds the decompression of a section. All sections of a file together
// take at most 64 MiB plus sixteen times the file's size: debug sections are compressed to
// a quarter or a third, and 64 MiB are enough for those of small files.

// isCompressed reports whether a section with content data is compressed.
func (f *File) isCompressed(s sectionHeader, data []byte) bool {
	return s.flags&elf.SHF_COMPRESSED != 0 ||
		bytes.HasPrefix(f.sectionName(s), []byte(".zdebug_")) && bytes.HasPrefix(data, []byte("ZLIB"))
}

// compression decodes the header of a compressed section: that of SHF_COMPRESSED (gABI,
// "Section Compression"), or of .zdebug, which is "ZLIB" and the size as eight bytes
// big-endian. size is the decompressed size in bytes, and stream follows the header.
func (f *File) compression(s sectionHeader, data []byte) (kind elf.CompressionType, size uint64, stream []byte, err error) {
	header := 12
	if wide := f.class == elf.ELFCLASS64; wide && s.flags&elf.SHF_COMPRESSED != 0 {
		header = 24
	}
	if len(data) < header {
		return 0, 0, nil, fmt.Errorf("compression header: %d bytes, %d expected", len(data), header)
	}
	switch {
	case s.flags&elf.SHF_COMPRESSED == 0:
		kind, size = elf.COMPRESS_ZLIB, binary.BigEndian.Uint64(data[4:])
	case header == 24:
		kind, size = elf.CompressionType(f.order.Uint32(data)), f.order.Uint64(data[8:])
	default:
		kind, size = elf.CompressionType(f.order.Uint32(data)), uint64(f.order.Uint32(data[4:]))
	}
	return kind, size, data[header:], nil
}

// leastWindow is the window size in bytes that decoders should support (RFC 8878
// §3.1.1.1.2). The decoder allocates the window, so that a larger one must not exceed the
// section's size.
const leastWindow = 8 << 20

// decompress returns the decompressed content of a section.
func (f *File) decompress(s sectionHeader, data []byte) ([]byte, error) {
	kind, size, stream, err := f.compression(s, data)
	if err != nil {
		return nil, err
	}
	var r io.ReadCloser
	switch kind {
	case elf.COMPRESS_ZLIB:
		r, err = zlib.NewReader(bytes.NewReader(stream))
	case elf.COMPRESS_ZSTD:
		var d *zstd.Decoder
		// Without concurrency it runs on this goroutine, as Guard needs.
		if d, err = zstd.NewReader(bytes.NewReader(stream), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(max(leastWindow, min(size, 1<<40)))); err == nil {
			r = d.IOReadCloser()
		}
	default:
		err = fmt.Errorf("compression header: unknown compression %d", kind)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return f.inflate(r, size, len(data))
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
			data = append(make([]byte, 0, min(size, 2*uint64(cap(data)))), data...)
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

// openMiniDebugInfo opens .gnu_debugdata: an ELF file, compressed by xz, with the symbols
// that .dynsym leaves out. It returns nil if there is none.
func (f *File) openMiniDebugInfo() (*File, error) {
	i, ok := f.find(".gnu_debugdata")
	if !ok {
		return nil, nil
	}
	data, err := f.content(i)
	if err == nil {
		data, err = f.unxz(data)
	}
	var mini *File
	if err == nil {
		mini, err = NewFile(data, f.name+"(.gnu_debugdata)")
	}
	if err != nil {
		return nil, fmt.Errorf("section .gnu_debugdata: %w", err)
	}
	mini.mini = func() (*File, error) { return nil, nil } // files are not nested further
	return mini, nil
}

// unxz decompresses a stream of unknown size to at most 64 MiB. The symbols of libLLVM take
// 4 MiB.
func (f *File) unxz(data []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError("xz", r)
		}
	}()
	config := xz.ReaderConfig{SingleStream: true}
	r, err := config.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	// Blocks are joined at the end, because one growing slice would allocate several times
	// the result.
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
