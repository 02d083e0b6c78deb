// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/readelf"
)

var update = flag.Bool("update", false, "write testdata anew: what readelf prints, and what Clew prints where that differs")

func goldenPath(name string, mode readelf.Mode, program string) string {
	extension := ".rows"
	if mode == readelf.Raw {
		extension = ".raw"
	}
	return filepath.Join("testdata", name+extension+program)
}

func output(t *testing.T, e example, mode readelf.Mode) []byte {
	t.Helper()
	f, err := object.NewFile(e.file, e.name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = readelf.File(&out, f, nil, mode)
	if mode == readelf.Raw && e.fault == cfi.ErrInstruction && err == nil {
		return out.Bytes() // instructions that cannot be executed can be listed
	}
	if !errors.Is(err, e.fault) {
		t.Errorf("%s: %v, expected %v", option(mode), err, e.fault)
	}
	return out.Bytes()
}

// TestExamples compares with golden files, which contain the output of readelf. If the two
// programs differ, there are two golden files, NAME.rows and NAME.rows.readelf, and
// DIFFERENCES.md has the reason.
func TestExamples(t *testing.T) {
	differences, err := os.ReadFile("DIFFERENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, e := range examples() {
		if seen[e.name] {
			t.Fatalf("two examples are called %s", e.name)
		}
		seen[e.name] = true
		t.Run(e.name, func(t *testing.T) {
			if e.differs != "" && !strings.Contains(string(differences), "\n## "+e.differs+"\n") {
				t.Errorf("DIFFERENCES.md has no heading %q", e.differs)
			}
			differ := false
			for _, mode := range modes {
				got := output(t, e, mode)
				path := goldenPath(e.name, mode, "")
				if *update {
					if err := os.WriteFile(path, got, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s:\n%s\nexpected:\n%s", option(mode), got, want)
				}
				if other, err := os.ReadFile(goldenPath(e.name, mode, ".readelf")); err == nil {
					differ = differ || !bytes.Equal(other, want)
				}
			}
			if differ != (e.differs != "") {
				t.Errorf("the golden files differ: %v, the example says %q", differ, e.differs)
			}
		})
	}
}

// TestExamplesOfReadelf compares the golden files with the output of readelf.
func TestExamplesOfReadelf(t *testing.T) {
	needReadelf(t)
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, e.file, 0o666); err != nil {
				t.Fatal(err)
			}
			for _, mode := range modes {
				out, _ := exec.Command("readelf", option(mode), path).Output() // fails for warnings, too
				golden := goldenPath(e.name, mode, ".readelf")
				if *update {
					ours, err := os.ReadFile(goldenPath(e.name, mode, ""))
					if err != nil {
						t.Fatal(err)
					}
					os.Remove(golden)
					if !bytes.Equal(ours, out) {
						if e.differs == "" {
							t.Errorf("%s:\n%s\nreadelf:\n%s", option(mode), ours, out)
						}
						if err := os.WriteFile(golden, out, 0o666); err != nil {
							t.Fatal(err)
						}
					}
				}
				want, err := os.ReadFile(golden)
				if os.IsNotExist(err) {
					want, err = os.ReadFile(goldenPath(e.name, mode, ""))
				}
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(out, want) {
					t.Errorf("readelf %s:\n%s\nexpected:\n%s", option(mode), out, want)
				}
			}
		})
	}
}
