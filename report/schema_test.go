// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package report

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// members adds the members of a type's JSON form, and of what is in it.
func members(all map[string]bool, t reflect.Type) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[name] = true
		members(all, f.Type)
	}
}

// The schemas that are written as objects name the members of those, and no others.
func TestObjectSchemas(t *testing.T) {
	tests := []struct {
		name   string
		schema string
		form   any
	}{
		{"recording", RecordingSchema, jsonRecording{}},
		{"generated code", GeneratedSchema, GeneratedCode{}},
		{"generated function", GeneratedFunctionSchema, jsonGeneratedFunction{}},
		{"former function", FormerFunctionSchema, jsonFormerFunction{}},
	}
	quoted := regexp.MustCompile(`"([a-z_]+)"`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			form := make(map[string]bool)
			members(form, reflect.TypeOf(test.form))
			object := test.schema[strings.Index(test.schema, "{") : strings.LastIndex(test.schema, "}")+1]
			named := make(map[string]bool)
			for _, match := range quoted.FindAllStringSubmatch(object, -1) {
				named[match[1]] = true
				if !form[match[1]] {
					t.Errorf("the schema names %q, which there is not", match[1])
				}
			}
			for name := range form {
				if !named[name] {
					t.Errorf("the schema does not name %q", name)
				}
			}
		})
	}
}

// The kinds of a recording's frames are those that the schema tells of.
func TestRecordedKinds(t *testing.T) {
	sentence := regexp.MustCompile(`"kind" is ([^.]+)\.`).FindStringSubmatch(RecordingSchema)
	if sentence == nil {
		t.Fatal("the schema does not tell of kinds")
	}
	var told, want []string
	for _, match := range regexp.MustCompile(`"([a-z ]+)"`).FindAllStringSubmatch(sentence[1], -1) {
		told = append(told, match[1])
	}
	for _, kind := range recordedKinds {
		want = append(want, kind)
	}
	slices.Sort(told)
	slices.Sort(want)
	if !slices.Equal(told, want) {
		t.Errorf("the schema tells of the kinds %q, there are %q", told, want)
	}
}
