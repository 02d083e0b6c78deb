// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package outputtest compares output in tests with golden files, and JSON forms with their
// schemas.
package outputtest

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Golden compares output with testdata/NAME. With update it writes that file.
func Golden(t *testing.T, name string, got []byte, update bool) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", path, got, want)
	}
}

var quoted = regexp.MustCompile(`"([a-z_]+)"`)

// Schema checks that a schema, which has the form of a JSON object, names exactly the
// members of form, a struct, and of the structs in it.
func Schema(t *testing.T, schema string, form any) {
	t.Helper()
	members := make(map[string]bool)
	addMembers(members, reflect.TypeOf(form))
	object := schema[strings.Index(schema, "{") : strings.LastIndex(schema, "}")+1]
	named := make(map[string]bool)
	for _, match := range quoted.FindAllStringSubmatch(object, -1) {
		named[match[1]] = true
		if !members[match[1]] {
			t.Errorf("the schema names %q, which does not exist", match[1])
		}
	}
	for name := range members {
		if !named[name] {
			t.Errorf("the schema does not name %q", name)
		}
	}
}

func addMembers(all map[string]bool, t reflect.Type) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			addMembers(all, f.Type)
			continue
		}
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[name] = true
		addMembers(all, f.Type)
	}
}
