// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math"
	"os/exec"
	"time"
)

// tracebackMeasurements are of the traceback function of package cgotraceback, in a signal
// handler. cgosymbolizer's calls _Unwind_Backtrace of libgcc, and does nothing else that takes
// time. So that is the peer if cgosymbolizer could not be fetched.
func tracebackMeasurements(program, cgosymbolizer string) []*measurement {
	if program == "" {
		return nil
	}
	walk := func(name, program, by string) contender {
		return contender{name: name, program: program, run: func() (o outcome, err error) {
			out, err := exec.Command(program, by).Output()
			if err != nil {
				return o, fmt.Errorf("%s: %w", program, err)
			}
			var each float64
			if _, err := fmt.Sscanf(string(out), "%f ns", &each); err != nil {
				return o, fmt.Errorf("%s: %w", program, err)
			}
			o.took = time.Duration(math.Round(1000 * each))
			return o, nil
		}}
	}
	peer := walk("libgcc's _Unwind_Backtrace, which cgosymbolizer calls", program, "libgcc")
	if cgosymbolizer != "" {
		peer = walk("cgosymbolizer", cgosymbolizer, "package")
	}
	peer.goal = 0.1
	return []*measurement{{
		name:  "traceback of 20 C frames in a signal handler of a Go program, 1000 times",
		clew:  walk("clew", program, "package"),
		peers: []contender{peer},
	}}
}
