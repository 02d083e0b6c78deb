// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package resource

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/clewdev/clew/profile/otlp"
)

// kubernetes are the variables that usually contain the names of a process's Kubernetes objects,
// from the downward API, by attribute.
var kubernetes = map[string][]string{
	"k8s.node.name":       {"K8S_NODE_NAME", "NODE_NAME"},
	"k8s.namespace.name":  {"K8S_NAMESPACE_NAME", "K8S_NAMESPACE", "POD_NAMESPACE"},
	"k8s.pod.name":        {"K8S_POD_NAME", "POD_NAME"},
	"k8s.pod.uid":         {"K8S_POD_UID", "POD_UID"},
	"k8s.container.name":  {"K8S_CONTAINER_NAME", "CONTAINER_NAME"},
	"k8s.deployment.name": {"K8S_DEPLOYMENT_NAME"},
	"k8s.cluster.name":    {"K8S_CLUSTER_NAME"},
}

// Bounds of what a process declares about itself.
const (
	maxDeclared = 64      // attributes
	maxText     = 1 << 10 // bytes of a key or a value
)

// fromEnvironment returns the attributes that an environment declares.
func fromEnvironment(getenv func(string) string) (list []otlp.Attribute) {
	if name := getenv("OTEL_SERVICE_NAME"); name != "" && len(name) <= maxText {
		list = append(list, otlp.Attribute{Key: "service.name", Value: name})
	}
	if pairs, err := ParseLabels(getenv("OTEL_RESOURCE_ATTRIBUTES")); err == nil && len(pairs) <= maxDeclared {
		// The kernel's files or this process say what these are.
		pairs = slices.DeleteFunc(pairs, func(a otlp.Attribute) bool {
			return strings.HasPrefix(a.Key, "process.") || strings.HasPrefix(a.Key, "host.") || a.Key == "container.id"
		})
		list = append(list, pairs...)
	}
	named := len(list)
	for key, names := range kubernetes {
		for _, name := range names {
			if value := getenv(name); value != "" && len(value) <= maxText {
				list = append(list, otlp.Attribute{Key: key, Value: value})
				break
			}
		}
	}
	// A container's host name is that of its pod.
	if name := getenv("HOSTNAME"); name != "" && len(name) <= maxText && getenv("KUBERNETES_SERVICE_HOST") != "" {
		list = append(list, otlp.Attribute{Key: "k8s.pod.name", Value: name})
	}
	slices.SortStableFunc(list[named:], func(a, b otlp.Attribute) int { return strings.Compare(a.Key, b.Key) })
	return merge(list)
}

// ParseLabels reads attributes in the form of OTEL_RESOURCE_ATTRIBUTES: KEY=VALUE, separated by
// commas, with the values percent-encoded.
func ParseLabels(text string) (list []otlp.Attribute, err error) {
	if text == "" {
		return nil, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || key == "" || len(key) > maxText || len(value) > maxText {
			return nil, fmt.Errorf("%q is not of the form KEY=VALUE", pair)
		}
		list = append(list, otlp.Attribute{Key: key, Value: value})
	}
	return list, nil
}

// fromCgroup returns the container and the pod of a process by the names of its control groups:
// lines of /proc/PID/cgroup, ID:CONTROLLERS:PATH.
func fromCgroup(lines string) (list []otlp.Attribute) {
	for line := range strings.Lines(lines) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		for name := range strings.SplitSeq(parts[2], "/") {
			if id := podOf(name); id != "" {
				list = append(list, otlp.Attribute{Key: "k8s.pod.uid", Value: id})
			}
			if id := containerOf(name); id != "" {
				list = append(list, otlp.Attribute{Key: "container.id", Value: id})
			}
		}
	}
	slices.Reverse(list) // of nested containers, the innermost
	return merge(list)
}

// containerOf returns the container of a control group: "docker-ID.scope", "cri-containerd-ID.scope",
// "libpod-ID", or the ID itself.
func containerOf(name string) string {
	id := strings.TrimSuffix(name, ".scope")
	id = id[strings.LastIndexByte(id, '-')+1:]
	if i := strings.LastIndexByte(id, ':'); i >= 0 { // cri-containerd:ID
		id = id[i+1:]
	}
	if len(id) != 64 || !isHex(id) {
		return ""
	}
	return id
}

// podOf returns the pod of a control group: "kubepods-burstable-podUID.slice" with underscores, or
// "podUID".
func podOf(name string) string {
	name = strings.TrimSuffix(name, ".slice")
	if i := strings.LastIndex(name, "-pod"); i >= 0 && strings.HasPrefix(name, "kubepods") {
		name = name[i+1:]
	}
	id, ok := strings.CutPrefix(name, "pod")
	id = strings.ReplaceAll(id, "_", "-")
	if !ok || len(id) != 36 && len(id) != 32 || !isHex(strings.ReplaceAll(id, "-", "")) {
		return ""
	}
	return id
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" && s != "" }
