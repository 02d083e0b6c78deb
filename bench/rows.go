// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// lookups is how many addresses one run looks up.
const lookups = 1_000_000

// An object is the .eh_frame of an ELF file, and random addresses that it covers.
type object struct {
	path      string
	frame     *cfi.Section
	sections  string // argument of gimli-bench
	addresses []uint64
}

func openObject(path string) (*object, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, header, text := f.Section(".eh_frame"), f.Section(".eh_frame_hdr"), f.Section(".text")
	if s == nil || header == nil || text == nil {
		return nil, fmt.Errorf("%s: no .eh_frame, .eh_frame_hdr or .text", path)
	}
	data, err := s.Data()
	if err != nil {
		return nil, err
	}
	o := &object{
		path: path,
		frame: &cfi.Section{Name: s.Name, Data: data, Address: s.Addr,
			Machine: arch.Lookup(f.Machine, f.Class, f.Data)},
		sections: fmt.Sprintf("%d:%d:%d,%d:%d:%d,%d", s.Addr, s.Offset, s.Size,
			header.Addr, header.Offset, header.Size, text.Addr),
	}
	type code struct{ start, end uint64 }
	var functions []code
	for fde := range o.frame.FDEs() {
		if fde.Start < fde.End {
			functions = append(functions, code{fde.Start, fde.End})
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range lookups {
		c := functions[random.IntN(len(functions))]
		o.addresses = append(o.addresses, c.start+random.Uint64N(c.end-c.start))
	}
	return o, nil
}

// timed runs f and counts its allocations.
func timed(f func(*outcome) error) (outcome, error) {
	var o outcome
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := f(&o)
	o.took = time.Since(start)
	runtime.ReadMemStats(&after)
	o.allocs = after.Mallocs - before.Mallocs
	return o, err
}

// inProcess is a contender that works in this process.
func inProcess(name string, work func(*outcome) error) contender {
	return contender{name: name, run: func() (outcome, error) { return timed(work) }}
}

func cfaOffset(r cfi.Rule) uint64 {
	if r.Kind == cfi.Register {
		return uint64(r.Offset)
	}
	return 0
}

func rowMeasurements(o *object, gimli *gimli) ([]*measurement, error) {
	var interpreter cfi.Interpreter
	rows := &measurement{name: "every row of .eh_frame", clew: inProcess("clew", func(out *outcome) error {
		var entries, rows, checksum uint64
		for fde := range o.frame.FDEs() {
			entries++
			for row := range interpreter.Rows(fde) {
				rows++
				checksum += row.Start + cfaOffset(row.CFA)
			}
			if err := interpreter.Err(); err != nil {
				return err
			}
		}
		out.entries, out.rows, out.checksum = entries, rows, checksum
		return nil
	})}

	table := unwind.Compile(o.frame)
	lookup := &measurement{name: fmt.Sprintf("%d random addresses to rows", lookups), clew: inProcess("clew", func(out *outcome) error {
		for _, address := range o.addresses {
			rules, err := table.Rules(address)
			if err != nil {
				return err
			}
			out.entries++
			out.checksum += cfaOffset(rules.CFA)
		}
		out.rows = out.entries
		return nil
	})}
	compile := &measurement{name: "compiling the table for look-ups", clew: inProcess("clew", func(*outcome) error {
		table = unwind.Compile(o.frame)
		return nil
	})}

	if gimli != nil {
		everyRow := gimli.contender("rows", 0, false)
		everyRow.name = "gimli, every row"
		compile.peers = append(compile.peers, everyRow)
		rows.peers = append(rows.peers, gimli.contender("rows", 0.5, true))
		lookup.peers = append(lookup.peers, gimli.contender("lookup", 0.1, true))
	}

	// Delve has no API for every row: this is one row of every FDE.
	order, size := o.frame.Machine.Order, o.frame.Machine.AddressSize
	entries, err := frame.Parse(o.frame.Data, order, 0, size, o.frame.Address)
	if err != nil {
		return nil, fmt.Errorf("delve: %w", err)
	}
	rows.peers = append(rows.peers, inProcess("delve, one row per FDE", func(out *outcome) error {
		entries, err := frame.Parse(o.frame.Data, order, 0, size, o.frame.Address)
		for _, fde := range entries {
			out.entries++
			if fde.Begin() == fde.End() {
				continue
			}
			row, err := fde.EstablishFrame(fde.End() - 1)
			if err != nil {
				return err
			}
			out.rows++
			out.checksum += uint64(row.CFA.Offset)
		}
		return err
	}))
	lookup.peers = append(lookup.peers, inProcess("delve", func(out *outcome) error {
		for _, address := range o.addresses {
			fde, err := entries.FDEForPC(address)
			if err != nil {
				continue // Delve does not find some FDEs: the count shows how many
			}
			row, err := fde.EstablishFrame(address)
			if err != nil {
				return err
			}
			out.entries++
			out.checksum += uint64(row.CFA.Offset)
		}
		out.rows = out.entries
		return nil
	}))
	return []*measurement{rows, lookup, compile}, nil
}

// writeAddresses writes the addresses to a temporary file, in the format of gimli-bench.
func (o *object) writeAddresses() (string, error) {
	f, err := os.CreateTemp("", "clew-bench")
	if err != nil {
		return "", err
	}
	err = binary.Write(f, binary.LittleEndian, o.addresses)
	return f.Name(), errors.Join(err, f.Close())
}
