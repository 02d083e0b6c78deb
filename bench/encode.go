// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"time"

	"github.com/clewdev/clew/cfi"
)

// encodeMeasurements are of writing .eh_frame. The goal is a speed: the peer takes the
// time in which that speed writes as many bytes.
func encodeMeasurements(o *object, gimli *gimli) ([]*measurement, error) {
	encoder := cfi.Encoder{Machine: o.frame.Machine, Address: o.frame.Address}
	encodeFDEs := &measurement{name: "every FDE of .eh_frame decoded and encoded", clew: inProcess("clew", func(out *outcome) error {
		encoder.Reset()
		for fde := range o.frame.FDEs() {
			if err := encoder.FDE(fde); err != nil {
				return err
			}
			out.entries++
		}
		out.checksum = uint64(len(encoder.Data))
		return nil
	})}
	if gimli != nil {
		encodeFDEs.peers = append(encodeFDEs.peers, gimli.contender("encode", 1, false))
	}

	var programs []*cfi.Program
	cie := cfi.EntryCIE(o.frame.Machine)
	for fde := range o.frame.FDEs() {
		programs = append(programs, &cfi.Program{CIE: cie, Instructions: fde.Instructions})
	}
	const stride = 32
	encodePrograms := &measurement{name: "an FDE for each generated function", clew: inProcess("clew", func(out *outcome) error {
		encoder.Reset()
		for i, p := range programs {
			if err := encoder.Program(p, o.frame.Address+stride*uint64(i), stride); err != nil {
				return err
			}
		}
		out.entries, out.checksum = uint64(len(programs)), uint64(len(encoder.Data))
		return nil
	})}
	const speed = 200e6 // bytes a second
	for _, m := range []*measurement{encodeFDEs, encodePrograms} {
		first, err := m.clew.run()
		if err != nil {
			return nil, err
		}
		first.took = time.Duration(float64(first.checksum) / speed * float64(time.Second))
		m.peers = append(m.peers, contender{name: "200 MB/s", goal: 1, same: true, run: func() (outcome, error) { return first, nil }})
	}
	return []*measurement{encodeFDEs, encodePrograms}, nil
}
