// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// The minimal reproducers of docs/findings.md give the finding that their first line names, at
// the label here.
func TestReproducers(t *testing.T) {
	files, err := filepath.Glob("testdata/findings/*.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no reproducers:", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kind, _, ok := strings.Cut(strings.TrimPrefix(string(source), "// "), ":")
			if !ok {
				t.Fatal("the first line names no kind")
			}
			machine := ""
			if strings.HasSuffix(file, ".arm64.s") {
				machine = "arm64"
			}
			f := assemble(t, machine, string(source))
			r, err := File(f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			here, _ := f.Symbol("here")
			if len(r.Findings) == 0 {
				t.Fatalf("no finding: %+v", r.Counters)
			}
			if g := &r.Findings[0]; g.Address != here.Address || g.Kind.String() != kind {
				t.Errorf("%v, want %s at %#x", g, kind, here.Address)
			}
		})
	}
}

// Code of ocamlopt that allocates inside of try calls the garbage collector at the function's end,
// with the row of that end: without the two words of the handler (OCaml 4.13).
func TestOCaml(t *testing.T) {
	testprogram.RequireTool(t, "ocamlopt")
	dir := t.TempDir()
	const source = "let parse s = try Some (int_of_string s) with Failure _ -> None\n" +
		"let () = match parse Sys.argv.(0) with Some n -> print_int n | None -> ()\n"
	if err := os.WriteFile(filepath.Join(dir, "p.ml"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("ocamlopt", "-o", "p", "p.ml")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := File(open(t, filepath.Join(dir, "p")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range r.Findings {
		if f := &r.Findings[i]; strings.HasPrefix(f.Name, "camlP__parse_") {
			found++
			if f.Kind != WrongCFA || f.Expected != "CFA = rsp+32" || f.Found != "CFA = rsp+16" || !f.atCall {
				t.Error(f)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d findings in parse, want 1", found)
	}
	// OCaml's functions preserve no register, which is not a defect. The other findings are those of the
	// runtime's assembly.
	if r.Defective > 10 || r.Agree*100 < r.Instructions*95 {
		t.Errorf("%+v", r.Counters)
	}
}
