// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseMappings(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []Mapping
		err  string
	}{
		{"file", "55d0c6a0f000-55d0c6a11000 r-xp 00002000 fe:01 325835                     /usr/bin/cat\n",
			[]Mapping{{Start: 0x55d0c6a0f000, End: 0x55d0c6a11000, Offset: 0x2000, Readable: true, Executable: true,
				Device: unix.Mkdev(0xfe, 1), Inode: 325835, Path: "/usr/bin/cat"}}, ""},
		{"anonymous", "7f00-8f00 rw-p 00000000 00:00 0 \n",
			[]Mapping{{Start: 0x7f00, End: 0x8f00, Readable: true, Writable: true}}, ""},
		{"no newline, no trailing space", "7f00-8f00 ---p 00000000 00:00 0",
			[]Mapping{{Start: 0x7f00, End: 0x8f00}}, ""},
		{"the kernel's", "7ffc-7ffe r-xp 00000000 00:00 0                          [vdso]\n7fff-8fff rw-p 00000000 00:00 0                          [stack]\n",
			[]Mapping{{Start: 0x7ffc, End: 0x7ffe, Readable: true, Executable: true, Path: "[vdso]"},
				{Start: 0x7fff, End: 0x8fff, Readable: true, Writable: true, Path: "[stack]"}}, ""},
		{"named anonymous", "c000000000-c004000000 rw-p 00000000 00:00 0                              [anon: Go: heap]\n",
			[]Mapping{{Start: 0xc000000000, End: 0xc004000000, Readable: true, Writable: true, Path: "[anon: Go: heap]"}}, ""},
		{"spaces in the path", "1000-2000 r--s 00000000 08:02 7                          /tmp/a b  (c) \n",
			[]Mapping{{Start: 0x1000, End: 0x2000, Readable: true, Device: unix.Mkdev(8, 2), Inode: 7, Path: "/tmp/a b  (c) "}}, ""},
		{"newline in the path", `1000-2000 r--p 00000000 08:02 7                          /tmp/a\012b\x` + "\n",
			[]Mapping{{Start: 0x1000, End: 0x2000, Readable: true, Device: unix.Mkdev(8, 2), Inode: 7, Path: "/tmp/a\nb\\x"}}, ""},
		{"deleted", "1000-2000 r-xp 00000000 08:02 7                          /tmp/a b (deleted)\n",
			[]Mapping{{Start: 0x1000, End: 0x2000, Readable: true, Executable: true, Device: unix.Mkdev(8, 2), Inode: 7, Path: "/tmp/a b", Deleted: true}}, ""},
		{"large device", "1000-2000 r--p 00000000 103:fffff 18446744073709551615 /x\n",
			[]Mapping{{Start: 0x1000, End: 0x2000, Readable: true, Device: unix.Mkdev(0x103, 0xfffff), Inode: 1<<64 - 1, Path: "/x"}}, ""},
		{"vsyscall", "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n",
			[]Mapping{{Start: 0xffffffffff600000, End: 0xffffffffff601000, Executable: true, Path: "[vsyscall]"}}, ""},
		{"out of order and overlapping", "3000-5000 r--p 00000000 00:00 0\n1000-4000 r--p 00001000 08:02 7 /a\n4800-4900 r--p 0 00:00 0\n",
			[]Mapping{{Start: 0x1000, End: 0x4000, Offset: 0x1000, Readable: true, Device: unix.Mkdev(8, 2), Inode: 7, Path: "/a"},
				{Start: 0x4000, End: 0x5000, Offset: 0x1000, Readable: true}}, ""},
		{"an invalid line between", "1000-2000 r--p 00000000 00:00 0\nnonsense\n2000-3000 r--p 00000000 00:00 0\n",
			[]Mapping{{Start: 0x1000, End: 0x2000, Readable: true}, {Start: 0x2000, End: 0x3000, Readable: true}},
			`line 2: "nonsense": field is missing`},
		{"empty range", "2000-2000 r--p 00000000 00:00 0\n", nil, "line 1: mapping 0x2000-0x2000: ends before it starts"},
		{"short permissions", "2000-3000 r- 00000000 00:00 0\n", nil, `line 1: mapping 0x2000: permissions "r-", expected four letters`},
		{"no number", "2000-3000 r--p zero 00:00 0\n", nil, `line 1: strconv.ParseUint: parsing "zero": invalid syntax`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseMappings(strings.NewReader(test.text))
			if len(got)+len(test.want) > 0 && !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, expected %+v", got, test.want)
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != test.err {
				t.Errorf("error %q, expected %q", text, test.err)
			}
		})
	}
}

func FuzzMappings(f *testing.F) {
	f.Add([]byte("55d0c6a0f000-55d0c6a11000 r-xp 00002000 fe:01 325835                     /usr/bin/cat\n"))
	f.Add([]byte("3000-5000 r--p 00000000 00:00 0\n1000-4000 r--p 00001000 08:02 7 /a\\012 (deleted)\n"))
	f.Add([]byte("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n\n-\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mappings, _ := ParseMappings(bytes.NewReader(data))
		end := uint64(0)
		for i, m := range mappings {
			if m.Start >= m.End || m.Start < end {
				t.Fatalf("mapping %d: %#x-%#x after one that ends at %#x", i, m.Start, m.End, end)
			}
			end = m.End
			if found := FindMapping(mappings, m.Start); found != &mappings[i] {
				t.Fatalf("mapping %d is not found by its start", i)
			}
		}
	})
}

// A process can map one file with a long path many times, and many files.
func TestMappingsMemory(t *testing.T) {
	long := strings.Repeat("/"+strings.Repeat("d", 250), 15)
	text := func(lines int, path func(i int) string) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "%x-%x r--p 00000000 08:02 7 %s\n", (i+1)<<12, (i+2)<<12, path(i))
		}
		return b.String()
	}
	same := text(5000, func(i int) string { return long + string(rune('a'+i%2)) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	mappings, err := ParseMappings(strings.NewReader(same))
	runtime.ReadMemStats(&after)
	if err != nil || len(mappings) != 5000 || mappings[4998].Path != long+"a" || mappings[4999].Path != long+"b" {
		t.Errorf("%d mappings, %v", len(mappings), err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 4<<20 {
		t.Errorf("%d bytes are taken for a text of %d", taken, len(same))
	}
	other := text(10_000, func(i int) string { return fmt.Sprint(long, i) })
	if mappings, err := ParseMappings(strings.NewReader(other)); !errors.Is(err, errMapsPaths) || len(mappings) == 0 || len(mappings) > maxMapsPaths/len(long) {
		t.Errorf("%d mappings, %v", len(mappings), err)
	}
	many := strings.Repeat("0-1 r--p 0 0:0 0\n", maxMappings)
	if _, err := ParseMappings(strings.NewReader(many)); errors.Is(err, errMappings) {
		t.Errorf("%d mappings: %v", maxMappings, err)
	}
	if _, err := ParseMappings(strings.NewReader(many + "1-2 r--p 0 0:0 0\n")); !errors.Is(err, errMappings) {
		t.Errorf("%d mappings: %v", maxMappings+1, err)
	}
}
