// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package resource

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/profile/otlp"
)

// Finder finds the attributes of processes, and remembers them. The zero value is valid. It is not
// safe for concurrent use.
type Finder struct {
	// Labels are attributes of all processes. They replace others.
	Labels []otlp.Attribute

	host  []otlp.Attribute // of all processes; nil before the first look
	known map[otlp.Process]*found
	age   int // how often Forget was called
}

// found is the attributes of a process.
type found struct {
	attributes []otlp.Attribute
	age        int // of the Finder when they were last asked for
}

// Process returns the attributes of a process. The caller must not change them.
func (f *Finder) Process(p otlp.Process) []otlp.Attribute {
	if f.host == nil {
		f.host = host()
		f.known = make(map[otlp.Process]*found)
	}
	k := f.known[p]
	if k == nil {
		k = &found{attributes: merge(f.Labels, read(p), f.host)}
		f.known[p] = k
	}
	k.age = f.age
	return k.attributes
}

// Forget forgets the processes that Process was not asked for since the previous call of Forget.
func (f *Finder) Forget() {
	for p, k := range f.known {
		if k.age < f.age {
			delete(f.known, p)
		}
	}
	f.age++
}

// merge joins lists of attributes. Of several with the same key it takes the first.
func merge(lists ...[]otlp.Attribute) (all []otlp.Attribute) {
	for _, a := range slices.Concat(lists...) {
		if !slices.ContainsFunc(all, func(b otlp.Attribute) bool { return a.Key == b.Key }) {
			all = append(all, a)
		}
	}
	return all
}

// Self returns the attributes of this process as a service: OTEL_SERVICE_NAME or
// OTEL_RESOURCE_ATTRIBUTES name it, else it is the given name.
func Self(name string, labels []otlp.Attribute) []otlp.Attribute {
	own := append(fromEnvironment(os.Getenv), otlp.Attribute{Key: "service.name", Value: name},
		otlp.Attribute{Key: "process.pid", Value: int64(os.Getpid())})
	return merge(labels, own, host())
}

// host returns the attributes of this machine.
func host() (list []otlp.Attribute) {
	if name, err := os.Hostname(); err == nil && name != "" {
		list = append(list, otlp.Attribute{Key: "host.name", Value: name})
	}
	// The node's name is that of all its pods.
	for _, variable := range kubernetes["k8s.node.name"] {
		if node := os.Getenv(variable); node != "" {
			return append(list, otlp.Attribute{Key: "k8s.node.name", Value: node})
		}
	}
	return append(list, otlp.Attribute{Key: "os.type", Value: "linux"})
}

// Bounds of what is read about a process, in bytes.
const (
	maxCommand     = 4 << 10
	maxEnvironment = 256 << 10
	maxCgroup      = 16 << 10
)

// read returns the attributes of a process that runs, or those that its name gives.
func read(p otlp.Process) []otlp.Attribute {
	proc := "/proc/" + strconv.Itoa(p.PID)
	var measured, declared []otlp.Attribute
	add := func(key string, value any) { measured = append(measured, otlp.Attribute{Key: key, Value: value}) }
	name := p.Name
	if p.PID != 0 {
		add("process.pid", int64(p.PID))
		// Another process can have this number by now.
		if comm := strings.TrimSuffix(string(readStart(proc+"/comm", maxCommand)), "\n"); comm == p.Name && comm != "" {
			if exe, err := os.Readlink(proc + "/exe"); err == nil {
				exe = strings.TrimSuffix(exe, " (deleted)")
				name = path.Base(exe)
				add("process.executable.path", exe)
			}
			command, _, _ := bytes.Cut(readStart(proc+"/cmdline", maxCommand), []byte{0})
			if len(command) > 0 {
				add("process.command", string(command))
			}
			measured = append(measured, fromCgroup(string(readStart(proc+"/cgroup", maxCgroup)))...)
			declared = fromEnvironment(variables(readStart(proc+"/environ", maxEnvironment)))
		}
	}
	if name != "" {
		add("process.executable.name", name)
		declared = append(declared, otlp.Attribute{Key: "service.name", Value: cmp.Or(p.Name, name)})
	}
	return merge(measured, declared)
}

// readStart returns the start of a file of /proc, which is empty if it cannot be read.
func readStart(path string, limit int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, limit))
	return b
}

// variables returns a function that returns the variables of an environment: NAME=VALUE, each
// ended by a zero byte.
func variables(environment []byte) func(name string) string {
	return func(name string) string {
		for rest := environment; len(rest) > 0; {
			var entry []byte
			entry, rest, _ = bytes.Cut(rest, []byte{0})
			if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
				return string(value)
			}
		}
		return ""
	}
}
