// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/clewdev/clew/internal/filemap"
)

// maxWindow is the largest window of zstd that is accepted: that of its highest
// level.
const maxWindow = 128 << 20

// zstdMagic begins a frame (RFC 8878 §3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

var errClosed = errors.New("closed")

// decompressor decompresses recordings of perf record -z. perf writes one stream of zstd,
// which never ends, and flushes it at the end of each COMPRESSED record. A record can
// therefore be decompressed at once, but only by a decoder that has read all earlier ones.
// zstd.Decoder reads when it needs input, so it runs as a coroutine, which is suspended
// when there is no more input.
type decompressor struct {
	input  []byte
	output []byte
	resume func() ([]byte, bool)
	stop   func()
	err    error
}

// newDecompressor starts a stream. It owns the decoder from then on.
func newDecompressor(decoder *zstd.Decoder) *decompressor {
	d := &decompressor{}
	d.resume, d.stop = iter.Pull(func(yield func([]byte) bool) {
		// A fault occurs in the goroutine that reads, which is not that of Reader.Next.
		d.err = filemap.Guard(func() error {
			if err := decoder.Reset(compressed{d, yield}); err != nil {
				return err
			}
			_, err := decoder.WriteTo(decompressed(yield))
			return err
		})
	})
	return d
}

// feed passes the content of a COMPRESSED record to the decoder. All earlier content must
// have been read.
func (d *decompressor) feed(b []byte) { d.input = b }

// read is like io.Reader.Read. When all content has been read, the error is
// errNeedInput.
func (d *decompressor) read(p []byte) (int, error) {
	for len(d.output) == 0 {
		output, ok := d.resume()
		if !ok {
			if d.err == nil {
				d.err = io.ErrUnexpectedEOF
			}
			return 0, d.err
		}
		if output == nil {
			return 0, errNeedInput
		}
		d.output = output
	}
	n := copy(p, d.output)
	d.output = d.output[n:]
	return n, nil
}

// compressed is the input of the decoder.
type compressed struct {
	d     *decompressor
	yield func([]byte) bool
}

func (c compressed) Read(p []byte) (int, error) {
	for len(c.d.input) == 0 {
		if !c.yield(nil) {
			return 0, errClosed
		}
	}
	n := copy(p, c.d.input)
	c.d.input = c.d.input[n:]
	return n, nil
}

// decompressed is the output of the decoder. It is used before the coroutine is resumed.
type decompressed func([]byte) bool

func (yield decompressed) Write(p []byte) (int, error) {
	if len(p) > 0 && !yield(p) {
		return 0, errClosed
	}
	return len(p), nil
}
