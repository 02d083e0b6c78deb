// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/go-dap"
)

const maxCompletions = 200

// completions completes the name that ends where the cursor is.
func (c *client) completions(r *dap.CompletionsRequest) (dap.Message, error) {
	a := r.Arguments
	f, err := c.frameOf(a.FrameId)
	if err != nil {
		return nil, err
	}
	text := a.Text
	if n := a.Column - c.columns; n >= 0 && n < len(text) {
		text = text[:n]
	}
	start := len(text)
	for start > 0 && isNamePart(text[start-1]) {
		start--
	}
	prefix := text[start:]
	found := map[string]dap.CompletionItemType{}
	offer := func(name string, kind dap.CompletionItemType) {
		if strings.HasPrefix(name, prefix) && found[name] == "" && len(found) < maxCompletions {
			found[name] = kind
		}
	}
	switch {
	case strings.HasPrefix(prefix, "$"):
		for _, info := range c.target.session.RegisterInfos() {
			offer("$"+info.Name, "variable")
		}
		for name := range c.values.Convenience {
			offer("$"+name, "variable")
		}
	default:
		for _, v := range f.Locals() {
			offer(v.Name, "variable")
		}
		for _, v := range f.Globals() {
			offer(v.Name, "value")
		}
	}
	if f.Physical.Image != nil && !strings.HasPrefix(prefix, "$") {
		for _, function := range f.Physical.Image.Functions() {
			offer(function.Name, "function")
		}
	}
	body := dap.CompletionsResponseBody{Targets: []dap.CompletionItem{}}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		body.Targets = append(body.Targets, dap.CompletionItem{Label: name, Type: found[name], Start: start + c.columns, Length: len(prefix)})
	}
	return &dap.CompletionsResponse{Response: answer(r), Body: body}, nil
}

func isNamePart(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
