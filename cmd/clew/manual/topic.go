// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package manual

import (
	"embed"
	"strings"
)

// Each file is a topic: a line with the title, an empty line, and the text. Lines that begin with a
// space are verbatim.
//
//go:embed topics/*.txt
var topicFiles embed.FS

// Topics returns the pages of the topics, sorted by name.
func Topics() []*Page {
	files, err := topicFiles.ReadDir("topics")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var all []*Page
	for _, f := range files {
		text, err := topicFiles.ReadFile("topics/" + f.Name())
		if err != nil {
			panic(err)
		}
		title, body, _ := strings.Cut(string(text), "\n\n")
		all = append(all, &Page{Name: strings.TrimSuffix(f.Name(), ".txt"), Summary: title, Description: strings.TrimSuffix(body, "\n")})
	}
	return all
}

// topicsKey is the key for the related topics in a command's metadata.
const topicsKey = "topics"

// SeeAlso returns metadata for a command with related topics.
func SeeAlso(topics ...string) map[string]any { return map[string]any{topicsKey: topics} }

// TopicsOf returns the names of the topics in metadata from SeeAlso.
func TopicsOf(metadata map[string]any) []string {
	names, _ := metadata[topicsKey].([]string)
	return names
}
