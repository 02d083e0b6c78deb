// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/record"
)

// A note names each process that has no sample although others have some, its processor time, and what
// to do.
func TestUnsampled(t *testing.T) {
	var pids []int
	for _, command := range [][]string{{"sleep", "600"}, {"sh", "-c", "while :; do :; done"}} {
		cmd := exec.Command(command[0], command[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		pids = append(pids, cmd.Process.Pid)
	}
	// Once sleep waits in its call, it uses no more processor time and begins no wait.
	calls := fmt.Sprintf("%d %d ", unix.SYS_CLOCK_NANOSLEEP, unix.SYS_NANOSLEEP)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		in, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pids[0]))
		if number, _, found := strings.Cut(string(in), " "); err == nil && found && strings.Contains(calls, number+" ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("sleep is in call %q: %v", in, err)
		}
	}
	prefix := fmt.Sprintf("process %d (sleep) has no sample: ", pids[0])
	for _, test := range []struct {
		opts record.Options
		want string
	}{
		{record.Options{}, "it used 0s of processor time; a sample stands for 10.1ms; a higher --frequency, --wall or --off-cpu shows more"},
		{record.Options{Frequency: 500}, "it used 0s of processor time; a sample stands for 2ms; a higher --frequency, --wall or --off-cpu shows more"},
		{record.Options{Wall: true}, "no wait of it began meanwhile; 'clew stack PID' shows where it is"},
	} {
		ctx, options := until(t, 20, pids[1])
		test.opts.Targets, test.opts.Recording = slices.Clone(pids), options
		rec, err := record.Run(ctx, test.opts)
		if errors.Is(err, record.ErrRefused) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, note := range rec.Notes {
			if strings.Contains(note, "has no sample") {
				notes = append(notes, note)
			}
		}
		if len(notes) != 1 || notes[0] != prefix+test.want {
			t.Errorf("%q, expected %q", notes, prefix+test.want)
		}
	}
}
