// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package value_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value"
)

// TestIndirect finds the classes with objects that are returned by address.
func TestIndirect(t *testing.T) {
	source := filepath.Join(t.TempDir(), "indirect.cc")
	if err := os.WriteFile(source, []byte(`
struct Plain { int a; Plain(int a) : a(a) {} Plain(const int &r, int) : a(r) {} };
struct Destroyed { int a; ~Destroyed() {} };
struct Copied { int a; Copied() : a(1) {} Copied(const Copied &c) : a(c.a) {} };
struct Moved { int a; Moved() : a(1) {} Moved(Moved &&c) : a(c.a) {} };
struct Defaulted { int a; ~Defaulted() = default; Defaulted(const Defaulted &) = default; Defaulted() : a(1) {} };
struct Virtual { int a; virtual int f() { return a; } };
struct Holder { int n; Destroyed d[2]; };
struct Derived : Copied { int n; };
template <class T> struct Box { T a; Box() : a() {} Box(const Box &b) : a(b.a) {} };
extern int other;
Plain plain(1); Destroyed destroyed; Copied copied; Moved moved; Defaulted defaulted; Virtual virtual_; Holder holder; Derived derived; Box<int> box;
int *use() { return &other; }
int other = 1;
int main() { return *use() - 1; }
`), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := object.Open(build(t, "g++", source, "-O0"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := value.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"plain": false, "destroyed": true, "copied": true, "moved": true, "defaulted": false, "virtual_": true, "holder": true, "derived": true, "box": true, "other": false,
	} {
		v, err := info.Global(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Type.Indirect(); got != want {
			t.Errorf("%s of type %s: %v", name, v.Type, got)
		}
		if v.Declared() {
			t.Errorf("%s is declared only", name)
		}
	}
}
