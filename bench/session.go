// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	elffile "github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
)

// How often each is done in one run.
const (
	hits     = 300
	steps    = 1000
	ignored  = 1000
	calls    = 1000
	sessions = 100
)

// sessionMeasurements compare a debug session over an object file with gdb on the program
// that is linked from it.
func sessionMeasurements(file string) ([]*measurement, error) {
	if file == "" {
		return nil, nil
	}
	program := strings.TrimSuffix(file, ".o")
	var list []*measurement
	for _, locked := range []bool{false, true} {
		suffix, steppingGoal := "", 1./5
		if locked {
			suffix, steppingGoal = ", on a locked thread", 1./10
		}
		debugged := func(work func(s *session.Session) (time.Duration, error)) contender {
			return contender{name: "clew", run: func() (outcome, error) { return inSession(file, locked, work) }}
		}
		list = append(list, &measurement{
			name: fmt.Sprintf("a call, the median of %d%s", calls, suffix),
			clew: debugged(medianCall), peers: []contender{limit(60 * time.Microsecond)},
		})
		if _, err := exec.LookPath("gdb"); err != nil {
			continue
		}
		list = append(list, &measurement{
			name: fmt.Sprintf("%d breakpoints that stop%s", hits, suffix), maxRounds: 5,
			clew:  debugged(breakpoints),
			peers: []contender{gdbLoop(program, 1./15, "break hit", hits, "continue")},
		}, &measurement{
			name: fmt.Sprintf("%d single steps%s", steps, suffix), maxRounds: 5,
			clew:  debugged(singleSteps),
			peers: []contender{gdbLoop(program, steppingGoal, "", steps, "stepi")},
		}, &measurement{
			name: fmt.Sprintf("%d hits of a condition that is false%s", ignored, suffix), maxRounds: 5,
			clew:  debugged(falseConditions),
			peers: []contender{gdbLoop(program, 1./5, fmt.Sprintf("break hit if n == %d", ignored), 1, "continue")},
		})
	}
	return append(list, &measurement{
		name: fmt.Sprintf("a session made and closed, the median of %d", sessions),
		clew: contender{name: "clew", run: func() (outcome, error) {
			took := make([]time.Duration, sessions)
			for n := range took {
				begin := time.Now()
				s, err := session.New(nil)
				if err != nil {
					return outcome{}, err
				}
				if err := s.Close(); err != nil {
					return outcome{}, err
				}
				took[n] = time.Since(begin)
			}
			return outcome{took: median(took)}, nil
		}},
		peers: []contender{limit(500 * time.Microsecond)},
	}), nil
}

// inSession returns the time that work reports in a session over the object file.
func inSession(file string, locked bool, work func(*session.Session) (time.Duration, error)) (result outcome, err error) {
	// Sessions of Clew and gdb are several threads and processes that take turns: they
	// may use every core.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU()))
	if locked {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	f, err := elffile.Open(file)
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	image, err := session.LoadImage(nil, f)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, image.Close()) }()
	s, err := session.New(&session.Options{Images: []*session.Image{image}, Locked: locked})
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	took, err := work(s)
	return outcome{took: took}, err
}

func address(s *session.Session, name string) (uint64, error) {
	a, ok := s.Symbol(name)
	if !ok {
		return 0, fmt.Errorf("no function %s", name)
	}
	return a, nil
}

func medianCall(s *session.Session) (time.Duration, error) {
	hit, err := address(s, "hit")
	if err != nil {
		return 0, err
	}
	took := make([]time.Duration, calls)
	for n := range took {
		begin := time.Now()
		if stop, err := s.Call(hit, 1); err != nil || stop.Reason != session.Returned {
			return 0, fmt.Errorf("%v, %w", stop, err)
		}
		took[n] = time.Since(begin)
	}
	return median(took), nil
}

// spin calls spin up to its first stop.
func spin(s *session.Session, a session.Arguments) error {
	spin, err := address(s, "spin")
	if err != nil {
		return err
	}
	_, err = s.CallWith(spin, a)
	return err
}

func breakpoints(s *session.Session) (time.Duration, error) {
	if _, err := s.BreakAt("hit", nil); err != nil {
		return 0, err
	}
	if err := spin(s, session.Arguments{Words: []uint64{1 << 30}}); err != nil {
		return 0, err
	}
	begin := time.Now()
	for range hits {
		if stop, err := s.Continue(); err != nil || stop.Reason != session.AtBreakpoint {
			return 0, fmt.Errorf("%v, %w", stop, err)
		}
	}
	return time.Since(begin), nil
}

func singleSteps(s *session.Session) (time.Duration, error) {
	if err := spin(s, session.Arguments{Words: []uint64{1 << 30}, StopAtEntry: true}); err != nil {
		return 0, err
	}
	begin := time.Now()
	for range steps {
		if stop, err := s.StepInstruction(); err != nil || stop.Reason != session.SteppedInstruction {
			return 0, fmt.Errorf("%v, %w", stop, err)
		}
	}
	return time.Since(begin), nil
}

func falseConditions(s *session.Session) (time.Duration, error) {
	places, err := s.Locate("hit")
	if err != nil {
		return 0, err
	}
	condition, err := s.Condition(fmt.Sprintf("n == %d", ignored), places[0])
	if err != nil {
		return 0, err
	}
	if _, err := s.BreakAt("hit", &session.BreakpointOptions{Condition: condition}); err != nil {
		return 0, err
	}
	if err := spin(s, session.Arguments{Words: []uint64{1 << 30}, StopAtEntry: true}); err != nil {
		return 0, err
	}
	begin := time.Now()
	stop, err := s.Continue()
	if err != nil || stop.Reason != session.AtBreakpoint || stop.Err != nil {
		return 0, fmt.Errorf("%v, %w", stop, err)
	}
	return time.Since(begin), nil
}

var gdbClock = regexp.MustCompile(`(?m)^took ([0-9.]+)$`)

// gdbLoop is a contender that repeats a command of gdb n times in the function spin, after
// another command.
func gdbLoop(program string, goal float64, before string, n int, command string) contender {
	script := fmt.Sprintf("import time,gdb\nbegin = time.perf_counter()\nfor i in range(%d): gdb.execute(%q, to_string=True)\nprint('took %%.9f' %% (time.perf_counter() - begin))", n, command)
	return contender{name: "gdb", goal: goal, run: func() (outcome, error) {
		args := []string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set pagination off", "-ex", "break spin", "-ex", "run"}
		if before != "" {
			args = append(args, "-ex", before)
		}
		out, err := exec.Command("gdb", append(args, "-ex", "python "+script, program)...).CombinedOutput()
		found := gdbClock.FindSubmatch(out)
		if found == nil {
			return outcome{}, fmt.Errorf("gdb: %w: %s", err, out)
		}
		took, err := time.ParseDuration(string(found[1]) + "s")
		return outcome{took: took}, err
	}}
}
