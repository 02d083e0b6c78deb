// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
)

// curl starts without the ambient capabilities that a service has.
func TestCapabilities(t *testing.T) {
	const variable = "CLEW_TEST_CURL_STATUS"
	if path := os.Getenv(variable); path != "" {
		own, _ := os.ReadFile("/proc/self/status")
		if strings.Contains(string(own), "CapAmb:\t0000000000000000") {
			t.Fatal("the test has no ambient capability")
		}
		Curl(context.Background(), &Request{URL: "http://127.0.0.1:1", Timeout: 10 * time.Second})
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can add an ambient capability")
	}
	dir := t.TempDir()
	status := filepath.Join(dir, "status")
	script := "#!/bin/sh\nexec /bin/grep CapAmb /proc/self/status > " + status + "\n"
	if err := os.WriteFile(filepath.Join(dir, "curl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testprogram.RequireTool(t, "setpriv"), "--inh-caps", "+sys_ptrace", "--ambient-caps", "+sys_ptrace",
		os.Args[0], "-test.run=^TestCapabilities$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+status, "PATH="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(status)
	if err != nil || string(got) != "CapAmb:\t0000000000000000\n" {
		t.Errorf("curl has %q, %v", got, err)
	}
}
