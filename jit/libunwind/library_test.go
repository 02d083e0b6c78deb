// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// LibrarySymbols returns a function that looks up the dynamic symbols of the
// libunwind.so.8 that a process has mapped.
func LibrarySymbols(t *testing.T, pid int) func(name string) (uint64, bool) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	var bias uint64
	var path string
	for line := range strings.Lines(string(maps)) {
		// start-end flags offset device inode path
		fields := strings.Fields(line)
		if len(fields) == 6 && strings.HasPrefix(filepath.Base(fields[5]), "libunwind.so.8") {
			start, _, _ := strings.Cut(fields[0], "-")
			if bias, err = strconv.ParseUint(start, 16, 64); err != nil {
				t.Fatal(err)
			}
			path = fields[5]
			break
		}
	}
	library, err := elf.Open(path)
	if err != nil {
		t.Fatalf("libunwind of %d: %v", pid, err)
	}
	defer library.Close()
	symbols, err := library.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) (uint64, bool) {
		for _, s := range symbols {
			if s.Name == name && s.Section != elf.SHN_UNDEF {
				return bias + s.Value, true
			}
		}
		return 0, false
	}
}
