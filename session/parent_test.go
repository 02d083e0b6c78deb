// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"golang.org/x/sys/unix"
)

// loopVariable has the code of an endless loop, in hexadecimal.
const loopVariable = "CLEW_SESSION_LOOP"

func init() {
	for name, end := range map[string]func() error{
		"waits":  func() error { return wait() },
		"exits":  func() error { os.Exit(3); return nil },
		"panics": func() error { panic("on purpose") },
		"crashes": func() error {
			unix.Kill(os.Getpid(), unix.SIGSEGV)
			return wait()
		},
		"execs": func() error {
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			return syscall.Exec(exe, os.Args[:1], []string{childVariable + "=replacement"})
		},
	} {
		children[name] = func() error {
			if err := startAll(); err != nil {
				return err
			}
			if err := wait(); err != nil {
				return err
			}
			return end()
		}
	}
	children["replacement"] = func() error {
		fmt.Println("replaced")
		return wait()
	}
	children["group"] = childOfGroup
}

// wait waits for a line.
func wait() error {
	var b [1]byte
	_, err := os.Stdin.Read(b[:])
	return err
}

// loopImage returns an image with an endless loop.
func loopImage() (*Image, error) {
	text, err := hex.DecodeString(os.Getenv(loopVariable))
	if err != nil {
		return nil, err
	}
	memory, err := jit.NewMemory(len(text))
	if err != nil {
		return nil, err
	}
	copy(memory.Bytes(), text)
	if err := memory.Seal(); err != nil {
		return nil, err
	}
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).Program()
	if err != nil {
		return nil, err
	}
	return NewImage(&jit.Code{Address: memory.Address(), Text: memory.Bytes()[:len(text)],
		Functions: []jit.Function{{Name: "loop", Size: uint64(len(text)), Unwind: unwind}}})
}

// startAll starts sessions, idle, running and stopped, and prints their processes.
func startAll() error {
	i, err := loopImage()
	if err != nil {
		return err
	}
	for n := range 6 {
		s, err := New(&Options{Images: []*Image{i}})
		if err != nil {
			return err
		}
		switch n % 3 {
		case 1:
			go s.Call(start(i))
			for s.State() != Running {
			}
		case 2:
			if _, err := s.CallWith(start(i), Arguments{StopAtEntry: true}); err != nil {
				return err
			}
		}
		fmt.Println("worker", s.PID())
	}
	fmt.Println("ready")
	return nil
}

// No worker survives the end of the program.
func TestNoWorkerSurvives(t *testing.T) {
	for _, how := range []string{"exits", "panics", "crashes", "execs", "waits", "is killed"} {
		t.Run(how, func(t *testing.T) {
			name := how
			if how == "is killed" {
				name = "waits"
			}
			cmd := child(t, name)
			cmd.Env = append(cmd.Env, loopVariable+"="+hex.EncodeToString(functionOf("loop").text), "GOTRACEBACK=none")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				in.Close()
				cmd.Process.Kill()
				cmd.Wait()
			}()
			lines := bufio.NewScanner(out)
			var workers []int
			for lines.Scan() && lines.Text() != "ready" {
				pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "worker "))
				if err != nil {
					t.Fatal(lines.Text())
				}
				workers = append(workers, pid)
			}
			if len(workers) != 6 {
				t.Fatalf("%d workers, %v", len(workers), lines.Err())
			}
			if how == "is killed" {
				cmd.Process.Kill()
			} else if _, err := io.WriteString(in, "\n"); err != nil {
				t.Fatal(err)
			}
			if how == "waits" {
				in.Close()
			}
			if how == "execs" && (!lines.Scan() || lines.Text() != "replaced") {
				t.Fatalf("%q, %v", lines.Text(), lines.Err())
			}
			for _, pid := range workers {
				eventually(t, fmt.Sprint("worker ", pid, " is gone"), func() bool {
					state := processState(pid)
					return state == 0 || state == 'Z' || state == 'X' // the system decides which process reaps it
				})
			}
		})
	}
}

// childOfGroup leads a process group that receives signals, worker included, and continues
// to work.
func childOfGroup() error {
	i, err := loopImage()
	if err != nil {
		return err
	}
	s, err := New(&Options{Images: []*Image{i}})
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	sent := []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGTSTP, unix.SIGUSR1, unix.SIGWINCH, unix.SIGCONT, unix.Signal(40)}
	signal.Notify(signals, sent...)
	done := make(chan error)
	go func() {
		stop, err := s.Call(start(i))
		if err == nil && stop.Reason != Interrupted {
			err = errors.New(stop.String())
		}
		done <- err
	}()
	for s.State() != Running {
		time.Sleep(time.Millisecond)
	}
	for _, number := range sent {
		if err := unix.Kill(0, number.(unix.Signal)); err != nil {
			return err
		}
		if got := <-signals; got != number {
			return fmt.Errorf("%v, sent %v", got, number)
		}
	}
	fmt.Println("ready")
	if err := wait(); err != nil { // the test stops and continues the group
		return err
	}
	if s.State() != Running || s.PID() == 0 {
		return fmt.Errorf("the session is %v", s.State())
	}
	if err := s.Interrupt(); err != nil {
		return err
	}
	if err := <-done; err != nil {
		return err
	}
	return s.Close()
}

// Signals that a terminal or a shell sends to a whole process group reach the program, but not
// the code.
func TestSignalsOfGroup(t *testing.T) {
	cmd := child(t, "group")
	cmd.Env = append(cmd.Env, loopVariable+"="+hex.EncodeToString(functionOf("loop").text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		cmd.Process.Kill()
		t.Fatalf("%q, %v, %v", lines.Text(), lines.Err(), cmd.Wait())
	}
	group := -cmd.Process.Pid
	for range 3 {
		if err := unix.Kill(group, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is stopped", func() bool { return processState(cmd.Process.Pid) == 'T' })
		if err := unix.Kill(group, unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it continues", func() bool { return processState(cmd.Process.Pid) != 'T' })
	}
	io.WriteString(in, "\n")
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && errors.As(err, &exit) {
		t.Error(err)
	}
}
