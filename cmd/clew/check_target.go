// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/cmd/clew/output"
)

// checkOpeners open the kinds of arguments. They are asked in this order. The error of one that does
// not know the argument wraps snapshot.ErrUnknown.
var checkOpeners = []func(in *checkInput, name string, flags *coreFlags) error{
	(*checkInput).openFile,
	(*checkInput).openTarget,
}

// openTarget opens a process, a core, a jitdump or a recording.
func (in *checkInput) openTarget(name string, flags *coreFlags) error {
	t, err := openJIT(name, &jitFlags{core: *flags})
	if err != nil {
		return err
	}
	in.close = append(in.close, t.close)
	in.partly = !t.warnOfDamage() || in.partly
	if t.objects != nil {
		parts, err := survey.Target(t.objects)
		if err != nil {
			output.Warn("%v", err)
			in.partly = true
		}
		in.parts = append(in.parts, parts...)
		return nil
	}
	for _, source := range t.sources {
		in.parts = append(in.parts, survey.Source(source, t.machine))
	}
	return nil
}
