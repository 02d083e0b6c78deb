// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/clewdev/clew/internal/outputfile"
	"github.com/clewdev/clew/internal/untrusted"
)

// compressions are the formats that systemd-coredump(8) stores (zstd, in older versions lz4
// and xz) and other common ones, by the first bytes of the file.
var compressions = []struct {
	name   string
	magic  string
	reader func(io.Reader) (io.ReadCloser, error)
}{
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
	{"lz4", "\x04\x22\x4d\x18", func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(lz4.NewReader(r)), nil }},
	{"xz", "\xfd7zXZ\x00", unsupported("xz")},
	{"gzip", "\x1f\x8b\x08", unsupported("gzip")},
	{"bzip2", "BZh", unsupported("bzip2")},
}

// unsupported returns an error with the tool that decompresses the format.
func unsupported(tool string) func(io.Reader) (io.ReadCloser, error) {
	return func(io.Reader) (io.ReadCloser, error) {
		return nil, fmt.Errorf("not read by this program; decompress it with '%s -d' first", tool)
	}
}

const (
	// maxWindow is the window of zstd's level 20. systemd's level 3 needs 2 MiB.
	maxWindow = 32 << 20
	// The stored size of a decompressed core, without its holes, is bounded: by
	// storedMost and by storedFactor times the size of the compressed file.
	storedMost   = 1 << 30
	storedFactor = 256
	storedBlock  = 4 << 10

	// The size with holes is bounded too, because one byte of zstd can stand for
	// 32,000 zeros. The bound is the larger of sizeMost, above which
	// systemd-coredump does not process a core (coredump.conf(5), ProcessSizeMax),
	// and sizeFactor times the size of the compressed file.
	sizeMost   = 32 << 30
	sizeFactor = 1 << 10
)

// decompress replaces the core's file, if it is compressed, by a file without a name
// with the decompressed content, and with holes for zeros. If the compressed data
// breaks off, the content before that point is kept.
func (c *Core) decompress(opts *Options) error {
	var magic [6]byte
	n, err := c.dump.File.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	for _, how := range compressions {
		if !bytes.HasPrefix(magic[:n], []byte(how.magic)) {
			continue
		}
		packed := c.dump.File
		defer packed.Close()
		info, err := packed.Stat()
		if err != nil {
			return err
		}
		stored := untrusted.Stored(packed, info)
		c.dump.File = nil
		if c.dump.File, err = outputfile.Temporary(opts.TempDir); err != nil {
			return err
		}
		// Holes cost nothing, so they do not raise the limits.
		source := &counter{r: packed, size: c.dump.Size, total: stored, progress: opts.Progress}
		c.dump.Size = 0
		r, err := how.reader(source)
		if err == nil {
			c.dump.Size, err = store(c.dump.File, r, storedMost+storedFactor*source.total, max(sizeMost, sizeFactor*source.total))
			r.Close()
		}
		if source.err != nil {
			err = source.err
		}
		if err == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w", how.name, err)
		if c.dump.Size == 0 {
			return err
		}
		c.dump.Damaged(err)
		return nil
	}
	return nil
}

var errTooMuch = errors.New("decompressed size exceeds the limit")

// store copies r to f and returns the size of f. It reads at most limit bytes or a
// little more, and stores at most most bytes that are not zero.
func store(f *os.File, r io.Reader, most, limit int64) (size int64, err error) {
	buffer := make([]byte, 256*storedBlock)
	for err == nil {
		n := 0
		for n < len(buffer) && err == nil {
			var k int
			k, err = r.Read(buffer[n:])
			n += k
		}
		for at := 0; at < n; {
			from := at
			for at < n && !isZero(buffer[at:min(at+storedBlock, n)]) {
				at = min(at+storedBlock, n)
			}
			if most -= int64(at - from); most < 0 {
				return size, errors.Join(errTooMuch, f.Truncate(size))
			}
			if _, err := f.WriteAt(buffer[from:at], size+int64(from)); err != nil {
				return size, err
			}
			for at < n && isZero(buffer[at:min(at+storedBlock, n)]) {
				at = min(at+storedBlock, n)
			}
		}
		if size += int64(n); size >= limit && err == nil {
			err = fmt.Errorf("%w (%d bytes)", errTooMuch, limit)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return size, errors.Join(err, f.Truncate(size))
}

var zeros [storedBlock]byte

func isZero(b []byte) bool { return bytes.Equal(b, zeros[:len(b)]) }

// counter counts the bytes that are read from a file.
type counter struct {
	r           io.Reader
	size        int64 // of the file
	done, total int64 // bytes read, and bytes that the file stores
	progress    func(done, total int64)
	err         error // of Read; decompressors treat it as the end
}

// spareHoles is how many bytes of holes a compressed file may have.
const spareHoles = 1 << 20

func (c *counter) Read(p []byte) (int, error) {
	if c.done > c.total+spareHoles {
		c.err = fmt.Errorf("the file is sparse: it stores %d of its %d bytes", c.total, c.size)
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.done += int64(n)
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
	return n, err
}
