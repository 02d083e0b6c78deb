// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package otlp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/profile/otlp"
)

// oneMessage returns a profile as one message.
func oneMessage(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	messages, err := otlp.Profiles(p, options)
	if err != nil || len(messages) != 1 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	return messages[0]
}

// text returns a profile as text.
func text(t testing.TB, p *profile.Profile) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Folded(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What is written can be read: the second message is equal to the first. Only names that are not
// text differ.
func TestReadAgain(t *testing.T) {
	first := oneMessage(t, aProfile())
	p, err := otlp.Read(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if again := oneMessage(t, p); !bytes.Equal(again, first) {
		t.Errorf("read again:\n%s\nwant\n%s", text(t, p), text(t, aProfile()))
	}
	if !otlp.Recognize(first) || p.Unit() != "samples" || p.Total() != aProfile().Total() || !p.Start.Equal(aProfile().Start) || p.Duration != aProfile().Duration || len(p.Notes) > 0 {
		t.Errorf("%.20q %v %d %v %v %v", first, p.Unit(), p.Total(), p.Start, p.Duration, p.Notes)
	}
}

// Profiles of pprof, text and other files are not taken for OTLP.
func TestRecognize(t *testing.T) {
	var b bytes.Buffer
	if err := aProfile().Pprof(&b); err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]string{
		"pprof, compressed": b.String(), "pprof": "\x0a\x04\x08\x01\x10\x02", "nothing": "", "text": "\nmain 5", "short": "\x0a\x80", "pprof, a sample": "\x12\x04\x0a\x02\x01\x02", "endless length": "\x0a" + strings.Repeat("\x80", 20),
	} {
		if otlp.Recognize([]byte(start)) {
			t.Errorf("%s is recognized", name)
		}
	}
}

// Invalid indexes and weights cost a sample, and other types of weights a profile.
func TestReadInvalid(t *testing.T) {
	in := pprofile.NewProfiles()
	d := in.Dictionary()
	d.StringTable().Append("", "samples", "count", "cpu")
	d.StackTable().AppendEmpty()
	d.StackTable().AppendEmpty().LocationIndices().Append(7)
	d.StackTable().AppendEmpty().LocationIndices().Append(-1)
	d.StackTable().AppendEmpty().LocationIndices().Append(0)
	l := d.LocationTable().AppendEmpty()
	l.SetMappingIndex(9)
	l.AttributeIndices().Append(-3, 4)
	l.Lines().AppendEmpty().SetFunctionIndex(8)
	scope := in.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty()
	p := scope.Profiles().AppendEmpty()
	p.SampleType().SetTypeStrindex(1)
	p.SampleType().SetUnitStrindex(2)
	for _, s := range []struct {
		stack  int32
		values []int64
	}{{1, []int64{1}}, {2, []int64{1}}, {-1, []int64{1}}, {99, []int64{1}}, {3, []int64{-1}}, {3, []int64{1<<63 - 1, 1}}, {3, []int64{5}}, {3, []int64{1<<63 - 1}}, {3, nil}} {
		out := p.Samples().AppendEmpty()
		out.SetStackIndex(s.stack)
		out.Values().Append(s.values...)
		if s.values == nil {
			out.TimestampsUnixNano().Append(10, 20)
		}
	}
	scope.Profiles().AppendEmpty().SampleType().SetTypeStrindex(3)
	b, err := new(pprofile.ProtoMarshaler).MarshalProfiles(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := otlp.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if text := text(t, got); text != "[unknown] 7\n" || got.Unit() != "samples" || strings.Join(got.Notes, "; ") != `1 profiles of other types than "samples count" are left out; 7 samples are invalid, and left out` {
		t.Errorf("%q %q %q", text, got.Unit(), got.Notes)
	}
}

// Messages that would take much memory, time or stack are refused.
func TestReadBombs(t *testing.T) {
	deep := []byte{} // values of an attribute of a resource, each a list with the next one
	for range 5000 {
		deep = append(binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(deep))), deep...)
	}
	for name, test := range map[string]struct {
		in   []byte
		want string
	}{
		"deep":         {deep, "nested more than"},
		"many":         {bytes.Repeat([]byte{1<<3 | 2, 0}, 9<<20), "messages"},
		"large":        {make([]byte, 65<<20), "larger than 64 MiB"},
		"not protobuf": {[]byte("\x0a\xff"), "not an OTLP profile"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := otlp.Read(bytes.NewReader(test.in))
		if runtime.ReadMemStats(&after); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 400<<20 {
			t.Errorf("%s: %d MB", name, n>>20)
		}
	}
	// A stack of many frames in many samples.
	in := pprofile.NewProfiles()
	in.Dictionary().StringTable().Append("")
	in.Dictionary().StackTable().AppendEmpty()
	in.Dictionary().LocationTable().AppendEmpty()
	long := in.Dictionary().StackTable().AppendEmpty().LocationIndices()
	long.FromRaw(make([]int32, 1<<20))
	p := in.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	for i := range 70 {
		s := p.Samples().AppendEmpty()
		s.SetStackIndex(1)
		s.Values().Append(int64(i))
	}
	b, err := new(pprofile.ProtoMarshaler).MarshalProfiles(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := otlp.Read(bytes.NewReader(b)); err == nil || !strings.Contains(err.Error(), "frames") {
		t.Error(err)
	}
}

// Any bytes are read to an end. A profile that was read can be written.
func FuzzRead(f *testing.F) {
	f.Add(oneMessage(f, aProfile()))
	golden, err := os.ReadFile("testdata/profile.json")
	if err != nil {
		f.Fatal(err)
	}
	in, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(golden)
	if err == nil {
		if b, err := new(pprofile.ProtoMarshaler).MarshalProfiles(in); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte("\x0a\x00\x12\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		otlp.Recognize(b)
		p, err := otlp.Read(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, otlp.ErrFormat) && !strings.Contains(err.Error(), "frames") {
				t.Error(err)
			}
			return
		}
		if _, err := otlp.Profiles(p, otlp.Options{}); err != nil {
			t.Error(err)
		}
		if p.Total() < 0 {
			t.Error(p.Total())
		}
	})
}
