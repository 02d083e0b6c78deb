// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package minidump

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/snapshot/internal/stored"
)

// module is an entry of the module list.
type module struct {
	path       string
	base, size uint64
}

const (
	moduleSize = 108
	maxModules = 1 << 14 // objects of one process
	maxBuildID = 64      // bytes; linkers write 8 to 20

	// The first bytes of CodeView records.
	buildIDRecord = "LEpB" // Breakpad's for ELF: the build ID follows
	pdb70Record   = "RSDS" // a GUID follows, and fields that are not read
	guidSize      = 16
)

// readModules reads MINIDUMP_MODULE_LIST.
func (d *dump) readModules(_ streamType, l location) error {
	count, start, err := d.listCount(l, moduleSize)
	if err != nil {
		return err
	}
	d.BuildIDs = make(map[uint64]stored.BuildID)
	paths := make(map[uint64]string) // by offset: many modules of a hostile file can share one
	var errs errorList
	err = d.eachEntry(l, start, moduleSize, count, maxModules, func(b []byte) {
		m := module{base: le.Uint64(b), size: uint64(le.Uint32(b[8:]))}
		at := uint64(le.Uint32(b[20:]))
		path, ok := paths[at]
		if !ok {
			var err error
			if path, err = d.stringAt(at, maxPath); err != nil {
				errs.add(fmt.Errorf("module at %#x: %w", m.base, err))
				return
			}
			paths[at] = path
		}
		m.path = path
		d.modules = append(d.modules, m)
		id, err := d.codeView(location{uint64(le.Uint32(b[80:])), uint64(le.Uint32(b[76:]))})
		if err != nil {
			errs.add(fmt.Errorf("module at %#x: %w", m.base, err))
		} else if _, ok := d.BuildIDs[m.base]; !ok && len(id.Bytes) > 0 {
			d.BuildIDs[m.base] = id
		}
	})
	errs.add(err)
	return errors.Join(errs...)
}

// codeView reads the build ID of a CodeView record. Old versions of Breakpad wrote its
// first 16 bytes as the GUID of a PDB file.
func (d *dump) codeView(l location) (id stored.BuildID, err error) {
	if l.size <= 4 {
		return id, nil
	}
	b, err := d.bytes(location{l.at, min(l.size, 4+maxBuildID)})
	if err != nil {
		return id, fmt.Errorf("CodeView record: %w", err)
	}
	content := b[4:]
	switch string(b[:4]) {
	case buildIDRecord:
		id.Bytes = content
	case pdb70Record:
		if len(content) < guidSize {
			return id, fmt.Errorf("CodeView record at offset %#x: %d bytes, at least %d expected", l.at, l.size, 4+guidSize)
		}
		id.Bytes, id.Prefix = content[:guidSize], true
	}
	if len(bytes.Trim(id.Bytes, "\x00")) == 0 {
		id.Bytes = nil // zeros mean that the file has no build ID
	}
	return id, nil
}

// useModules sets the program, which is the first module of the list. It adds the files of the
// list if the dump has no list of mappings.
func (d *dump) useModules() {
	if len(d.modules) > 0 {
		d.Program = d.modules[0].base
	}
	if len(d.maps) > 0 {
		return
	}
	d.Arrange() // makes the dumped parts of the files readable
	for _, m := range d.modules {
		if strings.HasPrefix(m.path, "/") {
			d.AddModule(m.path, m.base, m.size)
		}
	}
}
