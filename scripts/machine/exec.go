// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

// passed are the prefixes of the environment variables that the program gets: those of tests
// and of Go's runtime. Paths are different in the machine.
var passed = []string{"CLEW_", "GODEBUG=", "GOGC=", "GOMAXPROCS=", "GOMEMLIMIT=", "GOTRACEBACK="}

// execute runs a program in the machine that the environment names, and copies its output
// while it runs.
func execute(args []string) (int, error) {
	root := os.Getenv(exchange.Variable)
	if root == "" {
		return 2, errors.New(exchange.Variable + " is not set; use exec within the command of `machine run`")
	}
	dir, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	program, err := filepath.Abs(args[0])
	if err != nil {
		return 1, err
	}
	c := exchange.Call{Args: append([]string{program}, args[1:]...), Dir: dir}
	for _, variable := range os.Environ() {
		for _, prefix := range passed {
			if strings.HasPrefix(variable, prefix) && !strings.HasPrefix(variable, exchange.Variable+"=") {
				c.Env = append(c.Env, variable)
			}
		}
	}
	n, err := submit(root, &c)
	if err != nil {
		return 1, err
	}
	return follow(root, n)
}

// submit writes a call under the next free number.
func submit(root string, c *exchange.Call) (int, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(exchange.RunFolder(root), "new")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	for n := 1; ; n++ {
		// Other processes submit at the same time. Link does not replace a file.
		err := os.Link(f.Name(), exchange.RunCall(root, n))
		if !errors.Is(err, fs.ErrExist) {
			return n, err
		}
	}
}

// follow copies the output of a run until it has ended.
func follow(root string, n int) (status int, err error) {
	var output *os.File
	copyMore := func() {
		if output == nil {
			output, _ = os.Open(exchange.RunOutput(root, n))
		}
		if output != nil {
			io.Copy(os.Stdout, output)
		}
	}
	poll(context.Background(), 50*time.Millisecond, func() bool {
		copyMore()
		text, e := os.ReadFile(exchange.RunStatus(root, n))
		if e == nil {
			copyMore()
			var r exchange.Result
			if err = json.Unmarshal(text, &r); err == nil && r.Error != "" {
				err = errors.New(r.Error)
			}
			status = r.Status
			return true
		}
		if why, e := os.ReadFile(exchange.Ended(root)); e == nil {
			err = fmt.Errorf("the machine has ended: %s", why)
			return true
		}
		if _, e := os.Stat(root); e != nil {
			err = fmt.Errorf("the machine has ended: %w", e)
			return true
		}
		return false
	})
	return status, err
}
