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

// generatedMeasurements are of generated code that other programs describe: a process with
// 8,000 entries in its GDB JIT list, and the jitdump and the perf map of a runtime with
// 175,000 functions. stop ends the process.
func generatedMeasurements(clew, dir, program string) (all []*measurement, stop func(), err error) {
	if program == "" {
		return nil, nil, nil
	}
	dump, perfMap := filepath.Join(dir, "jit-1.dump"), filepath.Join(dir, "perf-1.map")
	if err := writeGenerated(dump, perfMap, 175_000); err != nil {
		return nil, nil, err
	}
	info, err := os.Stat(dump)
	if err != nil {
		return nil, nil, err
	}
	pid, stop, err := startWaiting(inGenerated(program, "mergeat=-1", "many=8000"))
	if err != nil {
		return nil, nil, err
	}
	process := strconv.Itoa(pid)
	return []*measurement{{
		name:      "8,000 JIT entries: attach, all stacks",
		maxRounds: 2,
		// In the first thread of a Go program that waits in a call, the walk cannot leave
		// the runtime's change of stacks: exit code 1.
		clew:  printing("clew", 0, "jit_inner", 1, 0, clew, "stack", process),
		peers: installed(printing("gdb", 0.05, "jit_inner", 0, 0, "gdb", gdbArguments(process)...)),
	}, {
		name:  "jitdump of 175,000 functions",
		clew:  printing("clew", 0, `"functions":175000`, 0, 4*info.Size(), clew, "jit", "--json", dump),
		peers: []contender{limit(2 * time.Second)},
	}, {
		name:  "perf map of 175,000 lines",
		clew:  printing("clew", 0, `"functions":175000`, 0, 0, clew, "jit", "--json", perfMap),
		peers: []contender{limit(2 * time.Second)},
	}}, stop, nil
}

// printing is a contender that runs a program, which must print want and exit with at most
// the given code. If maxMemory is not 0, the first run checks that the peak memory is at
// most so many bytes.
func printing(name string, goal float64, want string, maxCode int, maxMemory int64, path string, arguments ...string) contender {
	measured := false
	return contender{name: name, goal: goal, program: path, run: func() (outcome, error) {
		cmd := exec.Command(path, arguments...)
		start := time.Now()
		text, err := cmd.Output()
		took := time.Since(start)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() <= maxCode && exit.ExitCode() > 0 {
			err = nil
		}
		if err != nil {
			return outcome{}, fmt.Errorf("%q: %w", cmd.Args, err)
		}
		if !bytes.Contains(text, []byte(want)) {
			return outcome{}, fmt.Errorf("%q did not print %s", cmd.Args, want)
		}
		if maxMemory > 0 && !measured {
			o, err := memory(peakMemory, name, 0, path, arguments...).run()
			if err != nil {
				return outcome{}, err
			}
			if o.peak > uint64(maxMemory) {
				return outcome{}, fmt.Errorf("%q took %d MiB of memory, expected at most %d", cmd.Args, o.peak>>20, maxMemory>>20)
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
