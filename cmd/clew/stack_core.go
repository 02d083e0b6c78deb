// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/cmd/clew/input"
	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/report/trace"
	"github.com/clewdev/clew/snapshot"
	_ "github.com/clewdev/clew/snapshot/core"     // opens cores
	_ "github.com/clewdev/clew/snapshot/minidump" // opens minidumps
	"github.com/clewdev/clew/stack"
)

type coreFlags struct {
	sysroot, exe string
	opened       *openedSource // the source that they apply to
}

func (f *coreFlags) flags() []cli.Flag {
	return grouped("Cores",
		&cli.StringFlag{Name: "sysroot", Destination: &f.sysroot, Usage: "look for the mapped files under `DIR`, by their paths or base names"},
		&cli.StringFlag{Name: "exe", Destination: &f.exe, Usage: "use `FILE` as the program"},
	)
}

// refuse returns an error if the flags are set. Callers use it for targets other than cores.
func (f *coreFlags) refuse() error {
	if f.exe != "" || f.sysroot != "" {
		return errors.New("--exe and --sysroot are for cores: Clew opens the files of a live process as the process sees them")
	}
	return nil
}

// openedSource is a source and the name of its target.
type openedSource struct {
	snapshot.Source
	name string
	live bool
}

func openSource(name string, flags *coreFlags, opts *snapshot.Options) (*openedSource, error) {
	opts.Program, opts.Root = flags.exe, flags.sysroot
	if err := input.Exist(flags.exe, flags.sysroot); err != nil {
		return nil, err
	}
	end := func() {}
	defer func() { end() }()
	var done func(int)
	opts.Progress = func(read, total int64) {
		if done == nil {
			if done, end = output.Progress("MB decompressed", int(total>>20)); done == nil {
				done = func(int) {}
			}
		}
		done(int(read >> 20))
	}
	s, err := snapshot.Open(name, opts)
	if err != nil {
		return nil, err
	}
	return &openedSource{s, name, snapshot.IsLive(name)}, nil
}

// explainUnknown adds advice to the error for a file that is not a source.
func explainUnknown(path string, err error) error {
	if !errors.Is(err, snapshot.ErrUnknown) {
		return err
	}
	info, irregular := input.Regular(path)
	if irregular != nil {
		return fmt.Errorf("%w: neither a core nor a process", irregular)
	}
	switch c, _ := input.ContentOf(path); c {
	case input.Recording:
		return fmt.Errorf("%s: not a core; 'clew perf %[1]s' reads it", path)
	case input.Jitdump:
		return fmt.Errorf("%s: not a core; 'clew jit %[1]s' reads it", path)
	}
	if info.Size() == 0 {
		return err
	}
	return fmt.Errorf("%w; 'clew stack -- %s' runs it", err, path)
}

// retake takes the snapshot of the source again, with memory around pages that a walk had to read
// after the target continued to run. It returns s, the first one, if there are none.
func (o *openedSource) retake(s *snapshot.Snapshot, pages []uint64) *snapshot.Snapshot {
	if o == nil || len(pages) == 0 {
		return s
	}
	if r, ok := o.Source.(snapshot.Retaker); ok {
		return r.Retake(pages)
	}
	return s
}

// close closes the source, and reports whether it was complete. It does nothing for nil.
func (o *openedSource) close() (complete bool) {
	if o == nil {
		return true
	}
	defer o.Close()
	return len(o.Missing()) == 0 && o.Damage() == nil
}

// description returns the description of a core, nil for a live process. The stacks must be named
// first.
func (o *openedSource) description(s *snapshot.Snapshot) *trace.Core {
	if o == nil || o.live {
		return nil
	}
	r := &trace.Core{Path: o.name, Signal: s.Signal}
	denied := false
	for _, m := range o.Missing() {
		denied = denied || errors.Is(m.Err, fs.ErrPermission)
		r.Missing = append(r.Missing, trace.MissingFile{Path: m.Path, BuildID: m.BuildID, Address: m.Address, Reason: m.Err.Reason()})
	}
	if len(r.Missing) > 0 {
		r.Advice = "for missing files name a directory that has them with --sysroot, a program with --exe"
		if input.Fetch() == nil {
			r.Advice += ", or servers in DEBUGINFOD_URLS that may have them"
		}
		if denied && os.Geteuid() == 0 {
			r.Advice += "; if you trust " + o.name + ", --sysroot / reads files with your own rights"
		}
	}
	if err := o.Damage(); err != nil {
		r.Damage = printable.Lines(err)
	}
	return r
}

// warnOfMissing warns of files that could not be read or were refused while stacks were named. It
// also warns of objects of a live process without a file: their frames only have the names in the
// process's memory. (The report of a core lists its missing files.) nameErr is the error of
// Objects.Name. warnOfMissing returns its warnings, and whether no file was refused, truncated or
// missing. A debug file that is not installed does not count.
func warnOfMissing(s *snapshot.Snapshot, stacks []stack.Stack, nameErr error) (warnings []string, complete bool) {
	complete = true
	warn := func(text string) {
		warnings = append(warnings, text)
		output.Warn("%s", text)
	}
	if nameErr != nil {
		for _, line := range printable.Lines(nameErr) {
			if !slices.Contains(warnings, line) {
				warn(line)
			}
		}
		var refused *object.RefusedError
		complete = !errors.As(nameErr, &refused) && !errors.Is(nameErr, object.ErrTruncated)
	}
	if !s.Live {
		return warnings, complete
	}
	reported := make(map[*stack.Object]bool)
	for i := range stacks {
		for j := range stacks[i].Frames {
			o := stacks[i].Frames[j].Object
			if o == nil || o.Missing == nil || reported[o] {
				continue
			}
			reported[o] = true
			complete = false
			reason := o.Missing.Error()
			var missing *debugfile.NotFoundError
			if errors.As(o.Missing, &missing) {
				reason = missing.Reason()
			}
			if errors.Is(o.Missing, fs.ErrPermission) {
				reason += " (root may open the mapped file, although it has been deleted)"
			}
			warn(fmt.Sprintf("%s was read from memory, which has few names: %s", o.Name, reason))
		}
	}
	return warnings, complete
}
