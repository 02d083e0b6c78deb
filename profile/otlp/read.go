// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package otlp

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/internal/protobuf"
	"github.com/clewdev/clew/profile"
)

// Bounds of what Read accepts.
const (
	maxRead     = 64 << 20 // bytes
	maxMessages = 8 << 20  // of protobuf, which take about 100 bytes each in memory
	maxFrames   = 1 << 26  // of all samples
)

// ErrFormat is wrapped by errors about a file that is not an OTLP profile.
var ErrFormat = errors.New("not an OTLP profile")

// Recognize reports whether a file that starts with these bytes may be an OTLP profile, and not
// a pprof profile, which is a protobuf message too.
func Recognize(start []byte) bool {
	if len(start) < 3 || start[0] != 1<<3|2 && start[0] != 2<<3|2 {
		return false
	}
	for i, c := range start[1:min(len(start), 11)] {
		if c >= 0x80 {
			continue
		}
		// The length ends here. The message contains only messages.
		rest := start[2+i:]
		if len(rest) == 0 || rest[0]&7 != 2 {
			return false
		}
		if start[0] == 1<<3|2 { // resource_profiles, of three fields; sample_type of pprof has integers
			return rest[0]>>3 <= 3
		}
		return rest[0]>>3 > 3 && rest[0]>>3 <= 7 // dictionary, as pdata writes it: from the end; sample of pprof has three fields
	}
	return false
}

// Read reads a profile that Profiles has written as one message, or another program: it must not
// be compressed, and not be JSON. Weights are those of the type of the first profile in it;
// others are left out, and so are samples that refer to what does not exist. Notes of the
// profile count them.
func Read(r io.Reader) (*profile.Profile, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxRead+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxRead {
		return nil, fmt.Errorf("the profile is larger than %d MiB", maxRead>>20)
	}
	if err := protobuf.Check(b, maxMessages); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	in, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	d := &decoder{tables: in.Dictionary(), locations: make(map[int32]profile.Location), stacks: make(map[int32][]profile.Location)}
	for _, resource := range in.ResourceProfiles().All() {
		labels := labelsOf(resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			for _, p := range scope.Profiles().All() {
				if err := d.add(p, labels); err != nil {
					return nil, err
				}
			}
		}
	}
	if d.out == nil {
		d.out = profile.New("samples")
	}
	if d.others > 0 {
		d.out.Notes = append(d.out.Notes, fmt.Sprintf("%d profiles of other types than %q are left out", d.others, d.kind))
	}
	if d.invalid > 0 {
		d.out.Notes = append(d.out.Notes, fmt.Sprintf("%d samples are invalid, and left out", d.invalid))
	}
	return d.out, nil
}

// labelsOf returns the process that attributes of a resource name.
func labelsOf(attributes pcommon.Map) (labels profile.Labels) {
	for _, key := range []string{"service.name", "process.executable.name"} {
		if v, ok := attributes.Get(key); ok && v.Str() != "" {
			labels.Process = v.Str()
		}
	}
	if v, ok := attributes.Get("process.pid"); ok {
		labels.PID = number(v)
	}
	return labels
}

// number returns the ID of a process or thread, 0 for invalid ones.
func number(v pcommon.Value) int {
	if n := v.Int(); n > 0 && n <= math.MaxInt32 {
		return int(n)
	}
	return 0
}

// decoder makes a profile of a message.
type decoder struct {
	tables pprofile.ProfilesDictionary
	out    *profile.Profile
	kind   string // the type of weights, "samples count"

	locations map[int32]profile.Location
	stacks    map[int32][]profile.Location // nil for invalid ones

	frames, total   int64 // so far
	others, invalid int
}

// text returns a text, "" for an invalid index.
func (d *decoder) text(i int32) string {
	if i < 0 || int(i) >= d.tables.StringTable().Len() {
		return ""
	}
	return d.tables.StringTable().At(int(i))
}

// attribute returns an attribute with a key of an item. Values that are missing are empty.
func (d *decoder) attribute(indexes pcommon.Int32Slice, key string) pcommon.Value {
	for _, i := range indexes.All() {
		if i >= 0 && int(i) < d.tables.AttributeTable().Len() {
			if a := d.tables.AttributeTable().At(int(i)); d.text(a.KeyStrindex()) == key {
				return a.Value()
			}
		}
	}
	return pcommon.NewValueEmpty()
}

// add adds the samples of a profile.
func (d *decoder) add(p pprofile.Profile, labels profile.Labels) error {
	name, unit := d.text(p.SampleType().TypeStrindex()), d.text(p.SampleType().UnitStrindex())
	if d.out == nil {
		d.kind = name + " " + unit
		if unit == "" || unit == "count" {
			unit = name
		}
		d.out = profile.New(unit)
		if start := p.Time().AsTime(); p.Time() != 0 {
			d.out.Start = start
		}
		d.out.Duration = time.Duration(min(p.DurationNano(), math.MaxInt64))
	} else if d.kind != name+" "+unit {
		d.others++
		return nil
	}
	for _, s := range p.Samples().All() {
		stack, ok := d.stack(s.StackIndex())
		weight := int64(s.TimestampsUnixNano().Len()) // each stands for one, without values
		for i, v := range s.Values().All() {
			if i == 0 {
				weight = 0
			}
			if ok = ok && v >= 0 && v <= math.MaxInt64-weight; ok {
				weight += v
			}
		}
		if !ok || weight > math.MaxInt64-d.total {
			d.invalid++
			continue
		}
		d.total += weight
		if d.frames += int64(len(stack)); d.frames > maxFrames {
			return fmt.Errorf("the samples have more than %d frames", maxFrames)
		}
		labels.TID = number(d.attribute(s.AttributeIndices(), "thread.id"))
		labels.Thread = d.attribute(s.AttributeIndices(), "thread.name").Str()
		labels.State = d.attribute(s.AttributeIndices(), "go.goroutine.state").Str()
		d.out.Add(stack, labels, weight)
	}
	return nil
}

// stack returns the locations of a stack.
func (d *decoder) stack(i int32) ([]profile.Location, bool) {
	if stack, ok := d.stacks[i]; ok {
		return stack, stack != nil
	}
	d.stacks[i] = nil
	if i < 0 || int(i) >= d.tables.StackTable().Len() {
		return nil, false
	}
	stack := []profile.Location{}
	for _, l := range d.tables.StackTable().At(int(i)).LocationIndices().All() {
		location, ok := d.location(l)
		if !ok {
			return nil, false
		}
		stack = append(stack, location)
	}
	d.stacks[i] = stack
	return stack, true
}

// codes are the kinds of code by profile.frame.type.
var codes = map[string]profile.Code{"native": profile.Native, "go": profile.Go, "kernel": profile.Kernel}

func (d *decoder) location(i int32) (profile.Location, bool) {
	if l, ok := d.locations[i]; ok {
		return l, true
	}
	if i < 0 || int(i) >= d.tables.LocationTable().Len() {
		return 0, false
	}
	in := d.tables.LocationTable().At(int(i))
	object := ""
	if m := in.MappingIndex(); m > 0 && int(m) < d.tables.MappingTable().Len() {
		mapping := d.tables.MappingTable().At(int(m))
		object = d.text(mapping.FilenameStrindex())
		d.out.SetBuildID(object, d.attribute(mapping.AttributeIndices(), "process.executable.build_id.gnu").Str())
		d.out.SetFileHash(object, d.attribute(mapping.AttributeIndices(), "process.executable.build_id.htlhash").Str())
	}
	code := codes[d.attribute(in.AttributeIndices(), "profile.frame.type").Str()]
	if code == profile.Unknown && object == "[jit]" {
		code = profile.Generated
	}
	var frames []profile.Frame
	for k, line := range in.Lines().All() {
		f := profile.Frame{Object: object, Code: code, Line: int(max(0, min(line.Line(), math.MaxInt32))), Inlined: k < in.Lines().Len()-1}
		if n := line.FunctionIndex(); n > 0 && int(n) < d.tables.FunctionTable().Len() {
			function := d.tables.FunctionTable().At(int(n))
			f.Function, f.File = d.text(function.NameStrindex()), d.text(function.FilenameStrindex())
		}
		if f.Function == (&profile.Frame{Object: object}).Name() {
			f.Function = "" // see Frame.Name
		}
		frames = append(frames, f)
	}
	if len(frames) == 0 {
		frames = []profile.Frame{{Object: object, Code: code}}
	}
	l := d.out.Location(in.Address(), frames)
	d.locations[i] = l
	return l, true
}
