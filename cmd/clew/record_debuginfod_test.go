// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
)

// The functions of a stripped program have the names in the debug file of a server.
func TestRecordWithDebuginfod(t *testing.T) {
	server, objcopy := testprogram.RequireTool(t, "debuginfod"), testprogram.RequireTool(t, "objcopy")
	testprogram.RequireTool(t, "curl")
	const id = "5a3e55a3e55a3e55"
	whole := testprogram.Build(t, "shares.c", "-O2", "-g", "-pthread", "-Wl,--build-id=0x"+id)
	dir := t.TempDir()
	program, served := filepath.Join(dir, "shares"), filepath.Join(dir, "served")
	if err := os.Mkdir(served, 0o755); err != nil {
		t.Fatal(err)
	}
	for option, to := range map[string]string{"--strip-all": program, "--only-keep-debug": filepath.Join(served, "shares.debug")} {
		if out, err := exec.Command(objcopy, option, whole, to).CombinedOutput(); err != nil {
			t.Fatalf("objcopy: %v\n%s", err, out)
		}
	}
	url := startDebuginfod(t, server, served, id+"/debuginfo")
	for urls, named := range map[string]bool{url: true, "": false} {
		cmd := clew(t, "record", "--frequency", "499", "--", program, "1", "300")
		_, stderr, code := runToEnd(t, cmd, "DEBUGINFOD_URLS="+urls, "DEBUGINFOD_CACHE_PATH="+filepath.Join(dir, "cache"+urls[:min(len(urls), 4)]), "DEBUGINFOD_TIMEOUT=60")
		if found := strings.Contains(stderr, " heavy in shares"); code != 0 || found != named {
			t.Errorf("DEBUGINFOD_URLS=%q: exit %d, expected names: %v\n%s", urls, code, named, stderr)
		}
	}
}
