// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensionauth"
)

// headersConfig configures the extension "headers".
type headersConfig struct {
	Require map[string]string `mapstructure:"require"`
}

func headersFactory() extension.Factory {
	return extension.NewFactory(component.MustNewType("headers"),
		func() component.Config { return new(headersConfig) },
		func(_ context.Context, _ extension.Settings, config component.Config) (extension.Extension, error) {
			return &headers{require: config.(*headersConfig).Require}, nil
		}, component.StabilityLevelDevelopment)
}

// headers authenticates requests by their headers.
type headers struct {
	component.StartFunc
	component.ShutdownFunc

	require map[string]string
}

var _ extensionauth.Server = (*headers)(nil)

// Authenticate implements extensionauth.Server.
func (h *headers) Authenticate(ctx context.Context, sources map[string][]string) (context.Context, error) {
	for name, value := range h.require {
		found := false
		for source, values := range sources {
			found = found || strings.EqualFold(source, name) && slices.Contains(values, value)
		}
		if !found {
			return ctx, fmt.Errorf("the header %s is missing or wrong", name)
		}
	}
	return ctx, nil
}
