// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/core"
	"github.com/clewdev/clew/stack"
)

// coreFlags are the flags of verbs that read cores.
type coreFlags struct {
	sysroot, exe string
	opened       *openedCore // what they were used for
}

func (f *coreFlags) flags() []cli.Flag {
	return grouped("Cores",
		&cli.StringFlag{Name: "sysroot", Destination: &f.sysroot, Usage: "look for the mapped files under `DIR`, by their paths or base names"},
		&cli.StringFlag{Name: "exe", Destination: &f.exe, Usage: "the program is `FILE`"},
	)
}

// refuse says that the flags of cores are given where there is none.
func (f *coreFlags) refuse() error {
	if f.exe != "" || f.sysroot != "" {
		return errors.New("--exe and --sysroot say where the files of a core are, and no core is named; those of a process are found as it sees them")
	}
	return nil
}

// openCore opens a core.
func openCore(path string, flags *coreFlags) (*core.Core, error) {
	opts := core.Options{Program: flags.exe, Search: searchBelow(flags.sysroot)}
	if err := exist(flags.exe, flags.sysroot); err != nil {
		return nil, err
	}
	end := func() {}
	defer func() { end() }()
	var done func(int)
	opts.Progress = func(read, total int64) {
		if done == nil {
			if done, end = progress("MB decompressed", int(total>>20)); done == nil {
				done = func(int) {}
			}
		}
		done(int(read >> 20))
	}
	c, err := core.Open(path, &opts)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// openedCore is a core whose stacks are printed; nil where there is none.
type openedCore struct {
	*core.Core
	path string
}

// takeCore opens a core and returns the threads of it that are asked for. The
// error says what to do.
func takeCore(path string, flags *stackFlags) (*stack.Walked, *openedCore, error) {
	info, err := regular(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: neither a core nor a process", err)
	}
	c, err := openCore(path, &flags.core)
	if errors.Is(err, core.ErrNotCore) {
		switch c, _ := contentOf(path); c {
		case recordingFile:
			return nil, nil, fmt.Errorf("%s: not a core; 'clew perf %[1]s' reads it", path)
		case jitdumpFile:
			return nil, nil, fmt.Errorf("%s: not a core; 'clew jit %[1]s' reads it", path)
		}
		if info.Size() == 0 {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%w; 'clew stack -- %s' runs it", err, path)
	}
	if err != nil {
		return nil, nil, err
	}
	s := *c.Snapshot()
	if flags.threads != nil {
		s.Threads = slices.DeleteFunc(slices.Clone(s.Threads), func(t snapshot.Thread) bool { return !slices.Contains(flags.threads, t.ID) })
		if len(s.Threads) == 0 {
			c.Close()
			return nil, nil, fmt.Errorf("%s: it has no thread %s", path, strings.Trim(fmt.Sprint(flags.threads), "[]"))
		}
	}
	return &stack.Walked{Snapshot: &s, Objects: stack.NewObjects(&s)}, &openedCore{c, path}, nil
}

// close closes the core, and reports whether nothing of it is missing.
func (c *openedCore) close() (complete bool) {
	if c == nil {
		return true
	}
	defer c.Close()
	return len(c.Missing()) == 0 && c.Damage() == nil
}

// facts are what is told of the core beside its stacks, once those are named. It
// is nil of no core.
func (c *openedCore) facts() *report.Core {
	if c == nil {
		return nil
	}
	r := &report.Core{Path: c.path, Signal: c.Snapshot().Signal}
	for _, m := range c.Missing() {
		r.Missing = append(r.Missing, report.MissingFile{Path: m.Path, BuildID: m.BuildID, Address: m.Address, Reason: m.Err.Reason()})
	}
	if len(r.Missing) > 0 {
		r.Advice = "for what is missing name a directory that has it with --sysroot, a program with --exe"
		if fetch() == nil {
			r.Advice += ", or servers in DEBUGINFOD_URLS, which may have it"
		}
	}
	if err := c.Damage(); err != nil {
		r.Damage = printable.Lines(err)
	}
	return r
}
