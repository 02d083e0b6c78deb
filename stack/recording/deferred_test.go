// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/snapshot/perfdata"
)

// Samples get the user part of their call chain from the record of their thread with their
// cookie. Without one they have the kernel's part, or the address.
func TestDeferredChains(t *testing.T) {
	const text = 0xffffffff81000000
	b := newBuilder(new(perfdata.Reader), Options{})
	b.started = true
	inUser := func(time, cookie uint64) {
		t.Helper()
		s := &perfdata.Sample{Fields: perfdata.FieldIP | perfdata.FieldCallchain, IP: 0x6000, Callchain: []uint64{perfdata.ContextUserDeferred, cookie}}
		r := &perfdata.Record{Misc: perfdata.Misc(perfdata.ModeUser), ID: perfdata.SampleID{PID: 1, TID: 4, Time: time}, Body: s}
		if err := b.record(r); err != nil {
			t.Fatal(err)
		}
	}
	sample := func(tid int32, time uint64, tail ...uint64) {
		t.Helper()
		s := &perfdata.Sample{Fields: perfdata.FieldIP | perfdata.FieldCallchain, IP: text,
			Callchain: append([]uint64{perfdata.ContextKernel, text, text + 0x10}, tail...)}
		r := &perfdata.Record{Misc: perfdata.Misc(perfdata.ModeKernel), ID: perfdata.SampleID{PID: 1, TID: tid, Time: time}, Body: s}
		if err := b.record(r); err != nil {
			t.Fatal(err)
		}
	}
	deferred := func(tid int32, cookie uint64, chain ...uint64) {
		t.Helper()
		d := &perfdata.Deferred{Cookie: cookie, Callchain: append([]uint64{perfdata.ContextUser}, chain...)}
		if err := b.record(&perfdata.Record{ID: perfdata.SampleID{PID: 1, TID: tid}, Body: d}); err != nil {
			t.Fatal(err)
		}
	}
	later := func(cookie uint64) []uint64 { return []uint64{perfdata.ContextUserDeferred, cookie} }
	sample(1, 10, later(7)...)
	sample(1, 11, later(7)...)
	sample(2, 12, later(8)...)
	sample(1, 13, perfdata.ContextUser, 0x5000) // is whole
	deferred(1, 7, 0x1000, 0x2000)              // of both
	sample(1, 14, later(9)...)
	deferred(1, 6, 0x3000) // of none: the record of 9 was lost
	deferred(2, 8)         // of a thread without a user stack
	deferred(2, 8, 0x4000) // nothing waits
	sample(2, 15, later(10)...)
	inUser(15, 20)
	deferred(4, 20, 0x6000, 0x7000)
	inUser(16, 21)
	for range maxDeferred {
		sample(3, 16, later(11)...)
	}
	if err := b.giveUpAll(); err != nil {
		t.Fatal(err)
	}
	b.finish()
	var got []string
	for i := range b.rec.Stacks {
		s := &b.rec.Stacks[i]
		line := fmt.Sprintf("%d of %d:", s.Samples, b.rec.Threads[s.Thread].TID)
		for _, f := range b.rec.Frames(s) {
			line += fmt.Sprintf(" %x", f.Address)
			if f.Returns {
				line += "r"
			}
		}
		got = append(got, line)
	}
	want := []string{
		"1 of 1: ffffffff81000000 ffffffff81000010r 5000",
		"2 of 1: ffffffff81000000 ffffffff81000010r 1000 2000r",
		"1 of 1: ffffffff81000000 ffffffff81000010r",
		"2 of 2: ffffffff81000000 ffffffff81000010r",
		"1 of 4: 6000 7000r",
		"1024 of 3: ffffffff81000000 ffffffff81000010r",
		"1 of 4: 6000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.ContainsFunc(b.notes, func(s string) bool {
		return s == "the stacks of 1027 samples are without the part in user mode, because the record that follows later is missing (PERF_RECORD_CALLCHAIN_DEFERRED)"
	}) {
		t.Errorf("%q", b.notes)
	}
	b.close()
}

// Walks that end early go on with the chain that a new kernel recorded later.
func TestDeferredKernel(t *testing.T) {
	packed, err := os.ReadFile("testdata/deferred/deferred.data.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (whole, all uint64) {
		t.Helper()
		rec, err := readBytes(data, Options{Search: debugfile.Search{Root: "testdata/deferred", Stores: []debugfile.Store{}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rec.Stacks {
			s := &rec.Stacks[i]
			var names []string
			for _, f := range rec.Frames(s) {
				if f.Object == nil || f.Object.System == 0 {
					names = append(names, f.Symbol.Name)
				}
			}
			all += s.Samples
			switch {
			case len(names) >= 4 && slices.Equal(names[:4], []string{"inner", "middle", "outer", "_start"}): // the kernel goes on
				whole += s.Samples
			case len(names) > 1:
				t.Errorf("%d samples: %q", s.Samples, names)
			}
		}
		return whole, all
	}
	// The copies of stacks get so short that they do not suffice.
	const header = 16
	var early []byte // without the later records
	for rest := data[header:]; len(rest) > 8; {
		record := rest[:binary.LittleEndian.Uint16(rest[6:])]
		rest = rest[len(record):]
		switch perfdata.Type(binary.LittleEndian.Uint32(record)) {
		case perfdata.TypeCallchainDeferred:
			continue
		case perfdata.TypeSample:
			filled := record[len(record)-8:]
			binary.LittleEndian.PutUint64(filled, min(binary.LittleEndian.Uint64(filled), 16))
		}
		early = append(early, record...)
	}
	whole, all := read(data)
	if all < 100 || whole*100 < all*98 { // the first instructions of the program have no frame yet
		t.Errorf("%d of %d samples are whole", whole, all)
	}
	if whole, _ = read(append(data[:header:header], early...)); whole != 0 {
		t.Errorf("%d samples are whole without their chains", whole)
	}
}
