// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/record"
	"github.com/clewdev/clew/stack/recording"
)

// nobody is a user for PostgreSQL, which does not run as root.
const nobody = 65534

// postgres is the folder of a server that is not in PATH.
const postgres = "/usr/lib/postgresql/15/bin"

// PostgreSQL's expressions, which LLVM compiles, have names and unwind tables by the list of the GDB JIT
// interface (jit_debugging_support).
func TestPostgreSQL(t *testing.T) {
	for _, tool := range []string{"initdb", "postgres", "psql"} {
		testprogram.RequireTool(t, filepath.Join(postgres, tool))
	}
	dir, err := os.MkdirTemp("/tmp", "clew") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	command := func(tool string, arguments ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(postgres, tool), arguments...)
		cmd.Dir = dir
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		return cmd
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := command("initdb", "-D", "data", "-A", "trust", "-U", "clew", "--no-sync", "--no-locale").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := command("postgres", "-D", "data", "-k", dir, "-c", "listen_addresses=", "-c", "jit_above_cost=0", "-c", "jit_optimize_above_cost=0",
		"-c", "jit_debugging_support=on", "-c", "max_parallel_workers_per_gather=0", "-c", "fsync=off")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGQUIT) // immediate shutdown
		server.Wait()
	})
	const query = "select count(*) from generate_series(1, 100000) i, generate_series(1, 100000) k where (i * 3 + k) % 7 = 3 and (i % 13) * (k % 17) <> 5"
	psql := func() (*exec.Cmd, int) {
		cmd := command("psql", "-X", "-h", dir, "-U", "clew", "-d", "postgres", "-At", "-c", "select pg_backend_pid()", "-c", query)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		pid, _ := strconv.Atoi(strings.TrimSpace(line))
		return cmd, pid
	}
	var client *exec.Cmd
	pid := 0
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) { // until the server has started
		if client, pid = psql(); pid > 0 {
			break
		}
		if client.Wait(); time.Now().After(end) {
			t.Fatal("no connection to the server")
		}
	}
	defer client.Wait()
	defer client.Process.Kill()
	sample := func(n int) (rec *recording.Recording, compiled uint64) {
		ctx, opts := until(t, n, pid)
		rec, err := record.Run(ctx, record.Options{Targets: []int{pid}, Frequency: 499, Recording: opts})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rec.Stacks {
			if names := functions(rec, &rec.Stacks[i]); strings.Contains(strings.Join(names, " "), "evalexpr_") {
				compiled += rec.Stacks[i].Samples
			}
		}
		return rec, compiled
	}
	for end := time.Now().Add(2 * time.Minute); ; { // until the query is compiled
		if _, compiled := sample(100); compiled > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no compiled expression runs")
		}
	}
	rec, compiled := sample(500)
	if compiled*20 < rec.Samples {
		t.Errorf("%d of %d samples are in compiled expressions; %q", compiled, rec.Samples, rec.Notes)
	}
	if share := whole(t, rec, "postgres"); share < 0.99 {
		t.Errorf("%.1f%% of %d samples reach the outermost frame", 100*share, rec.Samples)
	}
}
