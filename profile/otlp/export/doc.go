// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package export sends messages of OpenTelemetry's protocol (OTLP) to a collector, over HTTP or
// gRPC.
//
// [FromEnvironment] reads the variables OTEL_EXPORTER_OTLP_*. A [Queue] sends one message after
// the other. While the collector cannot be reached or asks it to wait, it tries again, after longer and
// longer pauses. It is bounded, in memory and in a directory, and counts the messages that it drops.
//
// No answer is trusted: time and size are bounded. The package does not link net/http or grpc,
// which make programs larger and slow to start: curl makes the requests, unless
// Endpoint.Send is set.
package export
