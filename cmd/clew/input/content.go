// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package input

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/internal/untrusted"
	"github.com/clewdev/clew/profile/otlp"
)

// Content is the kind of a file by its first bytes, as in magic(5).
type Content int

const (
	Unknown Content = iota
	ELF             // other than a core
	Core
	Minidump
	Recording // of perf
	OTLP      // a profile in OpenTelemetry's protocol
	Jitdump
	Archive
	Script
	Windows
	MachO
	XZ
	Zstd
	LZ4
	Gzip
	Bzip2
)

var magics = []struct {
	bytes string
	Content
}{
	{elf.ELFMAG, ELF},
	{"MDMP", Minidump},
	{"PERFILE2", Recording}, {"2ELIFREP", Recording}, // in either byte order
	{"JiTD", Jitdump}, {"DTiJ", Jitdump},
	{"!<arch>\n", Archive},
	{"#!", Script},
	{"MZ", Windows},
	{"\xcf\xfa\xed\xfe", MachO},
	{"\xfd7zXZ\x00", XZ},
	{"\x28\xb5\x2f\xfd", Zstd},
	{"\x04\x22\x4d\x18", LZ4},
	{"\x1f\x8b\x08", Gzip},
	{"BZh", Bzip2},
}

// compressions are the names of the formats of compressed files.
var compressions = map[Content]string{XZ: "xz", Zstd: "zstd", LZ4: "lz4", Gzip: "gzip", Bzip2: "bzip2"}

// ContentOf returns the kind of a regular file. It fails only if the file cannot be opened.
func ContentOf(path string) (Content, error) {
	f, err := untrusted.OpenNamed(path)
	if err != nil {
		return Unknown, err
	}
	defer f.Close()
	var head [18]byte // to the e_type of an ELF header
	n, _ := io.ReadFull(f, head[:])
	for _, m := range magics {
		if !strings.HasPrefix(string(head[:n]), m.bytes) {
			continue
		}
		if m.Content == ELF && n == len(head) && elf.Type(byteOrder(&head).Uint16(head[16:])) == elf.ET_CORE {
			return Core, nil
		}
		return m.Content, nil
	}
	if otlp.Recognize(head[:n]) {
		return OTLP, nil
	}
	return Unknown, nil
}

func byteOrder(ident *[18]byte) binary.ByteOrder {
	if elf.Data(ident[elf.EI_DATA]) == elf.ELFDATA2MSB {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// MaybeCore reports whether a file can be a core or a minidump. Only the reader of cores knows the
// contents of a compressed file, and the type of a damaged ELF file.
func (c Content) MaybeCore() bool {
	return c == ELF || c == Core || c == Minidump || compressions[c] != ""
}

// adviceForELF returns advice for a file of this content that was expected to be an ELF file. It is
// "" for a damaged ELF file.
func (c Content) adviceForELF(path string) output.Hint {
	name := printable.Text(path)
	switch c {
	case ELF, Core:
		return ""
	case Minidump:
		return output.Hint(fmt.Sprintf("\nThis is a minidump: 'clew stack %s' prints its stacks.", name))
	case Recording:
		return output.Hint(fmt.Sprintf("\nThis is a recording of perf: 'clew perf %s' reads it.", name))
	case OTLP:
		return output.Hint(fmt.Sprintf("\nThis may be a profile of OpenTelemetry's protocol: 'clew perf %s' reads it.", name))
	case Jitdump:
		return output.Hint(fmt.Sprintf("\nThis is a jitdump: 'clew jit %s' reads it, 'clew jit show FUNC %[1]s' prints a function's table.", name))
	case Archive:
		return "\nThis is an archive: unpack it with 'ar x' and name one of its members."
	case Script:
		return "\nThis is a script: name the program that runs it."
	case XZ, Zstd, LZ4, Gzip, Bzip2:
		return output.Hint("\nThis is " + compressions[c] + "-compressed: unpack it first.")
	case Windows:
		return "\nThis is a Windows program, which has another kind of unwind table."
	case MachO:
		return "\nThis is a Mach-O file; Clew reads ELF."
	}
	return "\nClew reads ELF files: programs, shared libraries, object files, debug files."
}
