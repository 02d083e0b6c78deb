// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package continuous

import (
	"io"
	"math"
	"time"

	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
	"github.com/clewdev/clew/record"
)

// options returns how profiles of a recording are encoded.
func (f *Flags) options(opts *record.Options) otlp.Options {
	o := otlp.Options{NoSymbols: f.symbols == "none", Resource: f.finder.Process}
	switch {
	case opts.Wall:
		o.Type, o.Unit = "wall", "nanoseconds"
	case opts.OffCPU:
		o.Type, o.Unit = "off_cpu", "nanoseconds"
	case opts.Period != 0:
		o.Period, o.PeriodType, o.PeriodUnit = int64(opts.Period), opts.Event, "count"
	case opts.Event == "" || opts.Event == "cpu-clock":
		o.Period, o.PeriodType, o.PeriodUnit = int64(time.Second)/int64(max(opts.Frequency, 1)), "cpu", "nanoseconds"
	}
	return o
}

// WriteFile writes a profile as a file: one message, not compressed.
func (f *Flags) WriteFile(p *profile.Profile, opts *record.Options, w io.Writer) error {
	o := f.options(opts)
	o.MaxSize = math.MaxInt
	messages, err := otlp.Profiles(p, o)
	for _, m := range messages {
		if _, err := w.Write(m); err != nil {
			return err
		}
	}
	return err
}
