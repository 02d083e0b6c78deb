// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clewdev/clew/jit"
)

// The number of files stays small for any number of functions: a file that was full
// once is merged when it no longer is.
func TestListStaysShort(t *testing.T) {
	p := new(Publisher)
	const batches, n = 500, 600
	var all []jit.Registration
	for i := range batches {
		all = append(all, publish(t, p, code(uint64(i+1)<<32, n)))
		if s := p.Stats(); s.Files > 2*fullFiles+3*p.mergeAt() {
			t.Fatalf("%d batches: %d files", i+1, s.Files)
		}
	}
	if s := p.Stats(); s.Functions != batches*n || s.Files > 2*fullFiles+p.mergeAt() {
		t.Errorf("%+v", s)
	}
	for i, r := range all {
		if i%2 == 0 {
			withdraw(t, r)
		} else {
			withdraw(t, r, 0, n/2, n-1)
		}
	}
	if s := p.Stats(); s.Functions != batches/2*(n-3) {
		t.Errorf("%d functions, expected %d", s.Functions, batches/2*(n-3))
	}
	for _, r := range all {
		withdraw(t, r)
	}
	if s := p.Stats(); s.Functions != 0 || s.Files != 0 || s.Bytes != 0 {
		t.Errorf("all is withdrawn: %+v", s)
	}
}

// The mapped memory is at most 1.3 times the images and a chunk.
func TestMemoryOfImages(t *testing.T) {
	for _, test := range []struct {
		name          string
		publisher     *Publisher
		batches, size int
		flush         int // mean number of batches between calls of Flush; 0: never
	}{
		{"one at a time", new(Publisher), 5000, 1, 0},
		{"gathered", &Publisher{Gather: time.Millisecond}, 5000, 1, 0},
		{"gathered by hundreds", &Publisher{Gather: time.Hour}, 5000, 1, 200},
		{"batches", new(Publisher), 50, 1000, 0},
		{"one small batch", new(Publisher), 1, 10, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := test.publisher
			random := rand.New(rand.NewPCG(5, 0))
			for i := range test.batches {
				r := publish(t, p, code(uint64(i*test.size)*stride+1<<32, test.size))
				defer withdraw(t, r)
				if test.flush > 0 && random.IntN(test.flush) == 0 {
					p.Flush()
				}
			}
			p.Flush()
			if s := p.Stats(); s.Memory > s.Bytes*13/10+chunkSize {
				t.Errorf("%+v: %.2f times the images", s, float64(s.Memory)/float64(s.Bytes))
			}
		})
	}
}

// A file of many batches that was not full when there were more functions is rewritten
// as one file: a batch of one function cannot be in two files.
func TestFileOutgrowsFull(t *testing.T) {
	p := &Publisher{MergeAt: 2}
	const many = fullFiles * 4 * fullFunctions
	p.functions += many // as if others were published
	p.bytes += many * 128
	var all []jit.Registration
	for i := range 4*fullFunctions + 100 {
		all = append(all, publish(t, p, code(1<<32+uint64(i)*stride, 1)))
	}
	p.functions -= many
	p.bytes -= many * 128
	if s := p.Stats(); s.Files > 8 {
		t.Fatalf("%+v, expected a file with most of the functions", s)
	}
	for i, r := range all {
		if i%100 == 0 {
			withdraw(t, r)
		}
	}
	if s := p.Stats(); s.Functions != len(all)-(len(all)+99)/100 {
		t.Errorf("%+v", s)
	}
	for _, r := range all {
		withdraw(t, r)
	}
	if s := p.Stats(); s.Functions != 0 || s.Files != 0 {
		t.Errorf("all is withdrawn: %+v", s)
	}
}
