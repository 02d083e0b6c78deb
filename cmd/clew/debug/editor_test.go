// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package debug

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "history")
	t.Setenv("CLEW_HISTORY", path)
	h := OpenHistory()
	for _, line := range []string{"one", "two", "two", " ", "", "three"} {
		h.Add(line)
	}
	reopened := OpenHistory()
	if reopened.Len() != 3 || reopened.At(0) != "three" || reopened.At(2) != "one" {
		t.Errorf("the history is %q", reopened.lines)
	}
	var many strings.Builder
	for i := range 3 * maxHistory {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	if err := os.WriteFile(path, []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h = OpenHistory()
	if h.Len() != maxHistory || h.At(0) != fmt.Sprintf("line %d", 3*maxHistory-1) {
		t.Errorf("%d lines, the last is %q", h.Len(), h.At(0))
	}
	if OpenHistory().Len() != maxHistory {
		t.Error("the file was not shortened")
	}

	t.Setenv("CLEW_HISTORY", "")
	h = OpenHistory()
	h.Add("secret")
	if h.Len() != 1 || OpenHistory().Len() != 0 {
		t.Error("a history without a file is kept")
	}
	t.Setenv("XDG_STATE_HOME", "/somewhere")
	if os.Unsetenv("CLEW_HISTORY"); historyPath() != "/somewhere/clew/history" {
		t.Errorf("the history is in %s", historyPath())
	}
}
