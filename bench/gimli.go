// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// A gimli is the gimli-bench program, which does the work that each input line names.
type gimli struct {
	requests io.Writer
	answers  *bufio.Reader
}

// startGimli starts the program, which exits when this one does. It returns nil if the
// path is "".
func startGimli(path string, o *object) (*gimli, error) {
	if path == "" {
		return nil, nil
	}
	addresses, err := o.writeAddresses()
	if err != nil {
		return nil, err
	}
	defer os.Remove(addresses)
	cmd := exec.Command(path, o.path, o.sections, addresses)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &gimli{in, bufio.NewReader(out)}
	_, err = g.ask("lookup") // the answer shows that it has read the addresses
	return g, err
}

// contender does the work of a request. If same is set, its result must equal Clew's.
func (g *gimli) contender(request string, goal float64, same bool) contender {
	return contender{name: "gimli", goal: goal, same: same, run: func() (outcome, error) { return g.ask(request) }}
}

func (g *gimli) ask(request string) (outcome, error) {
	var o outcome
	if _, err := fmt.Fprintln(g.requests, request); err != nil {
		return o, err
	}
	line, err := g.answers.ReadString('\n')
	if err != nil {
		return o, err
	}
	var took int64
	_, err = fmt.Sscan(line, &took, &o.entries, &o.rows, &o.checksum)
	o.took = time.Duration(took)
	return o, err
}
