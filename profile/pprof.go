// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package profile

import (
	"cmp"
	"io"
	"math"
	"path"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/clewdev/clew/internal/printable"
)

// Pprof writes the profile in the form of google/pprof's profile.proto, compressed by
// gzip. Addresses are addresses in the objects. Each object is a mapping of all
// addresses, so pprof adds nothing to them. The labels are "process" and "thread", and
// the numeric labels "pid" and "tid"; notes are comments. Strings are UTF-8, as
// protobuf requires: an invalid byte becomes U+FFFD.
func (p *Profile) Pprof(w io.Writer) error {
	kind := p.valueType()
	out := &profile.Profile{
		SampleType:        []*profile.ValueType{kind},
		DefaultSampleType: kind.Type,
		Comments:          p.comments(),
		Location:          make([]*profile.Location, len(p.locations)),
		Sample:            make([]*profile.Sample, len(p.samples)),
	}
	b := pprofBuilder{out: out, mappings: make(map[[2]string]*profile.Mapping), functions: make(map[profile.Function]*profile.Function)}
	b.mapping(p, p.program(), "") // pprof treats the first mapping as the program
	for i := range p.locations {
		out.Location[i] = b.location(p, i)
	}
	labels := make([]profile.Sample, len(p.threads))
	for i := range p.threads {
		labels[i].Label, labels[i].NumLabel = pprofLabels(&p.threads[i])
	}
	for i, s := range p.samples {
		var stack []*profile.Location
		for l := range p.stacks.Frames(s.node) {
			stack = append(stack, out.Location[l])
		}
		out.Sample[i] = &profile.Sample{Location: stack, Value: []int64{s.weight},
			Label: labels[s.thread].Label, NumLabel: labels[s.thread].NumLabel}
	}
	return out.Write(w)
}

// valid returns text as UTF-8, with control characters escaped, because pprof prints it
// unchanged.
func valid(text string) string { return printable.Text(text) }

// program returns the object with the name of the process with the largest weight, or else the
// first object that is a file.
func (p *Profile) program() string {
	weights := make(map[string]int64)
	process := ""
	for _, s := range p.samples {
		name := p.threads[s.thread].Process
		if weights[name] += s.weight; weights[name] > weights[process] {
			process = name
		}
	}
	const most = 15 // bytes that the kernel keeps of a name (TASK_COMM_LEN)
	first := ""
	for i := range p.locations {
		l := &p.locations[i]
		object := p.frames[l.frames[len(l.frames)-1]].Object
		if object == "" || object[0] == '[' {
			continue
		}
		if base := path.Base(object); process != "" && (base == process || len(process) == most && strings.HasPrefix(base, process)) {
			return object
		}
		if first == "" {
			first = object
		}
	}
	return first
}

func (p *Profile) comments() []string {
	var list []string
	for _, text := range append([]string{p.Title}, p.Notes...) {
		if text != "" {
			list = append(list, valid(text))
		}
	}
	return list
}

// valueType returns pprof's name for the weights. Counts of events have the unit "count".
func (p *Profile) valueType() *profile.ValueType {
	switch p.unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds":
		return &profile.ValueType{Type: "time", Unit: p.unit}
	case "bytes":
		return &profile.ValueType{Type: "space", Unit: p.unit}
	}
	return &profile.ValueType{Type: valid(p.unit), Unit: "count"}
}

type pprofBuilder struct {
	out       *profile.Profile
	mappings  map[[2]string]*profile.Mapping         // by object and build
	functions map[profile.Function]*profile.Function // by contents without ID
}

func (b *pprofBuilder) location(p *Profile, i int) *profile.Location {
	l := &p.locations[i]
	outermost := &p.frames[l.frames[len(l.frames)-1]]
	out := &profile.Location{ID: uint64(i + 1), Address: l.address, Mapping: b.mapping(p, outermost.Object, outermost.Build)}
	for _, k := range l.frames {
		f := &p.frames[k]
		out.Line = append(out.Line, profile.Line{Function: b.function(f), Line: int64(f.Line)})
	}
	return out
}

// mapping returns the mapping of an object. Its flags tell pprof not to look for names in the
// file.
func (b *pprofBuilder) mapping(p *Profile, object, build string) *profile.Mapping {
	if object == "" {
		return nil
	}
	m := b.mappings[[2]string{object, build}]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(b.out.Mapping) + 1), Limit: math.MaxUint64, File: valid(object), BuildID: cmp.Or(build, p.buildIDs[object]),
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[[2]string{object, build}] = m
		b.out.Mapping = append(b.out.Mapping, m)
	}
	return m
}

// function returns the function of a frame. It has no system name, because pprof treats a name
// that equals the system name as mangled, and shortens it.
func (b *pprofBuilder) function(f *Frame) *profile.Function {
	key := profile.Function{Name: f.Name(), Filename: f.File}
	out := b.functions[key]
	if out == nil {
		out = &profile.Function{ID: uint64(len(b.out.Function) + 1), Name: valid(key.Name), Filename: valid(key.Filename)}
		b.functions[key] = out
		b.out.Function = append(b.out.Function, out)
	}
	return out
}

func pprofLabels(l *Labels) (text map[string][]string, numbers map[string][]int64) {
	text, numbers = make(map[string][]string), make(map[string][]int64)
	for key, value := range map[string]string{"process": l.Process, "thread": l.Thread, "state": l.State} {
		if value != "" {
			text[key] = []string{valid(value)}
		}
	}
	for key, value := range l.Values.All() {
		text[valid(key)] = append(text[valid(key)], valid(value))
	}
	for key, value := range map[string]int{"pid": l.PID, "tid": l.TID} {
		if value != 0 {
			numbers[key] = []int64{int64(value)}
		}
	}
	return text, numbers
}
