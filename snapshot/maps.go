// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

const (
	// maxMapsText and maxMapsPaths bound the text that is read, and the paths that are
	// kept. Each of a million mappings can have another path of 4 KB.
	maxMapsText  = 256 << 20 // bytes
	maxMapsPaths = 32 << 20  // bytes of distinct paths
	maxMappings  = 1 << 20   // the highest vm.max_map_count that distributions set
	// maxMapsLine exceeds the length of a line, even if all bytes of its path are escaped.
	maxMapsLine = 32 << 10
)

var (
	errMappings  = fmt.Errorf("there are more than %d mappings", maxMappings)
	errMapsText  = fmt.Errorf("the list of mappings is longer than %d bytes", maxMapsText)
	errMapsPaths = fmt.Errorf("the paths of the mapped files have more than %d bytes in total", maxMapsPaths)
)

// ParseMappings reads the text of /proc/PID/maps (proc_pid_maps(5)). It skips malformed
// lines, and the error names the first of them. Mappings can overlap if the list
// changes while it is read; the earlier line then keeps the overlap. Mappings of the
// same path share the string.
func ParseMappings(r io.Reader) ([]Mapping, error) {
	var first error
	fail := func(number int, err error) {
		if first == nil {
			first = fmt.Errorf("line %d: %w", number, err)
		}
	}
	var mappings []Mapping
	paths := make(map[string]string)
	text, held := 0, 0
	lines := bufio.NewReaderSize(r, maxMapsLine)
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		if text += len(line); text > maxMapsText {
			fail(number, errMapsText)
			break
		}
		if len(line) > 0 {
			m, path, err := parseMapping(bytes.TrimSuffix(line, []byte{'\n'}))
			if err == nil && len(mappings) == maxMappings {
				fail(number, errMappings)
				break
			}
			if err != nil {
				fail(number, err)
			} else {
				known, ok := paths[string(path)]
				if !ok {
					if held += len(path); held > maxMapsPaths {
						fail(number, errMapsPaths)
						break
					}
					known = string(path)
					paths[known] = known
				}
				m.Path = known
				mappings = append(mappings, m)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil { // a line that is too long, or the process exited
			fail(number, err)
			break
		}
	}
	return disjoint(mappings), first
}

// disjoint sorts mappings by address and cuts overlaps away, in place.
func disjoint(mappings []Mapping) []Mapping {
	slices.SortStableFunc(mappings, func(a, b Mapping) int { return cmp.Compare(a.Start, b.Start) })
	kept := mappings[:0]
	var end uint64
	for _, m := range mappings {
		if m.End <= end {
			continue
		}
		if m.Start < end {
			m.Offset += end - m.Start
			m.Start = end
		}
		end = m.End
		kept = append(kept, m)
	}
	return kept
}

// parseMapping reads one line:
//
//	start-end perms offset major:minor inode [spaces path]
//
// All numbers except the inode are hexadecimal. The path can be a part of line.
func parseMapping(line []byte) (m Mapping, path []byte, err error) {
	c := lineCursor{rest: line}
	m.Start = c.number(16, '-')
	m.End = c.number(16, ' ')
	perms := c.field(' ')
	m.Offset = c.number(16, ' ')
	major := c.number(16, ':')
	minor := c.number(16, ' ')
	m.Inode = c.number(10, ' ')
	switch {
	case c.err != nil:
		return m, nil, c.err
	case m.Start >= m.End:
		return m, nil, fmt.Errorf("mapping %#x-%#x: ends before it starts", m.Start, m.End)
	case len(perms) != 4:
		return m, nil, fmt.Errorf("mapping %#x: permissions %q, expected four letters", m.Start, perms)
	case major > 1<<32-1 || minor > 1<<32-1:
		return m, nil, fmt.Errorf("mapping %#x: device %x:%x does not fit 32 bits", m.Start, major, minor)
	}
	m.Device = device(major, minor)
	m.Readable = perms[0] == 'r'
	m.Writable = perms[1] == 'w'
	m.Executable = perms[2] == 'x'

	path = bytes.TrimLeft(c.rest, " ")
	if name, ok := bytes.CutSuffix(path, []byte(" (deleted)")); ok && m.Inode != 0 {
		path, m.Deleted = name, true
	}
	// seq_file_path escapes only the newline, not even the backslash.
	if bytes.Contains(path, []byte(`\012`)) {
		path = bytes.ReplaceAll(path, []byte(`\012`), []byte{'\n'})
	}
	return m, path, nil
}

// lineCursor reads the fields of a line. It keeps the first error.
type lineCursor struct {
	rest []byte
	err  error
}

var errFieldMissing = errors.New("field is missing")

// field returns the bytes before sep and skips it. The end of the line also ends a field that
// a space ends.
func (c *lineCursor) field(sep byte) []byte {
	if c.err != nil {
		return nil
	}
	f, rest, found := bytes.Cut(c.rest, []byte{sep})
	if len(f) == 0 || !found && sep != ' ' {
		c.err = fmt.Errorf("%q: %w", c.rest, errFieldMissing)
		return nil
	}
	c.rest = rest
	return f
}

func (c *lineCursor) number(base int, sep byte) uint64 {
	f := c.field(sep)
	if c.err != nil {
		return 0
	}
	v, err := strconv.ParseUint(string(f), base, 64)
	if err != nil {
		c.err = err
	}
	return v
}

// device encodes a device as Linux's stat(2) does (glibc's makedev).
func device(major, minor uint64) uint64 {
	return minor&0xff | major&0xfff<<8 | minor&^0xff<<12 | major&^0xfff<<32
}
