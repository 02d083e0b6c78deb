// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

func TestQueue(t *testing.T) {
	q := newQueue()
	random := rand.New(rand.NewPCG(1, 2))
	var want bytes.Buffer
	got := make(chan []byte)
	go func() {
		b, err := io.ReadAll(q)
		if err != nil {
			t.Error(err)
		}
		got <- b
	}()
	for range 2000 {
		b := make([]byte, random.IntN(1<<16))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		want.Write(b)
		if _, err := q.Write(b); err != nil {
			t.Fatal(err)
		}
		if random.IntN(10) == 0 {
			if err := q.flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := q.flush(); err != nil {
		t.Fatal(err)
	}
	q.end()
	if b := <-got; !bytes.Equal(b, want.Bytes()) {
		t.Errorf("%d bytes were read, %d written, or they differ", len(b), want.Len())
	}
}

// A writer does not wait for a reader that has given up.
func TestAbandonedQueue(t *testing.T) {
	q := newQueue()
	q.abandon()
	q.abandon()
	var err error
	for range 2 * queueBlocks {
		if _, err = q.Write(make([]byte, blockSize)); err == nil {
			err = q.flush()
		}
		if err != nil {
			break
		}
	}
	if !errors.Is(err, errAbandoned) {
		t.Errorf("error %v, expected %v", err, errAbandoned)
	}
}
