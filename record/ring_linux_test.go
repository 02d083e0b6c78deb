// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"
)

// A kernel's buffer in ordinary memory.
type kernelSide struct {
	*ring
	head uint64
}

func newKernelSide(size int) *kernelSide {
	page := os.Getpagesize()
	b := make([]byte, page+size)
	return &kernelSide{ring: &ring{pages: b, data: b[page:]}}
}

func (k *kernelSide) write(b []byte) {
	for i, c := range b {
		k.data[(k.head+uint64(i))%uint64(len(k.data))] = c
	}
	k.head += uint64(len(b))
	atomic.StoreUint64(&k.page().Data_head, k.head)
}

func numbered(n byte, size int) []byte {
	b := make([]byte, size)
	order.PutUint16(b[6:], uint16(size))
	for i := 8; i < size; i++ {
		b[i] = n
	}
	return b
}

func TestRing(t *testing.T) {
	k := newKernelSide(1 << 12)
	written, read := byte(0), byte(0)
	for round := range 1000 {
		for range round % 5 {
			k.write(numbered(written, 16+8*(int(written)%80)))
			written++
		}
		if err := k.drain(func(record []byte) error {
			want := numbered(read, 16+8*(int(read)%80))
			if string(record) != string(want) {
				t.Fatalf("record %d is %x, expected %x", read, record, want)
			}
			read++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if read != written || k.page().Data_tail != k.head {
			t.Fatalf("%d of %d records, up to %d of %d bytes", read, written, k.page().Data_tail, k.head)
		}
	}
}

func TestRingErrors(t *testing.T) {
	k := newKernelSide(1 << 12)
	stop := errors.New("stop")
	k.write(numbered(1, 16))
	k.write(numbered(2, 16))
	n := 0
	if err := k.drain(func([]byte) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	}); err != stop || k.page().Data_tail != 16 {
		t.Errorf("error %v, %d bytes were read, expected %v after 16", err, k.page().Data_tail, stop)
	}
	for _, size := range []int{0, 7, 24} {
		k := newKernelSide(1 << 12)
		b := numbered(1, 16)
		order.PutUint16(b[6:], uint16(size))
		k.write(b)
		if err := k.drain(func([]byte) error { return nil }); err == nil || k.page().Data_tail != 16 {
			t.Errorf("a record of size %d in 16 bytes: error %v, %d bytes were read", size, err, k.page().Data_tail)
		}
	}
}
