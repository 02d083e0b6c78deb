// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

const module = "github.com/clewdev/clew/"

// budgets list what a public package may link: packages of this module, modules after an
// "@", and the budgets of those packages. "x/..." is x and all packages below it. The budget
// of a package without a row is that of the longest pattern.
var budgets = map[string]string{
	"arch":        "",
	"arch/disasm": "arch @golang.org/x/arch",
	"cfi/...":     "arch cfi internal/leb128",
	"region":      "cfi",
	"unwind/...":  "cfi unwind/... @golang.org/x/arch",
	"object":      "cfi object/internal/... internal/dw internal/filemap internal/printable internal/untrusted @github.com/klauspost/compress @github.com/ulikunitz/xz @golang.org/x/sys",

	// Publishers link no reader of ELF and no decompressor.
	"jit":               "cfi @golang.org/x/sys",
	"jit/symfile":       "jit internal/dw",
	"jit/gdb":           "jit jit/symfile jit/gdb/registry internal/untrusted",
	"jit/libgcc":        "jit",
	"jit/libunwind/...": "jit jit/libunwind/... region",
	"jit/goruntime":     "jit internal/x86",
	"jit/perf/...":      "jit jit/perf internal/outputfile internal/untrusted",

	// It is linked into the programs whose C frames it shows.
	"cgotraceback/...": "object",

	// Readers do not link the publisher jit/gdb.
	"jit/gdb/registry":    "cfi",
	"jit/symfile/reader":  "object",
	"debugfile/...":       "object debugfile/... internal/outputfile",
	"value/...":           "object value/... internal/printable",
	"snapshot":            "object debugfile unwind internal/untrusted",
	"snapshot/...":        reading,
	"snapshot/core":       reading + " @github.com/pierrec/lz4/v4",
	"stack/...":           reading,
	"record":              reading,
	"record/resource":     "profile internal/protobuf " + telemetry,
	"profile/...":         "internal/calltree internal/printable @github.com/google/pprof",
	"profile/otlp":        "profile internal/protobuf " + telemetry,
	"profile/otlp/export": "internal/outputfile internal/printable internal/protobuf @golang.org/x/sys",
	"report/readelf":      "object internal/printable",
	"report/style":        styling,
	"report/table":        "arch/disasm " + styling,
	"report/source":       "report/table",
	"report/tablecheck":   "check check/internal/... check/survey " + printing,
	"report/...":          printing,
	"check/...":           "session object/amend",
	"object/amend":        "object",

	"session":          reading + " session/link session/internal/... cfi/preset @github.com/ianlancetaylor/demangle",
	"session/link":     "object jit/symfile cfi/preset internal/errorlist",
	"session/socket":   "@golang.org/x/sys",
	"session/hosted":   "session",
	"session/rsp":      "session session/socket jit/gdb", // it publishes to lldb
	"session/frontend": "session " + styling,
	"session/console":  "session/frontend session/hosted",
	"session/dap":      "session/frontend session/socket @github.com/google/go-dap",
}

const (
	reading = "stack snapshot/... stack/... debugfile/... value/... object unwind/... region jit/gdb/registry jit/symfile/reader jit/symfile " +
		"jit/perf jit/libunwind internal/... arch/disasm"
	styling = "value/... object internal/dlang internal/printable internal/untrusted @github.com/fatih/color " +
		"@github.com/mattn/go-colorable @github.com/mattn/go-isatty @github.com/ianlancetaylor/demangle report/style"
	printing = reading + " report/... profile/... @github.com/fatih/color @github.com/mattn/go-colorable @github.com/mattn/go-isatty " +
		"@github.com/ianlancetaylor/demangle @github.com/google/pprof @github.com/pierrec/lz4/v4"
	telemetry = "profile/otlp @go.opentelemetry.io/collector/pdata @go.opentelemetry.io/collector/pdata/pprofile @go.opentelemetry.io/collector/featuregate " +
		"@go.uber.org/multierr @github.com/hashicorp/go-version @github.com/json-iterator/go @github.com/modern-go/concurrent @github.com/modern-go/reflect2"
)

// budgetOf returns the row of a package, and the name of the row.
func budgetOf(path string) (name, row string, ok bool) {
	if row, ok := budgets[path]; ok {
		return path, row, true
	}
	for n, r := range budgets {
		if matches(n, path) && len(n) > len(name) {
			name, row, ok = n, r, true
		}
	}
	return name, row, ok
}

func matches(pattern, path string) bool {
	prefix, all := strings.CutSuffix(pattern, "/...")
	return path == prefix || all && strings.HasPrefix(path, prefix+"/")
}

// allowed adds the patterns of a row, and of the rows that it refers to.
func allowed(row string, patterns map[string]bool) {
	for _, p := range strings.Fields(row) {
		if patterns[p] {
			continue
		}
		patterns[p] = true
		for n, r := range budgets {
			if n == p || matches(p, strings.TrimSuffix(n, "/...")) {
				allowed(r, patterns)
			}
		}
	}
}

// listed is the go command's description of a package.
type listed struct {
	ImportPath string
	Module     *struct {
		Path string
		Main bool
	}
	Deps []string
}

// public returns the public packages, and all packages and dependencies by import path.
func public(t *testing.T) (list []string, all map[string]listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Module,Deps", "./...")
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all = make(map[string]listed)
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
		path, own := strings.CutPrefix(p.ImportPath, module)
		first, _, _ := strings.Cut(path, "/")
		if own && !slices.Contains([]string{"bench", "cmd", "examples", "scripts"}, first) &&
			!slices.Contains(strings.Split(path, "/"), "internal") {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list, all
}

// TestBudgets compares what each public package links with its budget.
func TestBudgets(t *testing.T) {
	list, all := public(t)
	if len(list) < 30 {
		t.Errorf("public packages: %q", list)
	}
	for _, path := range list {
		name, row, ok := budgetOf(path)
		if !ok {
			t.Errorf("%s has no budget", path)
			continue
		}
		patterns := make(map[string]bool)
		allowed(row, patterns)
		for _, d := range all[module+path].Deps {
			p := all[d]
			if p.Module == nil {
				continue // the standard library
			}
			dep, fits := strings.TrimPrefix(d, module), false
			if !p.Module.Main {
				dep = "@" + p.Module.Path
			}
			for pattern := range patterns {
				fits = fits || matches(pattern, dep)
			}
			if !fits && !matches(name, dep) {
				t.Errorf("%s links %s, which is not in its budget", path, dep)
			}
		}
	}
}

// pathInText is a package of this module in a comment, such as "package snapshot/core", or an import
// path.
var pathInText = regexp.MustCompile(`[Pp]ackages? ([a-z0-9]+(?:/[a-z0-9]+)+)|` + module + `([a-z0-9/]*[a-z0-9])\b`)

// TestDocumentedPackages looks for the packages that documentation names.
func TestDocumentedPackages(t *testing.T) {
	list, all := public(t)
	found := 0
	for _, path := range list {
		cmd := exec.Command("go", "doc", "-all", module+path)
		cmd.Dir = ".."
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, out)
		}
		text := strings.Join(strings.Fields(string(out)), " ")
		for _, m := range pathInText.FindAllStringSubmatch(text, -1) {
			found++
			exists := false
			for p := range all {
				p = "/" + p + "/"
				exists = exists || strings.HasSuffix(p, "/"+m[1]+m[2]+"/") || m[2] != "" && strings.Contains(p, "/"+m[2]+"/")
			}
			if !exists {
				t.Errorf("the documentation of %s names %s, which does not exist", path, m[0])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d packages are named", found)
	}
}

// Front ends of sessions share names and colours with reports, but link neither recordings
// nor profiles.
func TestFrontEndsLinkNoProfiles(t *testing.T) {
	_, all := public(t)
	for _, front := range []string{"session/console", "session/dap"} {
		for _, d := range all[module+front].Deps {
			for _, unwanted := range []string{"profile/...", "snapshot/perfdata/...", "stack/recording", "report/trace"} {
				if matches(unwanted, strings.TrimPrefix(d, module)) {
					t.Errorf("%s links %s", front, d)
				}
			}
		}
	}
}

// TestReadingIsNotPublishing builds a program that imports every package that does not
// publish to gdb, and one that publishes. Only the second contains the descriptor.
func TestReadingIsNotPublishing(t *testing.T) {
	nm := testprogram.RequireTool(t, "nm")
	list, _ := public(t)
	reader := slices.DeleteFunc(slices.Clone(list), func(path string) bool {
		_, row, _ := budgetOf(path)
		return path == "jit/gdb" || slices.Contains(strings.Fields(row), "jit/gdb")
	})
	for _, test := range []struct {
		name    string
		imports []string
		size    int // of the descriptor: two 32-bit numbers and two pointers
	}{
		{"reader", reader, 0},
		{"publisher", []string{"jit/gdb"}, 24},
	} {
		dir := t.TempDir()
		source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, test.name)
		text := fmt.Sprintf("package main\n\nimport %q\n", module+"jit")
		for _, path := range test.imports {
			text += fmt.Sprintf("import _ %q\n", module+path)
		}
		text += "\nfunc main() { jit.Publish(new(jit.Code)) }\n" // with every publisher that an import registered
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-o", program, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", test.name, err, out)
		}
		out, err := exec.Command(nm, "-S", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		size := int64(0)
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line) // address, size, type, name
			if f[len(f)-1] == "__jit_debug_descriptor" && len(f) == 4 {
				size, _ = strconv.ParseInt(f[1], 16, 64)
			}
			if test.name == "publisher" && strings.Contains(line, module+"object.") {
				t.Fatalf("the publisher links %s", line)
			}
		}
		if size != int64(test.size) {
			t.Errorf("%s: the descriptor has %d bytes, expected %d", test.name, size, test.size)
		}
		if info, err := os.Stat(program); err == nil {
			t.Logf("%s: %d bytes", test.name, info.Size())
		}
	}
}
