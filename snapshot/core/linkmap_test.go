// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/snapshot/core"
)

// linked returns a core without a list of files. Its program has this list of the dynamic
// linker: names of objects, all with their image at one address. The last entry points to the
// entry at index next, if there is one.
func linked(t *testing.T, names []string, next int, lib []byte) *core.Core {
	const base, dynamic, debug, entries, image = 0x400000, 0x500000, 0x501000, 0x1000000, 0x10000000
	program := empty()
	program.load(base, elf.PF_R, 0x1000, nil)
	program.load(dynamic, elf.PF_R, 32, nil)
	file := program.bytes()
	le := binary.LittleEndian
	le.PutUint16(file[16:], uint16(elf.ET_EXEC))
	le.PutUint64(file[64+56+8:], 0)      // p_offset
	le.PutUint64(file[64+56+32:], 0x100) // p_filesz
	le.PutUint32(file[64+2*56:], uint32(elf.PT_DYNAMIC))

	m := empty()
	m.thread(1, 0, 216)
	m.note(6, m.word(m.word(m.word(m.word(nil, 3), base+64), 0), 0))
	var list, paths []byte
	at := uint64(entries + 32*len(names))
	for i, name := range names {
		follow := uint64(entries + 32*(i+1))
		if i == len(names)-1 {
			if follow = 0; next >= 0 {
				follow = uint64(entries + 32*next)
			}
		}
		list = m.word(m.word(m.word(m.word(list, image), at+uint64(len(paths))), 0), follow)
		paths = append(append(paths, name...), 0)
	}
	list = append(list, paths...)
	m.load(dynamic, elf.PF_R, 32, m.word(m.word(m.word(m.word(nil, uint64(elf.DT_DEBUG)), debug), 0), 0))
	m.load(debug, elf.PF_R, 16, m.word(m.word(nil, 1), entries))
	m.load(entries, elf.PF_R, uint64(len(list)), list)
	m.load(image, elf.PF_R, uint64(len(lib)), lib)
	return openOf(t, m.bytes(), write(t, file))
}

// pages returns an image with n segments of one page each.
func pages(n int) []byte {
	list := make([][2]uint64, n)
	for i := range list {
		list[i] = [2]uint64{uint64(i) * 4096, 4096}
	}
	return image(list...)
}

// The list of the dynamic linker is read to its end.
func TestLinkMap(t *testing.T) {
	c := linked(t, []string{"", "/lib/one"}, -1, pages(3))
	var got []string
	for _, m := range c.Snapshot().Mappings {
		got = append(got, fmt.Sprintf("%x %s", m.Start, m.Path))
	}
	if !strings.Contains(strings.Join(got, ","), "10000000 /lib/one,") || !strings.Contains(strings.Join(got, ","), "10002000 /lib/one") {
		t.Errorf("mappings %q", got)
	}
	if err := c.Damage(); err != nil {
		t.Error(err)
	}
}

// A list that is circular, repeats an object, or has many objects with many segments
// results in no more than the core's size allows.
func TestLinkMapWithoutEnd(t *testing.T) {
	damage(t, linked(t, []string{"", "/lib/one", "/lib/two"}, 1, pages(60000)), "it is a cycle with the entry at 0x1000020")

	same := make([]string, 10000)
	for i := range same {
		same[i] = "/lib/one"
	}
	if err := linked(t, same, -1, pages(20)).Damage(); err != nil {
		t.Errorf("one object, listed %d times: %v", len(same), err)
	}

	for i := range same {
		same[i] = fmt.Sprintf("/lib/%d", i)
	}
	damage(t, linked(t, same, -1, pages(20)), "its objects have 131072 segments or more")
}
