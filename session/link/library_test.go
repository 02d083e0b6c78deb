// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package link

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLibraries links each member of static libraries alone. Its imports have some address.
func TestLibraries(t *testing.T) {
	for _, tt := range []struct {
		m    *machine
		glob string
	}{
		{&amd64, "/usr/lib/x86_64-linux-gnu/lib[cm].a"},
		{&amd64, "/usr/lib/x86_64-linux-gnu/libm-2*.a"},
		{&amd64, "/usr/lib/gcc/x86_64-linux-gnu/*/lib{gcc,stdc++,gcc_eh}.a"},
		{&arm64, "/usr/aarch64-linux-gnu/lib/lib[cm].a"},
		{&arm64, "/usr/lib/gcc-cross/aarch64-linux-gnu/*/libgcc.a"},
	} {
		t.Run(tt.glob, func(t *testing.T) {
			var list []string
			before, rest, several := strings.Cut(tt.glob, "{")
			middle, after, _ := strings.Cut(rest, "}")
			for _, name := range strings.Split(middle, ",") {
				pattern := tt.glob
				if several {
					pattern = before + name + after
				}
				found, err := filepath.Glob(pattern)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, found...)
			}
			if len(list) == 0 {
				t.Skipf("skipped: %s is not installed", tt.glob)
			}
			total, linked := 0, 0
			for _, library := range list {
				if start, err := os.ReadFile(library); err != nil || !strings.HasPrefix(string(start), "!<arch>") {
					continue // a linker script
				}
				dir := t.TempDir()
				run(t, "sh", "-c", `cd "$0" && ar x "$1"`, dir, library)
				members, err := filepath.Glob(dir + "/*.o")
				if err != nil {
					t.Fatal(err)
				}
				for _, path := range members {
					total++
					a, err := at(t, tt.m, farAway, func(string) (uint64, bool) { return farAway + 64<<20 + 8, true }, path)
					switch {
					case err == nil:
						linked++
						for _, o := range a.p.Objects {
							f := openImage(t, o)
							for range f.Symbols() {
							}
							if _, err := f.CFISections(); err != nil {
								t.Error(err)
							}
						}
					case errors.Is(err, ErrUnsupported) && strings.Contains(err.Error(), "STT_GNU_IFUNC"),
						errors.Is(err, ErrUndefined) && strings.Contains(err.Error(), "thread-local"),
						errors.Is(err, ErrUnsupported) && strings.Contains(err.Error(), "no thread-local variable of the program"),
						errors.Is(err, ErrUnsupported) && strings.Contains(err.Error(), ".ctors"):
					default:
						t.Errorf("%s: %v", filepath.Base(library), err)
					}
				}
			}
			t.Logf("%d of %d files linked", linked, total)
			// The others need errno, or are indirect functions.
			if total == 0 || linked*2 < total {
				t.Errorf("%d of %d files linked", linked, total)
			}
		})
	}
}
