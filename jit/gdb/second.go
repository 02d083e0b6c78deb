// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/jit/gdb/registry"
)

// second looks for other copies of the descriptor in this process: once everywhere,
// then from time to time in files that were mapped since.
var second struct {
	next  atomic.Int64 // time of the next search, in nanoseconds since the first; negative means never
	found atomic.Pointer[error]

	sync.Mutex
	start   time.Time
	checked map[mappedFile]struct{}
}

// searchInterval is the time between searches for copies in libraries that are loaded later.
// Reading the list of mappings takes some ten microseconds.
const searchInterval = time.Second

// mappedFile identifies a file, even after another file replaced it.
type mappedFile struct {
	device string // as the kernel prints it
	inode  uint64
	path   string
}

// checkSecond returns an error that wraps ErrSecondDescriptor if the process contains
// another copy of the descriptor.
func checkSecond() error {
	next := second.next.Load()
	if next == 0 || next > 0 && time.Since(second.start).Nanoseconds() >= next {
		second.Lock()
		defer second.Unlock()
		if second.next.Load() == next { // otherwise another goroutine has just searched
			searchSecond()
		}
	}
	if err := second.found.Load(); err != nil {
		return *err
	}
	return nil
}

// searchSecond searches the files that were mapped since the last search. The caller holds
// the lock of second.
func searchSecond() {
	if second.checked == nil {
		second.start = time.Now()
		second.checked = make(map[mappedFile]struct{})
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		// Without the list of mappings, as without symbols, no copy is found.
		second.next.Store(-1)
		return
	}
	own := uint64(uintptr(unsafe.Pointer(ownDescriptor())))
	for line := range bytes.Lines(maps) {
		m, ok := parseMapping(line)
		if !ok {
			continue
		}
		if _, ok := second.checked[m.mappedFile]; ok {
			continue
		}
		second.checked[m.mappedFile] = struct{}{}
		for _, at := range descriptorsIn(m) {
			if at != own && second.found.Load() == nil {
				err := fmt.Errorf("%w: at %#x in %s, and at %#x in this program", ErrSecondDescriptor, at, m.path, own)
				second.found.Store(&err)
			}
		}
	}
	if len(second.checked) > 1 {
		second.next.Store((time.Since(second.start) + searchInterval).Nanoseconds())
	} else {
		// A program without a dynamic linker loads no libraries later.
		second.next.Store(-1)
	}
}

// codeMapping is a line of /proc/self/maps for executable memory of a file.
type codeMapping struct {
	mappedFile
	start, offset uint64
}

// parseMapping reads a line of /proc/self/maps (proc_pid_maps(5)). ok is false unless
// it is executable memory of a file.
func parseMapping(line []byte) (m codeMapping, ok bool) {
	// address perms offset dev inode pathname
	fields := strings.SplitN(strings.TrimSpace(string(line)), " ", 6)
	if len(fields) < 6 || len(fields[1]) != 4 || fields[1][2] != 'x' {
		return m, false
	}
	start, _, _ := strings.Cut(fields[0], "-")
	var errs [3]error
	m.start, errs[0] = strconv.ParseUint(start, 16, 64)
	m.offset, errs[1] = strconv.ParseUint(fields[2], 16, 64)
	m.inode, errs[2] = strconv.ParseUint(fields[4], 10, 64)
	m.device, m.path = fields[3], strings.TrimLeft(fields[5], " ")
	return m, errs == [3]error{} && m.inode != 0 && strings.HasPrefix(m.path, "/")
}

// descriptorsIn returns the run-time addresses of the descriptors that a mapped file
// defines. It returns none if the file was removed or has no symbols.
func descriptorsIn(m codeMapping) []uint64 {
	file, err := untrusted.Open("", m.path)
	if err != nil {
		return nil
	}
	defer file.Close()
	// Ignore the device: layered file systems and subvolumes report different ones.
	if info, err := file.Stat(); err != nil || untrusted.IdentityOf(info).Inode != m.inode {
		return nil
	}
	return findSymbol(file, registry.DescriptorSymbol, m)
}
