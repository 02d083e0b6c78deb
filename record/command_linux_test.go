// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// markCommand returns a command that makes files in a directory when it runs.
func markCommand(dir string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", ": >begun; : >done")
	cmd.Dir = dir
	return cmd
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A command that stands at its first instruction runs on if the recording program is killed.
func TestKilledBeforeRelease(t *testing.T) {
	if dir := os.Getenv("CLEW_RECORD_DIR"); dir != "" {
		c, err := start(markCommand(dir))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		if exists(filepath.Join(dir, "begun")) {
			fmt.Println("it runs already")
		}
		unix.Kill(os.Getpid(), unix.SIGKILL)
		c.finish()
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBeforeRelease$")
	cmd.Env = append(os.Environ(), "CLEW_RECORD_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if len(out) > 0 || !strings.Contains(fmt.Sprint(err), "killed") {
		t.Fatalf("%v\n%s", err, out)
	}
	for deadline := time.Now().Add(2 * time.Minute); !exists(filepath.Join(dir, "done")); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command does not run")
		}
	}
}

func TestRelease(t *testing.T) {
	dir := t.TempDir()
	c, err := start(markCommand(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.release(); err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if err := c.finish(); err != nil || !c.cmd.ProcessState.Success() || !exists(filepath.Join(dir, "done")) {
		t.Errorf("finish: %v, %v", err, c.cmd.ProcessState)
	}
}

// A command that is not released never runs.
func TestFinishBeforeRelease(t *testing.T) {
	dir := t.TempDir()
	c, err := start(markCommand(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(dir, "begun")) {
		t.Error("the command has run")
	}
	if err := unix.Kill(c.cmd.Process.Pid, 0); err != unix.ESRCH {
		t.Errorf("the command's process: %v, expected %v", err, unix.ESRCH)
	}
}

// A command that is killed before it is released has ended.
func TestKilledCommand(t *testing.T) {
	c, err := start(markCommand(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	unix.Kill(c.cmd.Process.Pid, unix.SIGKILL)
	if err := c.release(); err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if err := c.finish(); err != nil {
		t.Error(err)
	}
}

// A command does not run if its event cannot be opened.
func TestRefusedCommand(t *testing.T) {
	dir := t.TempDir()
	_, err := Run(context.Background(), Options{Command: markCommand(dir), Frequency: math.MaxInt32})
	if err == nil || exists(filepath.Join(dir, "begun")) {
		t.Errorf("error %v, or the command has run", err)
	}
}

// A command that still runs when the recording ends is asked to exit.
func TestCommandOutlivesRecording(t *testing.T) {
	canceled := false
	cancel := exec.CommandContext(context.Background(), "sleep", "100")
	cancel.Cancel = func() error { canceled = true; return cancel.Process.Kill() }
	for _, test := range []struct {
		cmd  *exec.Cmd
		want syscall.Signal
	}{
		{exec.Command("sleep", "100"), unix.SIGTERM},
		{cancel, unix.SIGKILL},
	} {
		if _, err := Run(context.Background(), Options{Command: test.cmd, Duration: 200 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		if ws, ok := test.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != test.want {
			t.Errorf("the command ends with %v, expected %v", test.cmd.ProcessState, test.want)
		}
	}
	if !canceled {
		t.Error("Cancel was not called")
	}
}

// A process that has exited, but whose parent does not take note, has ended.
func TestWatch(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	p, err := watch([]int{cmd.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	defer p.finish()
	if p.ended() {
		t.Error("a running process has ended")
	}
	in.Close()
	for deadline := time.Now().Add(2 * time.Minute); !p.ended(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process that has exited does not end")
		}
	}

	if _, err := watch([]int{math.MaxInt32}); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("no process: %v", err)
	}
	for _, tid := range tasks(os.Getpid()) {
		if tid != os.Getpid() {
			if _, err := watch([]int{tid}); err == nil || !strings.Contains(err.Error(), "is a thread") {
				t.Errorf("a thread: %v", err)
			}
		}
	}
	if p, err := watch(nil); err != nil || p.ended() {
		t.Errorf("no processes: %v, or they have ended", err)
	}
}
