// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"time"
)

// tracebackMeasurements are of the traceback function of package cgotraceback, in a signal
// handler, beside that of cgosymbolizer, and of the tables that it needs.
func tracebackMeasurements(program, cgosymbolizer string) []*measurement {
	if program == "" {
		return nil
	}
	timed := func(name, program string, times float64, arguments ...string) contender {
		return contender{name: name, program: program, run: func() (o outcome, err error) {
			out, err := exec.Command(program, arguments...).Output()
			if err != nil {
				return o, fmt.Errorf("%s: %w", program, err)
			}
			var each float64
			if _, err := fmt.Sscanf(string(out), "%f ns", &each); err != nil {
				return o, fmt.Errorf("%s: %w", program, err)
			}
			o.took = time.Duration(math.Round(times * each))
			return o, nil
		}}
	}
	peers := []contender{limit(2 * time.Millisecond)}
	if cgosymbolizer != "" {
		peer := timed("cgosymbolizer", cgosymbolizer, 1000)
		peer.goal = 0.1
		peers = append(peers, peer)
	}
	list := []*measurement{{
		name:  "traceback of 20 C frames in a signal handler of a Go program, 1000 times",
		clew:  timed("clew", program, 1000),
		peers: peers,
	}}
	// Two files of 110 MB, each with 50 MB of code.
	libraries, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/libLLVM-1[45].so.1")
	if len(libraries) == 2 {
		list = append(list, &measurement{
			name:  "tables for tracebacks through 100 MB of C++ code, without lines",
			clew:  timed("clew", program, 1, libraries...),
			peers: []contender{limit(300 * time.Millisecond)},
		})
	}
	return list
}
