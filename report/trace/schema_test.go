// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"regexp"
	"slices"
	"testing"

	"github.com/clewdev/clew/internal/outputtest"
)

func TestDifferenceSchema(t *testing.T) {
	outputtest.Schema(t, DifferenceSchema, jsonDifference{})
}

func TestRecordingSchema(t *testing.T) {
	outputtest.Schema(t, RecordingSchema, jsonRecording{})
}

// The schema names every kind of a recording's frames.
func TestRecordedKinds(t *testing.T) {
	sentence := regexp.MustCompile(`"kind" is ([^.]+)\.`).FindStringSubmatch(RecordingSchema)
	if sentence == nil {
		t.Fatal("the schema does not describe the member kind")
	}
	var got, want []string
	for _, match := range regexp.MustCompile(`"([a-z ]+)"`).FindAllStringSubmatch(sentence[1], -1) {
		got = append(got, match[1])
	}
	for _, kind := range recordedKinds {
		want = append(want, kind)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the schema has the kinds %q, expected %q", got, want)
	}
}
