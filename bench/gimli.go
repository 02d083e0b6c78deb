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

// A gimli is the gimli-bench program, which makes a pass for every line it reads.
type gimli struct {
	requests io.Writer
	answers  *bufio.Reader
}

// startGimli starts the program, which ends with this one; nil where there is none.
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
	_, err = g.ask("lookup") // it has read the addresses when it answers
	return g, err
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
