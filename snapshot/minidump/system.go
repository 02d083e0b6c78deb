// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package minidump

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/internal/stored"
)

// Platforms, which Breakpad defines.
const (
	platformLinux   = 0x8201
	platformAndroid = 0x8203
)

// platformNames are the names of unsupported platforms.
var platformNames = map[uint32]string{1: "Windows", 2: "Windows", 3: "Windows CE", 0x8101: "macOS", 0x8102: "iOS", 0x8202: "Solaris",
	0x8204: "PlayStation 3", 0x8205: "Native Client", 0x8206: "Fuchsia"}

// readSystem reads the machine and the system of the dump, which all other streams need.
func (d *dump) readSystem() error {
	l, ok := d.streams[systemInfo]
	if !ok {
		return errors.New("no SystemInfo stream, so the machine is not known")
	}
	b, err := d.head(l, 24)
	if err != nil {
		return fmt.Errorf("SystemInfo stream at offset %#x: %w", l.at, err)
	}
	if platform := le.Uint32(b[20:]); platform != platformLinux && platform != platformAndroid {
		name := platformNames[platform]
		if name == "" {
			name = fmt.Sprintf("platform %#x", platform)
		}
		return fmt.Errorf("SystemInfo stream at offset %#x: a minidump of %s, expected one of Linux or Android", l.at, name)
	}
	architecture := le.Uint16(b)
	for i := range processors {
		if p := &processors[i]; p.architecture == architecture {
			d.cpu, d.Machine = p, arch.Lookup(p.machine, p.class, elf.ELFDATA2LSB)
			return nil
		}
	}
	return fmt.Errorf("SystemInfo stream at offset %#x: processor architecture %#x is not supported", l.at, architecture)
}

func (d *dump) readAuxv(_ streamType, l location) error {
	b, err := d.text(l, stored.MaxAuxv)
	if err != nil {
		return err
	}
	d.ReadAuxv(b)
	return nil
}

const (
	maxStatus  = 64 << 10 // /proc/PID/status has some 1,500 bytes
	maxCommand = 4 << 10
	maxPath    = 8 << 10 // bytes; the longest path of Linux in UTF-16
)

func (d *dump) readStatus(_ streamType, l location) error {
	b, err := d.text(l, maxStatus)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(b) {
		key, value, _ := strings.Cut(string(line), ":")
		fields := strings.Fields(value)
		switch {
		case key == "Name":
			d.processName = strings.TrimSpace(value)
		case key == "Pid" && len(fields) == 1:
			d.Snapshot.PID, _ = strconv.Atoi(fields[0])
		case key == "Uid" && len(fields) > 0:
			user, _ := strconv.ParseUint(fields[0], 10, 32)
			d.User = uint32(user)
		}
	}
	return nil
}

// readMisc reads the process's ID from MINIDUMP_MISC_INFO.
func (d *dump) readMisc(_ streamType, l location) error {
	const hasProcessID = 1 // MINIDUMP_MISC1_PROCESS_ID
	b, err := d.head(l, 12)
	if err == nil && le.Uint32(b[4:])&hasProcessID != 0 && d.Snapshot.PID == 0 {
		d.Snapshot.PID = int(int32(le.Uint32(b[8:])))
	}
	return err
}

func (d *dump) readCommand(_ streamType, l location) error {
	b, err := d.text(l, maxCommand)
	d.Snapshot.Command = string(bytes.TrimSpace(bytes.ReplaceAll(bytes.TrimRight(b, "\x00"), []byte{0}, []byte{' '})))
	return err
}

func (d *dump) readMaps(_ streamType, l location) (err error) {
	if err := d.check(l); err != nil {
		return err
	}
	d.maps, err = snapshot.ParseMappings(io.NewSectionReader(d.File, int64(l.at), int64(l.size)))
	return err
}

// stringAt reads a MINIDUMP_STRING of at most limit bytes: its size in bytes, and UTF-16.
func (d *dump) stringAt(at, limit uint64) (string, error) {
	b, err := d.bytes(location{at, 4})
	if err != nil {
		return "", err
	}
	size := uint64(le.Uint32(b))
	if size > limit || size%2 != 0 {
		return "", fmt.Errorf("string at offset %#x: %d bytes, expected an even number up to %d", at, size, limit)
	}
	if b, err = d.bytes(location{at + 4, size}); err != nil {
		return "", fmt.Errorf("string at offset %#x: %w", at, err)
	}
	units := make([]uint16, 0, size/2)
	for ; len(b) > 0 && (b[0] != 0 || b[1] != 0); b = b[2:] {
		units = append(units, le.Uint16(b))
	}
	return string(utf16.Decode(units)), nil
}
