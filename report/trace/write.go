// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/internal/stackgrow"
)

const (
	textAhead = 4       // stacks, for each processor, that are printed ahead of the output
	oneText   = 8 << 10 // bytes that the text of most stacks fits in
	maxText   = 1 << 16 // bytes of text that are kept before they are written
)

// writeEach writes the text of n stacks in order. write appends the text of stack i to p.out.
// Reading variables takes most of the time, so all processors do it.
func (p *stackPrinter) writeEach(w io.Writer, n int, write func(p *stackPrinter, i int)) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	if p.variables == nil || workers < 2 {
		for i := range n {
			if err := p.reserve(w, maxText/2); err != nil {
				return err
			}
			write(p, i)
		}
		return nil
	}
	var group sync.WaitGroup
	defer group.Wait()
	// The text of stack i is passed in slot i. A worker takes a stack only with a free
	// buffer, so the slot is empty.
	slots := make([]chan []byte, min(textAhead*workers, n))
	for i := range slots {
		slots[i] = make(chan []byte, 1)
	}
	buffers, stop := make(chan []byte, len(slots)), make(chan struct{})
	defer close(stop)
	for range slots {
		buffers <- make([]byte, 0, oneText)
	}
	var next atomic.Int64
	for range workers {
		own := *p
		own.variables, own.places = p.variables.clone(), nil
		group.Go(func() {
			stackgrow.Grow()
			for {
				select {
				case own.out = <-buffers:
				case <-stop:
					return
				}
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				write(&own, i)
				slots[i%len(slots)] <- own.out
			}
		})
	}
	for i := range n {
		text := <-slots[i%len(slots)]
		if err := p.reserve(w, len(text)); err != nil {
			return err
		}
		p.out = append(p.out, text...)
		if cap(text) > maxText {
			text = nil
		}
		buffers <- text[:0]
	}
	return nil
}

// reserve grows the buffer for more bytes of text. It first writes the buffer if it would
// exceed maxText.
func (p *stackPrinter) reserve(w io.Writer, more int) error {
	if len(p.out)+more > maxText {
		return p.flush(w)
	}
	if cap(p.out) < maxText {
		p.out = slices.Grow(p.out, maxText-len(p.out))
	}
	return nil
}

func (p *stackPrinter) flush(w io.Writer) error {
	if len(p.out) == 0 {
		return nil
	}
	_, err := w.Write(p.out)
	p.out = p.out[:0]
	return err
}
