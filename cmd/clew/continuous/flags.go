// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package continuous is the part of the verb record for OpenTelemetry: files with profiles of
// OTLP, and recordings that send a profile at each interval.
package continuous

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/clewdev/clew/profile/otlp/export"
	"github.com/clewdev/clew/record/resource"
)

// Flags are flags of the verb record.
type Flags struct {
	labels  []string
	symbols string
	send    string
	every   time.Duration
	spool   string
	sends   bool // set by Check

	finder resource.Finder
}

// List returns the flags for the command line.
func (f *Flags) List() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "send", Destination: &f.send, Usage: "send a profile after each interval to a collector at `URL`: http://host:4318 or grpc://host:4317, https or grpcs for TLS; the variables OTEL_EXPORTER_OTLP_* set headers, certificates, compression and timeout"},
		&cli.DurationFlag{Name: "every", Destination: &f.every, HideDefault: true, Usage: "send at intervals of `TIME` (default: 10s); without --send, to OTEL_EXPORTER_OTLP_ENDPOINT"},
		&cli.StringFlag{Name: "spool", Destination: &f.spool, Usage: "with --send, keep profiles in the directory `DIR` while the collector cannot be reached"},
		&cli.StringSliceFlag{Name: "label", Destination: &f.labels, Usage: "add the resource attribute `KEY=VALUE` to OTLP profiles"},
		&cli.StringFlag{Name: "symbols", Destination: &f.symbols, Usage: "`WHERE` the names in OTLP profiles are found: local (the default) sends names and lines, none only build IDs and addresses, for which the receiver finds the names"},
	}
}

// Sends reports whether profiles are sent: to the URL of --send, or with --every to the
// endpoint of the environment.
func (f *Flags) Sends() bool { return f.sends }

// Check checks the flags. It must be called before the other methods. File says whether WriteFile
// will be called.
func (f *Flags) Check(file bool) error {
	if f.symbols != "" && f.symbols != "local" && f.symbols != "none" {
		return fmt.Errorf("unknown --symbols %q, expected local or none", f.symbols)
	}
	switch {
	case f.every < 0:
		return errors.New("--every must be positive")
	case f.every != 0 && f.send == "" && !export.EndpointSet(os.Getenv):
		return errors.New("--every sends profiles: name a collector with --send URL, or OTEL_EXPORTER_OTLP_ENDPOINT")
	case f.spool != "" && f.send == "" && f.every == 0:
		return errors.New("--spool needs --send or --every")
	}
	f.sends = f.send != "" || f.every != 0
	if !f.sends && !file && (len(f.labels) > 0 || f.symbols != "") {
		return errors.New("--label and --symbols are for OTLP profiles: write one with --output FILE.otlp, or send them with --send URL")
	}
	f.every = cmp.Or(f.every, 10*time.Second)
	for _, label := range f.labels {
		list, err := resource.ParseLabels(label)
		if err != nil || len(list) != 1 {
			return fmt.Errorf("--label %q is not of the form KEY=VALUE", label)
		}
		f.finder.Labels = append(f.finder.Labels, list...)
	}
	return nil
}
