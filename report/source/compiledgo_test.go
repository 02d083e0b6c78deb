// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/source"
)

// printedPackage is the line that an author must change.
const printedPackage = "package main // change it to yours\n"

// TestCompiledGo prints all templates, compiles them as packages of this module, which exist
// only for the compiler (-overlay), and compares the tables that they build.
func TestCompiledGo(t *testing.T) {
	testprogram.RequireTool(t, "go")
	_, file, _, _ := runtime.Caller(0)
	here := filepath.Dir(file)
	root := filepath.Join(here, "..", "..")
	dir := t.TempDir()
	type unit struct {
		name      string
		functions []printed
	}
	var units []unit
	overlay := make(map[string]string)
	add := func(name, text string) {
		on := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(on, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(here, "printed", filepath.FromSlash(name))] = on
	}
	templates(t, func(t *testing.T, of template) {
		text, functions, faults := write(t, open(t, of.path), source.Go)
		checkFaults(t, of, text, faults)
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("gofmt would change the print: %v", err)
		}
		if len(functions) == 0 {
			t.Fatal("no functions")
		}
		var all strings.Builder
		all.WriteString("package unwind\n\nvar All = map[string]func() (*cfi.Program, error){\n")
		for _, fn := range functions {
			fmt.Fprintf(&all, "\t%q: %s,\n", fn.identifier, fn.identifier)
		}
		all.WriteString("}\n")
		n := fmt.Sprintf("p%d/", len(units))
		if !strings.Contains(text, printedPackage) {
			t.Fatalf("%q is not printed", printedPackage)
		}
		add(n+"unwind.go", strings.Replace(text, printedPackage, "package unwind\n", 1))
		add(n+"all.go", strings.Replace(all.String(), "unwind\n", "unwind\n\nimport \"github.com/clewdev/clew/cfi\"\n", 1))
		units = append(units, unit{of.name, functions})
	})
	var imports, calls strings.Builder
	for i, u := range units {
		fmt.Fprintf(&imports, "\tp%d \"github.com/clewdev/clew/report/source/printed/p%d\"\n", i, i)
		for _, fn := range u.functions {
			fmt.Fprintf(&calls, "\temit(p%d.All[%q], %d)\n", i, fn.identifier, fn.size)
		}
	}
	add("main.go", `package main

import (
	"fmt"
	"os"

	"github.com/clewdev/clew/cfi"
`+imports.String()+`)

func emit(build func() (*cfi.Program, error), size uint64) {
	p, err := build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	e := cfi.Encoder{Machine: p.CIE.Section.Machine}
	if err := e.Program(p, 0x100000, size); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%x\n", e.Data)
}

func main() {
`+calls.String()+"}\n")
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), replace, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-overlay", filepath.Join(dir, "overlay.json"), "./report/source/printed")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0", "GOWORK=off")
	lines := strings.Fields(string(run(t, cmd)))
	for _, u := range units {
		t.Run(u.name, func(t *testing.T) {
			for _, fn := range u.functions {
				if len(lines) == 0 {
					t.Fatal("too few tables")
				}
				compareEncoded(t, fn, lines[0])
				lines = lines[1:]
			}
		})
	}
	if len(lines) > 0 {
		t.Errorf("%d tables too many", len(lines))
	}
}
