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

func TestRecordingSchema(t *testing.T) {
	outputtest.Schema(t, RecordingSchema, jsonRecording{})
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
