// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"io"
	"sync"
)

// queue hands bytes from the goroutine that reads the kernel's buffers to the one that walks the
// stacks, and buffers bursts. While it is full the writer waits, and the kernel counts the records
// that no longer fit in its own buffers.
type queue struct {
	full, free chan []byte // blocks
	current    []byte      // of the writer
	rest       []byte      // of the reader
	held       []byte      // the block that contains rest
	abandoned  chan struct{}
	once       sync.Once
}

// The queue has at most queueBlocks blocks of about blockSize bytes. After a burst it keeps freeBlocks.
const (
	blockSize   = 1 << 20
	queueBlocks = 64
	freeBlocks  = 4
)

// errAbandoned is the error of writes after the reader has given up.
var errAbandoned = errors.New("the recording is not read any more")

func newQueue() *queue {
	return &queue{
		full: make(chan []byte, queueBlocks), free: make(chan []byte, freeBlocks),
		abandoned: make(chan struct{}),
	}
}

// Write implements io.Writer. It fails once the reader has given up.
func (q *queue) Write(b []byte) (int, error) {
	if len(q.current)+len(b) > blockSize {
		if err := q.flush(); err != nil {
			return 0, err
		}
	}
	if q.current == nil {
		select {
		case q.current = <-q.free:
		default:
			q.current = make([]byte, 0, blockSize)
		}
	}
	q.current = append(q.current, b...)
	return len(b), nil
}

// flush hands what was written to the reader.
func (q *queue) flush() error {
	if len(q.current) == 0 {
		return nil
	}
	select {
	case q.full <- q.current:
		q.current = nil
		return nil
	case <-q.abandoned:
		return errAbandoned
	}
}

// end makes the reader see the end after what was flushed.
func (q *queue) end() { close(q.full) }

// abandon makes the writer fail.
func (q *queue) abandon() { q.once.Do(func() { close(q.abandoned) }) }

// Read implements io.Reader.
func (q *queue) Read(b []byte) (int, error) {
	for len(q.rest) == 0 {
		if q.held != nil {
			select {
			case q.free <- q.held[:0]:
			default:
			}
		}
		block, ok := <-q.full
		if !ok {
			q.held = nil
			return 0, io.EOF
		}
		q.held, q.rest = block, block
	}
	n := copy(b, q.rest)
	q.rest = q.rest[n:]
	return n, nil
}
