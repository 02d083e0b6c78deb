// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/object"
)

// TestArrayBoundedByItself reads an array with a length that is the array itself, or a variable or
// member of the same type. The length is not known, and reading ends.
func TestArrayBoundedByItself(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	for _, test := range []struct{ source, name, tag string }{
		{"struct s { int n; int a[3]; } x;", "a", "member"},
		{"int n; int x[3];", "x", "variable"},
	} {
		dir := t.TempDir()
		source, assembly, file := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o")
		if err := os.WriteFile(source, []byte(test.source), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := exec.Command(gcc, "-g", "-dA", "-S", "-o", "-", source).Output()
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		named := strings.Index(text, `.ascii "`+test.name+`\0"	# DW_AT_name`)
		die := strings.LastIndex(text[:max(named, 0)], "DW_TAG_"+test.tag+")")
		open := strings.LastIndex(text[:max(die, 0)], "(0x")
		if open < 0 {
			t.Fatalf("no %s in\n%s", test.tag, text)
		}
		offset, _, _ := strings.Cut(text[open+1:], ")")
		form := "# (DW_AT_upper_bound)\n\t.uleb128 "
		for from, to := range map[string]string{form + "0xb": form + "0x11", ".byte\t0x2\t# DW_AT_upper_bound": ".byte\t" + offset} {
			if !strings.Contains(text, from) {
				t.Fatalf("no %q in\n%s", from, text)
			}
			text = strings.Replace(text, from, to, 1)
		}
		if err := os.WriteFile(assembly, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(gcc, "-c", "-o", file, assembly).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		f, err := object.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		v, err := info.Global("x", 0)
		if err != nil {
			t.Fatal(err)
		}
		val := v.Read(new(pointingFrame))
		if test.tag == "member" {
			val = val.Field(1)
		}
		if n, known := val.Type().Len(); known {
			t.Errorf("%s: %d elements", test.source, n)
		}
	}
}
