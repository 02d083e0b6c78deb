// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && amd64

package gdb_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/internal/sample"
	"github.com/clewdev/clew/internal/testprogram"
)

// churnScript lets the program run and stops it, at random times. At each stop, the functions that
// gdb knows must be those that the program has published, except for one in each goroutine that is
// being changed.
const churnScript = `
import gdb, os, random, struct, time

TABLE, PID, CHURNERS, SLOTS, BASE = %#x, %d, 4, 16, 1 << 40

def check(when):
    memory = gdb.selected_inferior().read_memory(TABLE, CHURNERS * (1 + SLOTS) * 8)
    words = struct.unpack('<%%dQ' %% (CHURNERS * (1 + SLOTS)), memory)
    for w in range(CHURNERS):
        busy, rounds = words[w * (1 + SLOTS)], words[w * (1 + SLOTS) + 1:(w + 1) * (1 + SLOTS)]
        for slot in range(SLOTS):
            if slot + 1 == busy:
                continue
            address = BASE + ((w * SLOTS + slot) << 12)
            got = gdb.execute('info symbol %%#x' %% address, to_string=True).split(' in section')[0].strip()
            want = 'churn_%%d_%%d' %% (w, rounds[slot]) if rounds[slot] else 'No symbol matches %%#x.' %% address
            print('checked' if got == want else 'WRONG %%s: slot %%d of %%d is %%r, want %%r' %% (when, slot, w, got, want))

try:
    check('after attaching')
    for n in range(random.randrange(4)):
        os.system('(sleep %%.3f; kill -INT %%d) 2>/dev/null &' %% (random.random() * 0.3, PID))
        gdb.execute('continue', to_string=True)
        if not gdb.selected_thread():
            break
        check('after running')
except gdb.error as e:
    print('gdb.error: %%s' %% e)
`

// While a program publishes and withdraws functions, gdb attaches and detaches at random. It loses no
// function and keeps none, and the program's memory does not grow. With CLEW_FULL=1 these are a
// million rounds.
func TestChurnUnderGDB(t *testing.T) {
	gdb := testprogram.RequireTool(t, "gdb")
	rounds, over := 20_000, 6*time.Second
	if sample.Full() {
		rounds, over = 1_000_000, 3*time.Minute
	}
	// gdb must attach several times, and each time takes some times as long as to begin with the program.
	began := time.Now()
	if out, err := exec.Command(gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no", builds[0].path(t)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	over = max(over, 20*time.Since(began))
	cmd := exec.Command(builds[0].path(t), fmt.Sprintf("churn=%d/%v", rounds, over), "stats")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatal("the program prints nothing")
	}
	table, err := strconv.ParseUint(strings.TrimPrefix(lines.Text(), "table 0x"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	var memory []int // pages
	var printed bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() {
			fmt.Fprintln(&printed, lines.Text())
			if text, ok := strings.CutPrefix(lines.Text(), "memory "); ok {
				pages, _ := strconv.Atoi(text)
				memory = append(memory, pages)
			}
		}
	}()
	script := filepath.Join(t.TempDir(), "churn.py")
	if err := os.WriteFile(script, fmt.Appendf(nil, churnScript, table, cmd.Process.Pid), 0o644); err != nil {
		t.Fatal(err)
	}
	attached, checked := 0, 0
	for running := true; running; {
		out, _ := exec.Command(gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no",
			"-ex", "set confirm off", "-ex", "handle SIGURG nostop noprint pass", "-p", strconv.Itoa(cmd.Process.Pid), "-x", script).CombinedOutput()
		if n := bytes.Count(out, []byte("checked\n")); n > 0 {
			attached++
			checked += n
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "WRONG") {
				t.Error(strings.TrimSpace(line))
			}
		}
		if t.Failed() {
			break
		}
		select {
		case <-ended:
			running = false
		case <-time.After(time.Duration(time.Now().Nanosecond() % int(300*time.Millisecond))):
		}
	}
	if t.Failed() {
		return
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, printed.String())
	}
	t.Logf("%d rounds, gdb attached %d times and checked %d functions; pages of memory: %v", rounds, attached, checked, memory)
	if attached < 3 {
		t.Errorf("gdb has attached %d times only", attached)
	}
	if want := fmt.Sprintf("churned %d\n", rounds); !strings.Contains(printed.String(), want) || !strings.Contains(printed.String(), "Functions:0") {
		t.Errorf("the program prints\n%s", printed.String())
	}
	// The first eighth has all functions and files already.
	if n := len(memory); n != 8 || memory[n-1] > memory[0]+memory[0]/10+512 {
		t.Errorf("pages of memory: %v", memory)
	}
}
