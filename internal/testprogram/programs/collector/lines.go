// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// linesConfig configures the exporter "lines".
type linesConfig struct {
	// Dir is a directory. Each message is a line of JSON of its file profiles or metrics.
	Dir string `mapstructure:"dir"`
}

func linesFactory() exporter.Factory {
	return xexporter.NewFactory(component.MustNewType("lines"),
		func() component.Config { return new(linesConfig) },
		xexporter.WithMetrics(func(_ context.Context, _ exporter.Settings, config component.Config) (exporter.Metrics, error) {
			return &lines{path: filepath.Join(config.(*linesConfig).Dir, "metrics")}, nil
		}, component.StabilityLevelDevelopment),
		xexporter.WithProfiles(func(_ context.Context, _ exporter.Settings, config component.Config) (xexporter.Profiles, error) {
			return &lines{path: filepath.Join(config.(*linesConfig).Dir, "profiles")}, nil
		}, component.StabilityLevelDevelopment),
	)
}

// lines writes messages to a file.
type lines struct {
	component.StartFunc
	component.ShutdownFunc

	path string
	mu   sync.Mutex
}

func (*lines) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (l *lines) ConsumeMetrics(_ context.Context, m pmetric.Metrics) error {
	b, err := new(pmetric.JSONMarshaler).MarshalMetrics(m)
	return l.write(b, err)
}

func (l *lines) ConsumeProfiles(_ context.Context, p pprofile.Profiles) error {
	b, err := new(pprofile.JSONMarshaler).MarshalProfiles(p)
	return l.write(b, err)
}

// write appends a line. Lines appear whole.
func (l *lines) write(line []byte, err error) error {
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
