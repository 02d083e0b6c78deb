// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command testsummary reads the events of `go test -json` and prints which
// tests were skipped, by the tool they miss, and as its last line the counts.
// It exits with 1 where a test failed or, with CI=true, was skipped.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// An event is one line of `go test -json` (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // in place of Package where a package did not build
	Test       string
	Output     string
}

// A summary counts tests and their subtests alike, each by its own outcome.
// A package that failed without a failing test (it did not build, ran out of
// time, left its process early) counts as one failure.
type summary struct {
	Passed, Failed int
	Skipped        []skip
}

type skip struct{ Test, Reason string }

type testName struct{ pkg, test string }

func summarize(r io.Reader) (*summary, error) {
	s := new(summary)
	reason := make(map[testName]string)
	failed := make(map[string]bool) // packages with a failing test
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("event %d: %w", n, err)
		}
		name := testName{e.Package, e.Test}
		switch {
		case e.Action == "build-fail":
			// The package that needed it fails too, and that one is counted.
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
		case e.Action == "fail":
			s.Failed++
			failed[e.Package] = true
		case e.Action == "skip":
			s.Skipped = append(s.Skipped, skip{e.Package + " " + e.Test, reason[name]})
		}
	}
	return s, lines.Err()
}

// A line that a test logged stands behind its place: "    a_test.go:7: text".
var place = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

func logged(output string) (string, bool) {
	m := place.FindStringSubmatch(strings.TrimRight(output, "\n"))
	if m == nil {
		return "", false
	}
	return m[1], true
}

var missingTool = regexp.MustCompile(`^skipped: (.+) is not installed$`)

func (s *summary) print(w io.Writer) {
	const noReason = "no reason given"
	byReason := make(map[string][]string)
	var reasons []string
	for _, k := range s.Skipped {
		r := k.Reason
		if m := missingTool.FindStringSubmatch(r); m != nil {
			r = "for want of " + m[1]
		} else if r == "" {
			r = noReason
		}
		if byReason[r] == nil {
			reasons = append(reasons, r)
		}
		byReason[r] = append(byReason[r], k.Test)
	}
	slices.Sort(reasons)
	for _, r := range reasons {
		fmt.Fprintf(w, "skipped: %s\n", r)
		for _, test := range byReason[r] {
			fmt.Fprintf(w, "    %s\n", test)
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", s.Passed, s.Failed, len(s.Skipped))
}

// verdict is an error where the run must not count as a success.
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

func read(path string) (*summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := summarize(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: testsummary EVENTS")
		os.Exit(2)
	}
	s, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
	// Said before the counts, which stay the last line.
	verdict := s.verdict(os.Getenv("CI") == "true")
	if verdict != nil {
		fmt.Println("test:", verdict)
	}
	s.print(os.Stdout)
	if verdict != nil {
		os.Exit(1)
	}
}
