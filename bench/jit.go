// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
)

// generatedMeasurements are of generated code as others tell of it: a process with
// 8,000 entries in its GDB JIT list, and the jitdump and the perf map of a runtime
// with 175,000 functions. stop ends the process and removes the files.
func generatedMeasurements(clew, program string) (all []*measurement, stop func(), err error) {
	stop = func() {}
	if clew == "" || program == "" {
		return nil, stop, nil
	}
	dir, err := os.MkdirTemp("", "clew-bench")
	if err != nil {
		return nil, stop, err
	}
	stop = func() { os.RemoveAll(dir) }
	dump, perfMap := filepath.Join(dir, "jit-1.dump"), filepath.Join(dir, "perf-1.map")
	if err := writeGenerated(dump, perfMap, 175_000); err != nil {
		return nil, stop, err
	}
	cmd := exec.Command(program, "mergeat=-1", "many=8000", "publish", "wait")
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, stop, err
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		return nil, stop, err
	}
	time.Sleep(100 * time.Millisecond) // from "ready" into generated code
	process := strconv.Itoa(cmd.Process.Pid)
	all = []*measurement{{
		name: "8,000 JIT entries: attach, all stacks",
		most: 2,
		// The first thread of a Go program that waits in a call has no way out of
		// the runtime's change of stacks: exit code 1.
		clew: printing("clew", "jit_inner", 1, 0, clew, "stack", process),
	}, {
		name:  "jitdump of 175,000 functions",
		clew:  printing("clew", `"functions":175000`, 0, 4*size(dump), clew, "jit", "--json", dump),
		peers: []contender{goal(2 * time.Second)},
	}, {
		name:  "perf map of 175,000 lines",
		clew:  printing("clew", `"functions":175000`, 0, 0, clew, "jit", "--json", perfMap),
		peers: []contender{goal(2 * time.Second)},
	}}
	if _, err := exec.LookPath("gdb"); err == nil {
		peer := printing("gdb", "jit_inner", 0, 0, "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", process, "-ex", "thread apply all bt")
		peer.goal = 0.05
		all[0].peers = []contender{peer}
	}
	return all, stop, nil
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// printing is a contender that runs a program which must print something, end
// with code at most, and take memory bytes at most (0: any), which is looked at once.
func printing(name, want string, code int, memory int64, path string, arguments ...string) contender {
	measured := false
	return contender{name: name, run: func() (outcome, error) {
		cmd := exec.Command(path, arguments...)
		start := time.Now()
		text, err := cmd.Output()
		took := time.Since(start)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() <= code && exit.ExitCode() > 0 {
			err = nil
		}
		if err != nil {
			return outcome{}, fmt.Errorf("%q: %w", cmd.Args, err)
		}
		if !bytes.Contains(text, []byte(want)) {
			return outcome{}, fmt.Errorf("%q did not print %s", cmd.Args, want)
		}
		if memory > 0 && !measured {
			o, err := peak(name, 0, path, arguments...).run()
			if err == nil && o.peak > uint64(memory) {
				err = fmt.Errorf("%q took %d MB of memory, expected %d at most", cmd.Args, o.peak>>20, memory>>20)
			}
			if err != nil {
				return outcome{}, err
			}
			measured = true
		}
		return outcome{took: took}, nil
	}}
}

// writeGenerated writes a jitdump with lines and unwind tables, and a perf map.
func writeGenerated(dump, perfMap string, functions int) error {
	m := jit.Host()
	cie := *cfi.EntryCIE(m)
	cie.PointerEncoding = cfi.EncPCRel | cfi.EncSdata4
	program, err := cfi.NewBuilder(&cie).Program()
	if err != nil {
		return err
	}
	const size = 256
	tables := cfi.Encoder{Machine: m, Address: 1 << 31}
	if err := tables.Program(program, 1<<31-size, size); err != nil {
		return err
	}
	e := perf.Encoder{Order: binary.LittleEndian}
	e.Header(&perf.Header{Order: binary.LittleEndian, Machine: m.ELF, PID: 1, Time: 1})
	code := make([]byte, size)
	var lines []byte
	for i := range functions {
		at, name := uint64(0x7f0000000000+2*size*i), fmt.Sprintf("wasm[0]::function[%d]", i)
		err := errors.Join(
			e.DebugInfo(uint64(i), at, []perf.DebugEntry{{Address: at, Line: int32(i + 1), File: "/src/module.wat"}}),
			e.UnwindingInfo(uint64(i), &perf.UnwindingInfo{EHFrame: tables.Data, Header: make([]byte, 20)}),
			e.Load(uint64(i), &perf.Load{PID: 1, TID: 1, VMA: at, Address: at, Index: uint64(i), Name: name, Code: code}))
		if err != nil {
			return err
		}
		lines = fmt.Appendf(lines, "%x %x %s\n", at, size, name)
	}
	return errors.Join(os.WriteFile(dump, e.Data, 0o666), os.WriteFile(perfMap, lines, 0o666))
}
