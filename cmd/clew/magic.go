// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
)

// content is what a file is by its first bytes, which magic(5) tells too.
type content int

const (
	unknownContent content = iota
	elfFile                // but a core
	elfCore
	recordingFile // of perf
	jitdumpFile
	archiveFile
	scriptFile
	windowsFile
	machOFile
	xzFile
	zstdFile
	lz4File
	gzipFile
	bzip2File
)

var magics = []struct {
	bytes string
	content
}{
	{elf.ELFMAG, elfFile},
	{"PERFILE2", recordingFile}, {"2ELIFREP", recordingFile}, // in either byte order
	{"JiTD", jitdumpFile}, {"DTiJ", jitdumpFile},
	{"!<arch>\n", archiveFile},
	{"#!", scriptFile},
	{"MZ", windowsFile},
	{"\xcf\xfa\xed\xfe", machOFile},
	{"\xfd7zXZ\x00", xzFile},
	{"\x28\xb5\x2f\xfd", zstdFile},
	{"\x04\x22\x4d\x18", lz4File},
	{"\x1f\x8b\x08", gzipFile},
	{"BZh", bzip2File},
}

// contentOf returns what a regular file is. The error says that it cannot be opened.
func contentOf(path string) (content, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return unknownContent, err
	}
	defer f.Close()
	var head [18]byte // to the e_type of an ELF header
	n, _ := io.ReadFull(f, head[:])
	for _, m := range magics {
		if !strings.HasPrefix(string(head[:n]), m.bytes) {
			continue
		}
		if m.content == elfFile && n == len(head) && elf.Type(byteOrder(&head).Uint16(head[16:])) == elf.ET_CORE {
			return elfCore, nil
		}
		return m.content, nil
	}
	return unknownContent, nil
}

func byteOrder(ident *[18]byte) binary.ByteOrder {
	if elf.Data(ident[elf.EI_DATA]) == elf.ELFDATA2MSB {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// maybeCore reports whether a file can be a core. What a compressed file holds, and
// which kind of ELF file a damaged one is, those who read cores find out.
func (c content) maybeCore() bool {
	switch c {
	case elfFile, elfCore, xzFile, zstdFile, lz4File, gzipFile, bzip2File:
		return true
	}
	return false
}

// insteadOfELF says what to do with a file of this content, which is not the ELF file
// that was expected.
func (c content) insteadOfELF(path string) hint {
	path = printable.Text(path)
	switch c {
	case elfFile, elfCore: // it is one, and damaged
		return ""
	case recordingFile:
		return hint(fmt.Sprintf("\nThis is a recording of perf: 'clew perf %s' reads it.", path))
	case jitdumpFile:
		return hint(fmt.Sprintf("\nThis is a jitdump: 'clew jit %s' reads it, 'clew jit show FUNC %[1]s' prints a function's table.", path))
	case archiveFile:
		return "\nThis is an archive: unpack it with 'ar x' and name one of its members."
	case scriptFile:
		return "\nThis is a script: name the program that runs it."
	case xzFile:
		return "\nThis is xz-compressed: unpack it first."
	case zstdFile:
		return "\nThis is zstd-compressed: unpack it first."
	case lz4File:
		return "\nThis is lz4-compressed: unpack it first."
	case gzipFile:
		return "\nThis is gzip-compressed: unpack it first."
	case bzip2File:
		return "\nThis is bzip2-compressed: unpack it first."
	case windowsFile:
		return "\nThis is a Windows program, which has another kind of unwind table."
	case machOFile:
		return "\nThis is a Mach-O file; Clew reads ELF."
	}
	return "\nClew reads ELF files: programs, shared libraries, object files, debug files."
}
