// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is the buffer that the kernel fills with the records of a processor: struct
// perf_event_mmap_page of include/uapi/linux/perf_event.h, and 2^n pages after it.
type ring struct {
	fd    int
	pages []byte // the mapping
	data  []byte
	read  uint64 // all bytes that were read; the kernel's head continues from it
	flat  []byte // a record that reaches over the end of data
}

// ringSizes are the sizes to try, in bytes. Without CAP_IPC_LOCK the sum of a user's buffers is
// limited by kernel.perf_event_mlock_kb, 516 KiB for each processor, and RLIMIT_MEMLOCK.
var ringSizes = []int{8 << 20, 4 << 20, 2 << 20, 1 << 20, 512 << 10, 256 << 10, 128 << 10}

// maxRings bounds the sum of the sizes of all buffers, whose memory the kernel cannot swap out.
const maxRings = 256 << 20

// newRing maps the buffer of an event, one of n, of at most a size.
func newRing(fd, n, most int) (*ring, error) {
	page := os.Getpagesize()
	var last error
	for i, size := range ringSizes {
		if (size > most || n*size > maxRings) && i < len(ringSizes)-1 {
			continue
		}
		b, err := unix.Mmap(fd, 0, page+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			return &ring{fd: fd, pages: b, data: b[page:]}, nil
		}
		if last = err; !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) {
			break
		}
	}
	return nil, fmt.Errorf("a buffer for samples could not be mapped: %w (the limit of locked memory, ulimit -l, and the sysctl kernel.perf_event_mlock_kb bound it)", last)
}

func (r *ring) close() error { return unix.Munmap(r.pages) }

// page returns the kernel's part of the buffer.
func (r *ring) page() *unix.PerfEventMmapPage {
	return (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.pages[0]))
}

// drain calls each for the records in the buffer, up to the newest one at the beginning of
// the call. A record is valid during the call. If each returns an error, the record stays in
// the buffer.
func (r *ring) drain(each func(record []byte) error) error {
	head := atomic.LoadUint64(&r.page().Data_head)
	size := uint64(len(r.data))
	// Give the buffer back to the kernel now and then, not after each record.
	const part = 64 << 10
	given := r.read
	defer func() { atomic.StoreUint64(&r.page().Data_tail, r.read) }()
	for r.read < head {
		at := r.read & (size - 1)
		length := uint64(binary.NativeEndian.Uint16(r.data[at+6:]))
		if length < 8 || length > head-r.read {
			// The kernel never writes this.
			left := head - r.read
			r.read = head
			return fmt.Errorf("the kernel's buffer has a record of %d bytes where %d are left", length, left)
		}
		record := r.data[at:min(at+length, size)]
		if uint64(len(record)) < length {
			r.flat = append(append(r.flat[:0], record...), r.data[:length-uint64(len(record))]...)
			record = r.flat
		}
		if err := each(record); err != nil {
			return err
		}
		if r.read += length; r.read-given > part {
			given = r.read
			atomic.StoreUint64(&r.page().Data_tail, r.read)
		}
	}
	return nil
}
