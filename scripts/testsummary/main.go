// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command testsummary reads the events of `go test -json`. It prints the skipped tests, by the
// missing tool, and the counts on the last line. It exits with 1 if a test failed or, with
// CI=true, was skipped.
//
// Usage: testsummary [-skip 'TEST: REASON'] [MACHINE=]EVENTS ...
//
// MACHINE precedes the names of tests that ran on another machine. Two kinds of skipped tests
// are printed but not counted: tests without a tool that passed in an earlier EVENTS, and
// tests with the reason "unsupported: TOOL does not support VERSION", because the tool itself
// refuses a release of Go. -skip adds a test that is not run by go test.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// An event is one line of `go test -json` (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // instead of Package, for a package that did not build
	Test       string
	Output     string
}

// A summary counts tests and subtests, each by its own result. A package that failed without
// a failing test (it did not build, timed out, exited early) counts as one failure.
type summary struct {
	Passed, Failed int
	Skipped        []skip
	Elsewhere      []skip // without a tool, but passed in an earlier run
	Unsupported    []skip // a tool refuses this release of Go

	passed map[testName]bool
}

type skip struct{ Test, Reason string }

type testName struct{ pkg, test string }

// add adds the events of one run. The machine is "" for this one.
func (s *summary) add(machine string, r io.Reader) error {
	reason := make(map[testName]string)
	failed := make(map[string]bool) // packages with a failing test
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
		name := testName{e.Package, e.Test}
		switch {
		case e.Action == "build-fail":
			// The package that imports it fails too, and is counted.
		case e.Test == "":
			if e.Action == "fail" && !failed[e.Package] {
				s.Failed++
			}
		case e.Action == "output":
			if text, ok := logged(e.Output); ok {
				reason[name] = text
			}
		case e.Action == "pass":
			s.Passed++
			if s.passed == nil {
				s.passed = make(map[testName]bool)
			}
			s.passed[name] = true
		case e.Action == "fail":
			s.Failed++
			failed[e.Package] = true
		case e.Action == "skip":
			test := e.Package + " " + e.Test
			if machine != "" {
				test = machine + " " + test
			}
			k := skip{test, reason[name]}
			if s.passed[name] && missingTool.MatchString(k.Reason) {
				s.Elsewhere = append(s.Elsewhere, k)
			} else if unsupported.MatchString(k.Reason) {
				s.Unsupported = append(s.Unsupported, k)
			} else {
				s.Skipped = append(s.Skipped, k)
			}
		}
	}
	return lines.Err()
}

// place matches a line that a test logged: "    a_test.go:7: text".
var place = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

func logged(output string) (string, bool) {
	m := place.FindStringSubmatch(strings.TrimRight(output, "\n"))
	if m == nil {
		return "", false
	}
	return m[1], true
}

var (
	missingTool = regexp.MustCompile(`^skipped: (.+) is not installed$`)
	unsupported = regexp.MustCompile(`^unsupported: \S+ does not support go\S+$`)
)

func (s *summary) print(w io.Writer) {
	printSkips(w, "skipped", s.Skipped)
	printSkips(w, "passed elsewhere, skipped here", s.Elsewhere)
	printSkips(w, "skipped, not counted", s.Unsupported)
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", s.Passed, s.Failed, len(s.Skipped))
}

func printSkips(w io.Writer, heading string, skips []skip) {
	const noReason = "no reason given"
	byReason := make(map[string][]string)
	for _, k := range skips {
		r := k.Reason
		if m := missingTool.FindStringSubmatch(r); m != nil {
			r = "missing " + m[1]
		} else if r == "" {
			r = noReason
		}
		byReason[r] = append(byReason[r], k.Test)
	}
	for _, r := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(w, "%s: %s\n", heading, r)
		for _, test := range byReason[r] {
			fmt.Fprintf(w, "    %s\n", test)
		}
	}
}

// verdict returns an error if the run is not a success.
func (s *summary) verdict(ci bool) error {
	switch {
	case s.Failed > 0:
		return errors.New("tests failed")
	case s.Passed == 0:
		return errors.New("no test passed")
	case ci && len(s.Skipped) > 0:
		return errors.New("CI=true, where no test may be skipped")
	}
	return nil
}

// read adds the events of an argument, [MACHINE=]EVENTS.
func (s *summary) read(argument string) error {
	machine, path, ok := strings.Cut(argument, "=")
	if !ok {
		machine, path = "", argument
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.add(machine, f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func main() {
	s := new(summary)
	flag.Func("skip", "a `test: reason` that was skipped", func(text string) error {
		test, reason, ok := strings.Cut(text, ": ")
		if !ok {
			return errors.New("no reason")
		}
		s.Skipped = append(s.Skipped, skip{test, reason})
		return nil
	})
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: testsummary [-skip 'TEST: REASON'] [MACHINE=]EVENTS ...")
		os.Exit(2)
	}
	for _, argument := range flag.Args() {
		if err := s.read(argument); err != nil {
			fmt.Fprintln(os.Stderr, "testsummary:", err)
			os.Exit(1)
		}
	}
	// The verdict comes first, because the counts must be the last line.
	verdict := s.verdict(os.Getenv("CI") == "true")
	if verdict != nil {
		fmt.Println("test:", verdict)
	}
	s.print(os.Stdout)
	if verdict != nil {
		os.Exit(1)
	}
}
