// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package resource finds the attributes of processes, as OpenTelemetry's semantic conventions
// name them: service.name, process.pid, process.executable.path, container.id, k8s.pod.name.
//
// They come from /proc. The environment of a process adds its OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES, and the variables that name its Kubernetes objects; of all other
// variables nothing is kept. Arguments of commands are left out, because they can contain
// secrets. A process that has ended has the attributes that its name gives, unless a [Finder]
// met it before.
//
// All texts are untrusted data: their number and length are bounded, and no process can replace
// an attribute that the kernel's files determine. The package writes nothing.
package resource
