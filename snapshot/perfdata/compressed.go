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

// maxWindow is the largest window of zstd that is taken: that of its highest
// level.
const maxWindow = 128 << 20

// zstdMagic begins a frame (RFC 8878 §3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

var errClosed = errors.New("closed")

// decompressor undoes perf record -z. perf has one stream of zstd, never ended,
// and flushes it at the end of each COMPRESSED record; so what a record holds can
// be unpacked as soon as it is there, but only by a decoder that has seen those
// before it. zstd.Decoder reads when it wants: it runs as a coroutine, which is
// left where it wants more than there is.
type decompressor struct {
	input  []byte
	output []byte
	resume func() ([]byte, bool)
	stop   func()
	err    error
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// newDecompressor begins a stream. No other may use the decoder.
func newDecompressor(decoder *zstd.Decoder) *decompressor {
	d := &decompressor{}
	d.resume, d.stop = iter.Pull(func(yield func([]byte) bool) {
		// A fault is of the goroutine that reads, which is another than Reader.Next's.
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

// feed gives the content of a COMPRESSED record. What was fed before must have
// been read.
func (d *decompressor) feed(b []byte) { d.input = b }

// read is as io.Reader.Read. Where all that was fed has been read the error is
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

// compressed is where the decoder reads from.
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

// decompressed is where the decoder writes to. What it writes is used before the
// coroutine is resumed.
type decompressed func([]byte) bool

func (yield decompressed) Write(p []byte) (int, error) {
	if len(p) > 0 && !yield(p) {
		return 0, errClosed
	}
	return len(p), nil
}
