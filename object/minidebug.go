// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"

	"github.com/clewdev/clew/internal/filemap"
)

// openMiniDebugInfo opens .gnu_debugdata: an ELF file with the symbols that
// .dynsym leaves out, compressed by xz. It returns nil where there is none.
func (f *File) openMiniDebugInfo() (mini *File, err error) {
	fault := Guard(func() error {
		i, ok := f.find(".gnu_debugdata")
		if !ok {
			return nil
		}
		var data []byte
		if data, err = f.content(i); err == nil {
			data, err = f.unxz(data)
		}
		if err == nil {
			mini, err = NewFile(data, f.name+"(.gnu_debugdata)")
		}
		if err != nil {
			err = fmt.Errorf("section .gnu_debugdata: %w", err)
		}
		return nil
	})
	if fault != nil {
		return nil, fault
	}
	if mini != nil {
		// One level is all there is.
		mini.mini = func() (*File, error) { return nil, nil }
	}
	return mini, err
}

// unxz decompresses a stream of unknown size, to at most 64 MiB: the symbols of
// libLLVM, compressed so, take 4.
func (f *File) unxz(data []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError("xz", r)
		}
	}()
	// A dictionary larger than the output is only ever asked for by mistake.
	config := xz.ReaderConfig{SingleStream: true}
	r, err := config.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	// In blocks that are joined at the end: to grow one slice would allocate several
	// times what is read.
	var blocks [][]byte
	block := make([]byte, 0, 64<<10)
	size := 0
	for err == nil {
		if len(block) == cap(block) {
			blocks = append(blocks, block)
			block = make([]byte, 0, min(2*cap(block), 4<<20))
		}
		var n int
		n, err = r.Read(block[len(block):cap(block)])
		block = block[:len(block)+n]
		if size += n; size > slack {
			return nil, fmt.Errorf("more than %d bytes when decompressed", slack)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return bytes.Join(append(blocks, block), nil), f.spend(uint64(size))
}

// panicError makes an error of a recovered panic of a library, and panics
// again where it was a fault of a mapping, which Guard tells of.
func panicError(library string, r any) error {
	if fault, ok := r.(interface{ Addr() uintptr }); ok {
		if _, ok := filemap.At(fault.Addr()); ok {
			panic(r)
		}
	}
	return fmt.Errorf("%s: panic: %v", library, r)
}
