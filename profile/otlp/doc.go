// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package otlp encodes profiles and metrics as OpenTelemetry's protocol (OTLP) transfers
// them, for an OpenTelemetry Collector and the programs that it sends to. [Read] reads such
// profiles.
//
//	messages, err := otlp.Profiles(p, otlp.Options{})
//
// A message is an ExportProfilesServiceRequest, which has the same bytes as a ProfilesData,
// of opentelemetry/proto/collector/profiles/v1development. Each process is a resource.
// The format of profiles is not stable yet: [SchemaVersion] is the version that the package
// writes.
//
// The package sends nothing, opens no file and reads nothing about processes: package
// record/resource finds the attributes of processes, and package profile/otlp/export sends
// messages.
package otlp
