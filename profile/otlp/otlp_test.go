// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package otlp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/internal/outputtest"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
)

var update = flag.Bool("update", false, "write testdata anew: go test ./profile/otlp -update")

// aProfile has two processes, each kind of code, an inlined call, recursion, unknown frames, and
// an invalid name.
func aProfile() *profile.Profile {
	p := profile.New("samples")
	p.Start, p.Duration = time.Unix(1700000000, 5), 10*time.Second
	one := func(address uint64, f profile.Frame) profile.Location {
		return p.Location(address, []profile.Frame{f})
	}
	p.SetBuildID("/opt/server", "0badc0ffee")
	p.SetFileHash("/opt/server", "600dcafe")
	main := one(0x1140, profile.Frame{Function: "main", Object: "/opt/server", File: "/src/main.c", Line: 12, Code: profile.Native})
	work := p.Location(0x1200, []profile.Frame{
		{Function: "std::min<int>", Object: "/opt/server", File: "/usr/include/algo.h", Line: 7, Code: profile.Native, Inlined: true},
		{Function: "work", Object: "/opt/server", File: "/src/work.c", Line: 99, Code: profile.Native},
	})
	nowhere := one(0x7f0000001234, profile.Frame{})
	generated := one(0x7f0000002000, profile.Frame{Function: "fib\xff\n", Object: "[jit]", Code: profile.Generated})
	kernel := one(0xffffffff81000000, profile.Frame{Function: "do_syscall_64", Object: "[kernel]", Code: profile.Kernel})
	run := one(0x401000, profile.Frame{Function: "main.(*T).Run", Object: "/opt/client", File: "/src/t.go", Line: 5, Code: profile.Go})

	server := func(tid int) profile.Labels {
		return profile.Labels{Process: "server", PID: 42, Thread: "worker", TID: tid}
	}
	p.Add([]profile.Location{kernel, work, main}, server(43), 30)
	p.Add([]profile.Location{run}, profile.Labels{Process: "client", PID: 50, TID: 50}, 7)
	p.Add([]profile.Location{kernel, work, main}, server(44), 12)
	p.Add([]profile.Location{generated, generated, nowhere, main}, server(44), 20)
	p.Add(nil, profile.Labels{}, 1)
	return p
}

// Two files with the same path, in two containers, keep their build IDs.
func TestBuilds(t *testing.T) {
	p := profile.New("samples")
	for i, build := range []string{"aa", "bb", "aa"} {
		p.SetBuildID("/app/server", build)
		l := p.Location(0x1000, []profile.Frame{{Function: "main", Object: "/app/server", Build: build}})
		p.Add([]profile.Location{l}, profile.Labels{PID: i}, 1)
	}
	in, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(oneMessage(t, p))
	if err != nil {
		t.Fatal(err)
	}
	d, got := in.Dictionary(), ""
	for _, m := range d.MappingTable().All() {
		for _, a := range m.AttributeIndices().All() {
			got += d.AttributeTable().At(int(a)).Value().Str() + " "
		}
	}
	if got != "aa bb " {
		t.Errorf("build IDs %s", got)
	}
}

var options = otlp.Options{
	Period: 10101010, PeriodType: "cpu", PeriodUnit: "nanoseconds",
}

func encoded(t *testing.T, p *profile.Profile, o otlp.Options) (list []pprofile.Profiles) {
	t.Helper()
	messages, err := otlp.Profiles(p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		decoded, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, decoded)
	}
	return list
}

// The message has the content of the golden file, which is OTLP's JSON.
func TestProfiles(t *testing.T) {
	for name, change := range map[string]func(*otlp.Options){
		"profile.json": func(*otlp.Options) {},
		"addresses.json": func(o *otlp.Options) {
			o.NoSymbols = true
			o.Type, o.Unit = "off_cpu", "nanoseconds"
			o.Resource = func(p otlp.Process) []otlp.Attribute {
				return []otlp.Attribute{{"process.pid", int64(p.PID)}, {"process.command_args", []string{p.Name, "\x1b[2J"}}, {"service.name", p.Name}}
			}
		},
	} {
		o := options
		change(&o)
		list := encoded(t, aProfile(), o)
		if len(list) != 1 {
			t.Fatalf("%d messages", len(list))
		}
		text, err := new(pprofile.JSONMarshaler).MarshalProfiles(list[0])
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, text, "", " "); err != nil {
			t.Fatal(err)
		}
		outputtest.Golden(t, name, append(b.Bytes(), '\n'), *update)
	}
}

// The rules of the schema for tables: the first element is the zero value, no element is there
// twice, and none is unused.
func TestTables(t *testing.T) {
	d := encoded(t, aProfile(), options)[0].Dictionary()
	if d.LinkTable().Len() != 1 || d.StringTable().At(0) != "" {
		t.Error("a table lacks its zero value")
	}
	text, err := new(pprofile.JSONMarshaler).MarshalProfiles(encoded(t, aProfile(), options)[0])
	if err != nil {
		t.Fatal(err)
	}
	var tables struct{ Dictionary map[string][]any }
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	for name, table := range tables.Dictionary {
		for i := range table {
			for k := range i {
				if reflect.DeepEqual(table[i], table[k]) {
					t.Errorf("%s: elements %d and %d are equal: %v", name, k, i, table[i])
				}
			}
		}
	}
	used := map[int32]bool{0: true}
	for _, s := range d.StackTable().All() {
		for _, l := range s.LocationIndices().All() {
			used[l] = true
		}
	}
	if len(used) != d.LocationTable().Len() {
		t.Errorf("%d locations, of which %d are used", d.LocationTable().Len(), len(used))
	}
}

// folded returns the stacks of messages with their sums, by process.
func folded(t *testing.T, list []pprofile.Profiles) map[string]int64 {
	t.Helper()
	stacks := make(map[string]int64)
	for _, message := range list {
		d := message.Dictionary()
		for _, resource := range message.ResourceProfiles().All() {
			pid, _ := resource.Resource().Attributes().Get("process.pid")
			for _, s := range resource.ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
				attributes, err := pprofile.FromAttributeIndices(d.AttributeTable(), s, d)
				if err != nil {
					t.Fatal(err)
				}
				tid, ok := attributes.Get("thread.id")
				if !ok {
					tid = pcommon.NewValueInt(0)
				}
				names := []string{fmt.Sprint(pid.AsString(), " ", tid.Int())}
				for _, l := range d.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
					for _, line := range d.LocationTable().At(int(l)).Lines().All() {
						names = append(names, d.StringTable().At(int(d.FunctionTable().At(int(line.FunctionIndex())).NameStrindex())))
					}
				}
				stacks[strings.Join(names, ";")] += s.Values().At(0)
			}
		}
	}
	return stacks
}

// A large profile becomes several messages of at most the size, which together have its samples.
func TestDivided(t *testing.T) {
	p := profile.New("samples")
	for i := range 2000 {
		p.Add([]profile.Location{p.Location(uint64(i), []profile.Frame{{Function: fmt.Sprint("function ", i)}})},
			profile.Labels{Process: "p", PID: 1 + i/1500}, int64(i+1))
	}
	whole := encoded(t, p, options)
	o := options
	o.MaxSize = 8 << 10
	messages, err := otlp.Profiles(p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if len(m) > o.MaxSize {
			t.Errorf("a message of %d bytes", len(m))
		}
	}
	if len(whole) != 1 || len(messages) < 10 {
		t.Errorf("%d and %d messages", len(whole), len(messages))
	}
	if got, want := folded(t, encoded(t, p, o)), folded(t, whole); !reflect.DeepEqual(got, want) || len(want) != 2000 {
		t.Errorf("%d stacks, want %d", len(got), len(want))
	}
	// One stack is not divided.
	o.MaxSize = 1
	if n := len(encoded(t, p, o)); n != 2000 {
		t.Errorf("%d messages for 2000 stacks", n)
	}
	if n := len(encoded(t, profile.New("samples"), o)); n != 0 {
		t.Errorf("%d messages for no stack", n)
	}
}

// An attribute of another type is an error, not a panic.
func TestInvalidAttribute(t *testing.T) {
	o := options
	o.Resource = func(otlp.Process) []otlp.Attribute { return []otlp.Attribute{{"k", 1.5}} }
	if _, err := otlp.Profiles(aProfile(), o); err == nil || !strings.Contains(err.Error(), "the attribute k is a float64") {
		t.Error(err)
	}
}
