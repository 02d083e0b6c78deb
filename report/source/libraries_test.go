// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/source"
)

// assemblers are the assemblers for libraries in folders that do not have their names.
var assemblers = map[string]string{
	"i686-linux-gnu/lib":            "as --32",
	"mips64-linux-gnuabi64/lib":     "mips64el-linux-gnuabi64-as -EB",
	"mips64el-linux-gnuabi64/lib32": "mips64el-linux-gnuabi64-as -mabi=n32",
	"s390x-linux-gnu/lib32":         "s390x-linux-gnu-as -m31",
	"sparc64-linux-gnu/lib":         "sparc64-linux-gnu-as -64",
	"sparc64-linux-gnu/lib32":       "sparc64-linux-gnu-as -32",
	"x86_64-linux-gnux32/lib":       "as --x32",
}

// Printed as directives and as arrays, every function of the C libraries of other machines
// gives the rows of the template.
func TestLibraries(t *testing.T) {
	paths := corpus.CrossLibraries(t)
	if len(paths) == 0 {
		t.Skip("skipped: libc6-arm64-cross is not installed")
	}
	// TestAssembled has tables of all machines.
	for _, path := range sample.Of(t, paths, max(1, len(paths)/3)) {
		folder := strings.TrimPrefix(filepath.Dir(path), "/usr/")
		t.Run(strings.ReplaceAll(folder, "/", "-"), func(t *testing.T) {
			f := open(t, path)
			f.File = nil // omits the instructions in comments
			if f.list.Functions() == 0 {
				return // arm's are in .ARM.exidx
			}
			text, functions, faults := write(t, f, source.C)
			tables := arrays(t, text)
			if faults > 0 || len(tables) != len(functions) {
				t.Fatalf("%d faults, %d arrays of %d functions", faults, len(tables), len(functions))
			}
			for i, table := range tables {
				compareEncoded(t, functions[i], relocated(t, functions[i].machine, table))
			}
			command := assemblers[folder]
			if command == "" {
				command = filepath.Dir(folder) + "-as"
			}
			as := strings.Fields(command)
			testprogram.RequireTool(t, as[0])
			text, functions, faults = write(t, f, source.Asm)
			if faults > 0 {
				t.Fatalf("%d faults", faults)
			}
			assembled := filepath.Join(t.TempDir(), "assembled.o")
			cmd := exec.Command(as[0], append(as[1:], "-o", assembled, "-")...)
			cmd.Stdin = strings.NewReader(text)
			run(t, cmd)
			compareAssembled(t, functions, assembled)
		})
	}
}
