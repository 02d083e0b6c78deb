// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package manual

import (
	"embed"
	"strings"
)

// A file of this folder is a topic. Its first line is the title, and the text begins after
// an empty line. Lines that begin with a space are printed as they stand.
//
//go:embed topics/*.txt
var topicFiles embed.FS

// Topics returns the pages about subjects that several commands share, by name.
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

// topicsKey is the key of a command's metadata for the names of topics about it.
const topicsKey = "topics"

// SeeAlso returns the metadata of a command that topics are about.
func SeeAlso(topics ...string) map[string]any { return map[string]any{topicsKey: topics} }

// TopicsOf returns the names of the topics that SeeAlso put into the metadata of a command.
func TopicsOf(metadata map[string]any) []string {
	names, _ := metadata[topicsKey].([]string)
	return names
}
