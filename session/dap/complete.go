// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"maps"
	"slices"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session/frontend"
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
	start := frontend.NameStart(text)
	found := map[string]dap.CompletionItemType{}
	for _, name := range c.values.Names(f, text[start:]) {
		if len(found) < maxCompletions && found[name.Text] == "" {
			found[name.Text] = [...]dap.CompletionItemType{frontend.Local: "variable", frontend.Global: "value", frontend.Function: "function"}[name.Kind]
		}
	}
	body := dap.CompletionsResponseBody{Targets: []dap.CompletionItem{}}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		body.Targets = append(body.Targets, dap.CompletionItem{Label: name, Type: found[name], Start: start + c.columns, Length: len(text) - start})
	}
	return &dap.CompletionsResponse{Response: answer(r), Body: body}, nil
}
