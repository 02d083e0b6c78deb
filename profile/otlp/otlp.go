// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
)

// SchemaVersion is the version of opentelemetry-proto whose profiles the package writes.
const SchemaVersion = "1.10.0"

// UserAgent names this program and the schema in requests.
const UserAgent = "clew (OTLP profiles v1development, schema " + SchemaVersion + ")"

// Scope is the name of the instrumentation scope of profiles and metrics.
const Scope = "github.com/clewdev/clew"

// Attribute is a property of a resource.
type Attribute struct {
	Key   string // as in OpenTelemetry's semantic conventions
	Value any    // string, int64 or []string
}

// Process identifies a process of a profile.
type Process struct {
	Name string
	PID  int // 0 if unknown, or for several processes of the name
}

// Options describe a profile besides its stacks.
type Options struct {
	// Type and Unit say what the weights are: "cpu" and "nanoseconds". Unit is a unit of pprof.
	// Without Type, the unit of the profile decides: ("samples", "count").
	Type, Unit string

	// Period is the distance between samples in PeriodType and PeriodUnit: 10,000,000, "cpu" and
	// "nanoseconds" for a sample in each 10 ms of time on a processor. 0 means unknown.
	Period                 int64
	PeriodType, PeriodUnit string

	// NoSymbols leaves out the names and lines of code in files with a build ID or a hash, which
	// the receiver can find by that. Other code keeps them.
	NoSymbols bool

	// Resource returns the attributes of a process. Without it, they are service.name,
	// process.pid and process.executable.name.
	Resource func(Process) []Attribute

	// MaxSize is the size in bytes above which a profile is divided into several messages.
	// 0 means DefaultMaxSize. One stack is never divided.
	MaxSize int
}

// DefaultMaxSize is less than what receivers accept at gRPC's default: 4 MiB.
const DefaultMaxSize = 3 << 20

// Profiles returns a profile as messages. A profile without samples has none. The samples of a
// process are one Profile of a resource. Names are UTF-8, with control characters escaped.
func Profiles(p *profile.Profile, o Options) (messages [][]byte, err error) {
	samples := slices.Collect(p.Samples())
	slices.SortStableFunc(samples, func(x, y profile.Sample) int {
		return cmp.Or(cmp.Compare(x.Labels.PID, y.Labels.PID), cmp.Compare(x.Labels.Process, y.Labels.Process))
	})
	o.MaxSize = cmp.Or(o.MaxSize, DefaultMaxSize)
	if o.Type == "" {
		o.Type, o.Unit = weights(p.Unit())
	}
	return appendMessages(nil, p, samples, &o)
}

// appendMessages appends samples as messages.
func appendMessages(messages [][]byte, p *profile.Profile, samples []profile.Sample, o *Options) ([][]byte, error) {
	if len(samples) == 0 {
		return messages, nil
	}
	b := newBuilder(p, o)
	for i := range samples {
		b.sample(&samples[i])
	}
	if b.err != nil {
		return messages, b.err
	}
	message, err := new(pprofile.ProtoMarshaler).MarshalProfiles(b.out)
	if err != nil {
		return messages, err
	}
	if len(message) <= o.MaxSize || len(samples) == 1 {
		return append(messages, message), nil
	}
	middle := len(samples) / 2
	if messages, err = appendMessages(messages, p, samples[:middle], o); err != nil {
		return messages, err
	}
	return appendMessages(messages, p, samples[middle:], o)
}

// weights returns the type and unit of the weights of a profile.
func weights(unit string) (name, of string) {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds":
		return "time", unit
	case "bytes":
		return "space", unit
	}
	return printable.Text(unit), "count"
}

// builder makes a message.
type builder struct {
	profile *profile.Profile
	options *Options
	out     pprofile.Profiles
	tables  pprofile.ProfilesDictionary

	strings    map[string]int32
	attributes map[any]int32       // by their keys and values
	mappings   map[[2]string]int32 // by object and build
	functions  map[[2]string]int32
	locations  map[profile.Location]int32
	stacks     map[int32]int32

	process Process
	current pprofile.Profile // of the process
	err     error
}

func newBuilder(p *profile.Profile, o *Options) *builder {
	b := &builder{
		profile: p, options: o, out: pprofile.NewProfiles(),
		strings: make(map[string]int32), attributes: make(map[any]int32), mappings: make(map[[2]string]int32),
		functions: make(map[[2]string]int32), locations: make(map[profile.Location]int32), stacks: make(map[int32]int32),
	}
	// Index 0 of each table stands for nothing.
	b.tables = b.out.Dictionary()
	b.tables.MappingTable().AppendEmpty()
	b.tables.LocationTable().AppendEmpty()
	b.tables.FunctionTable().AppendEmpty()
	b.tables.LinkTable().AppendEmpty()
	b.tables.AttributeTable().AppendEmpty()
	b.tables.StackTable().AppendEmpty()
	b.text("")
	return b
}

// text returns the index of a text.
func (b *builder) text(s string) int32 {
	s = printable.Text(s)
	i, ok := b.strings[s]
	if !ok {
		i = int32(b.tables.StringTable().Len())
		b.strings[s] = i
		b.tables.StringTable().Append(s)
	}
	return i
}

// attribute returns the index of an attribute with a string or an int64.
func (b *builder) attribute(key string, value any) int32 {
	type pair struct {
		key   string
		value any
	}
	id := pair{key, value}
	i, ok := b.attributes[id]
	if !ok {
		i = int32(b.tables.AttributeTable().Len())
		b.attributes[id] = i
		a := b.tables.AttributeTable().AppendEmpty()
		a.SetKeyStrindex(b.text(key))
		b.set(a.Value(), key, value)
	}
	return i
}

// set sets the value of an attribute.
func (b *builder) set(to pcommon.Value, key string, value any) {
	if err := setValue(to, key, value); err != nil {
		b.err = errors.Join(b.err, err)
	}
}

func setValue(to pcommon.Value, key string, value any) error {
	switch v := value.(type) {
	case string:
		to.SetStr(printable.Text(v))
	case int64:
		to.SetInt(v)
	case []string:
		list := to.SetEmptySlice()
		list.EnsureCapacity(len(v))
		for _, s := range v {
			list.AppendEmpty().SetStr(printable.Text(s))
		}
	default:
		return fmt.Errorf("otlp: the attribute %s is a %T, expected string, int64 or []string", key, value)
	}
	return nil
}

// sample adds a sample. Samples of a process follow one another.
func (b *builder) sample(s *profile.Sample) {
	if process := (Process{s.Labels.Process, s.Labels.PID}); b.out.ResourceProfiles().Len() == 0 || process != b.process {
		b.begin(process)
	}
	out := b.current.Samples().AppendEmpty()
	out.SetStackIndex(b.stack(s))
	out.Values().Append(s.Weight)
	if s.Labels.TID != 0 {
		out.AttributeIndices().Append(b.attribute("thread.id", int64(s.Labels.TID)))
	}
	for key, value := range s.Labels.Values.All() {
		out.AttributeIndices().Append(b.attribute(key, value))
	}
	if s.Labels.Thread != "" {
		out.AttributeIndices().Append(b.attribute("thread.name", s.Labels.Thread))
	}
	if s.Labels.State != "" {
		out.AttributeIndices().Append(b.attribute("go.goroutine.state", s.Labels.State))
	}
}

// begin adds the resource of a process.
func (b *builder) begin(p Process) {
	b.process = p
	resource := b.out.ResourceProfiles().AppendEmpty()
	find := b.options.Resource
	if find == nil {
		find = byName
	}
	for _, a := range find(p) {
		b.set(resource.Resource().Attributes().PutEmpty(a.Key), a.Key, a.Value)
	}
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName(Scope)
	o := b.options
	b.current = scope.Profiles().AppendEmpty()
	b.current.SampleType().SetTypeStrindex(b.text(o.Type))
	b.current.SampleType().SetUnitStrindex(b.text(o.Unit))
	if start := b.profile.Start; !start.IsZero() {
		b.current.SetTime(pcommon.NewTimestampFromTime(start))
	}
	b.current.SetDurationNano(uint64(max(b.profile.Duration, 0)))
	if o.Period > 0 {
		b.current.SetPeriod(o.Period)
		b.current.PeriodType().SetTypeStrindex(b.text(o.PeriodType))
		b.current.PeriodType().SetUnitStrindex(b.text(o.PeriodUnit))
	}
}

// byName returns the attributes of a process of which only the name and the ID are known.
func byName(p Process) (list []Attribute) {
	if p.Name != "" {
		list = append(list, Attribute{"service.name", p.Name}, Attribute{"process.executable.name", p.Name})
	}
	if p.PID != 0 {
		list = append(list, Attribute{"process.pid", int64(p.PID)})
	}
	return list
}

func (b *builder) stack(s *profile.Sample) int32 {
	i, ok := b.stacks[s.Stack]
	if ok {
		return i
	}
	i = int32(b.tables.StackTable().Len())
	b.stacks[s.Stack] = i
	out := b.tables.StackTable().AppendEmpty().LocationIndices()
	for l := range s.Locations {
		out.Append(b.location(l))
	}
	return i
}

// frameTypes are the values of profile.frame.type. Generated code has none: it can be of any
// language.
var frameTypes = map[profile.Code]string{profile.Native: "native", profile.Go: "go", profile.Kernel: "kernel"}

func (b *builder) location(l profile.Location) int32 {
	i, ok := b.locations[l]
	if ok {
		return i
	}
	i = int32(b.tables.LocationTable().Len())
	b.locations[l] = i
	out := b.tables.LocationTable().AppendEmpty()
	address, frames := b.profile.At(l)
	out.SetAddress(address)
	var outermost *profile.Frame
	for f := range frames {
		outermost = f
	}
	out.SetMappingIndex(b.mapping(outermost.Object, outermost.Build))
	if name := frameTypes[outermost.Code]; name != "" {
		out.AttributeIndices().Append(b.attribute("profile.frame.type", name))
	}
	identified := outermost.Build != "" || b.profile.BuildID(outermost.Object) != "" || b.profile.FileHash(outermost.Object) != ""
	if identified && outermost.Code != profile.Kernel && (b.options.NoSymbols || outermost.Function == "") {
		return i // the receiver may find a name
	}
	for f := range frames {
		line := out.Lines().AppendEmpty()
		line.SetFunctionIndex(b.function(f))
		line.SetLine(int64(f.Line))
	}
	return i
}

// mapping returns the index of the mapping of an object. Addresses are those in the object, so
// that the mapping contains all addresses, as in a profile for pprof.
func (b *builder) mapping(object, build string) int32 {
	if object == "" {
		return 0
	}
	i, ok := b.mappings[[2]string{object, build}]
	if ok {
		return i
	}
	i = int32(b.tables.MappingTable().Len())
	b.mappings[[2]string{object, build}] = i
	out := b.tables.MappingTable().AppendEmpty()
	out.SetMemoryLimit(1<<64 - 1)
	out.SetFilenameStrindex(b.text(object))
	if id := cmp.Or(build, b.profile.BuildID(object)); id != "" {
		out.AttributeIndices().Append(b.attribute("process.executable.build_id.gnu", id))
	}
	if hash := b.profile.FileHash(object); hash != "" {
		out.AttributeIndices().Append(b.attribute("process.executable.build_id.htlhash", hash))
	}
	return i
}

func (b *builder) function(f *profile.Frame) int32 {
	key := [2]string{f.Name(), f.File}
	i, ok := b.functions[key]
	if !ok {
		i = int32(b.tables.FunctionTable().Len())
		b.functions[key] = i
		out := b.tables.FunctionTable().AppendEmpty()
		out.SetNameStrindex(b.text(key[0]))
		out.SetFilenameStrindex(b.text(key[1]))
	}
	return i
}
