// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"bytes"
	"debug/elf"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/readelf"
)

// Separate debug files are found and printed as readelf does.
func TestSeparateFiles(t *testing.T) {
	id := bytes.Repeat([]byte{0xc1}, 20)
	note := section{name: ".note.gnu.build-id", typ: elf.SHT_NOTE, flags: elf.SHF_ALLOC,
		data: cat(u32(4), u32(20), u32(3), "GNU", id)}
	eh := newEH()
	eh.fde(eh.cie(zrCIE...), cat(eh.code(0x1000, 16, 4), 0, 0x41, 0x0e, 16)...)
	nobits := section{name: ".eh_frame", typ: elf.SHT_NOBITS, flags: elf.SHF_ALLOC, size: 64}
	debug := amd64Sections(note, nobits, function(plainCIE, 0x41, 0x0e, 16).section(0))
	link := section{name: ".gnu_debuglink", data: cat("main.debug", 0, u32(crc32.ChecksumIEEE(debug)))}
	alt := section{name: ".gnu_debugaltlink", data: cat("shared.debug", id)}

	linked := amd64Sections(eh.section(0x2000), link)
	byID := amd64Sections(note, eh.section(0x2000))
	const idName = ".build-id/c1/c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1.debug"

	for _, test := range []struct {
		name    string
		main    []byte
		files   []string // copies of debug
		damaged string   // a copy of debug with one more byte
		opened  []string
		faulty  bool
		differs bool // from readelf
	}{
		{name: "none", main: amd64Sections(eh.section(0x2000))},
		{name: "missing", main: linked},
		{name: "next-to-it", main: linked, files: []string{"main.debug"}, opened: []string{"main.debug"}},
		{name: "below", main: linked, files: []string{".debug/main.debug"}, opened: []string{".debug/main.debug"}},
		{name: "other checksum", main: linked, damaged: "main.debug", faulty: true},
		{name: "second choice", main: linked, damaged: "main.debug", files: []string{".debug/main.debug"}, opened: []string{".debug/main.debug"}},
		{name: "build ID", main: byID, files: []string{idName}, opened: []string{idName}},
		{name: "build ID below", main: byID, files: []string{".debug/" + idName}, opened: []string{".debug/" + idName}},
		{name: "dwz", main: amd64Sections(eh.section(0x2000), alt), files: []string{"shared.debug"}, opened: []string{"shared.debug"}},
		{name: "dwz and link", main: amd64Sections(eh.section(0x2000), alt, link), files: []string{"shared.debug", "main.debug"},
			opened: []string{"main.debug", "shared.debug"}},
		{name: "both", main: amd64Sections(note, eh.section(0x2000), link), files: []string{"main.debug", idName},
			opened: []string{idName, "main.debug"}, differs: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write := func(name string, data []byte) {
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			write("main", test.main)
			for _, name := range test.files {
				write(name, debug)
			}
			if test.damaged != "" {
				write(test.damaged, cat(debug, 0))
			}
			f, err := object.Open("main")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			separate, err := readelf.SeparateFiles(f)
			var opened []string
			for _, d := range separate {
				defer d.Close()
				opened = append(opened, d.Name())
			}
			if got, want := strings.Join(opened, " "), strings.Join(test.opened, " "); got != want {
				t.Errorf("opened %q, expected %q", got, want)
			}
			if (err != nil) != test.faulty {
				t.Errorf("%v, error expected: %v", err, test.faulty)
			}
			for _, mode := range modes {
				var out bytes.Buffer
				if err := readelf.File(&out, f, separate, mode); err != nil {
					t.Error(err)
				}
				if n := strings.Count(out.String(), "(loaded from "); n != 0 && n != len(opened)+1 {
					t.Errorf("%d headings name their file, of %d", n, len(opened)+1)
				}
				needReadelf(t)
				other, _ := exec.Command("readelf", option(mode), "main").Output() // fails for NOBITS
				if same := bytes.Equal(out.Bytes(), other); same == test.differs {
					t.Errorf("%s:\n%s\nreadelf:\n%s", option(mode), &out, other)
				}
			}
		})
	}
}
