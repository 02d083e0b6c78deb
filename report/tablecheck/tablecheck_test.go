// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package tablecheck

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack/generated"
)

var update = flag.Bool("update", false, "write the golden files")

var amd64 = arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)

// code is push %rax; nop; pop %rax; ret at 0x1000, of lines 4 to 7.
type code struct{}

func (code) ReadMemory(p []byte, address uint64) error {
	const text = "\x50\x90\x58\xc3"
	if address < 0x1000 || address-0x1000+uint64(len(p)) > uint64(len(text)) {
		return errors.New("outside")
	}
	copy(p, text[address-0x1000:])
	return nil
}

func (code) Locate(address uint64) ([]object.Location, error) {
	if address < 0x1000 || address > 0x1003 {
		return nil, nil
	}
	return []object.Location{{File: "/src/f.s", Line: int(address - 0x1000 + 4)}}, nil
}

// results are those of a file, a source of generated code, and a file that cannot be read.
func results() []*survey.Result {
	around := []check.Line{{Address: 0x1000, Table: "rsp+8", Code: "rsp+8"}, {Address: 0x1001, Table: "rsp+8", Code: "rsp+16"}, {Address: 0x1002, Table: "rsp+8"}}
	path := []check.Step{{Address: 0x1000, CFA: "rsp+8"}, {Address: 0x1001, CFA: "rsp+16", Saved: "rbx at CFA-16"}}
	wrong := check.Finding{Kind: check.WrongCFA, Function: 0x1000, Name: "_Z1fi", Address: 0x1001, Last: 0x1002, Count: 2,
		Expected: "CFA = rsp+16", Found: "CFA = rsp+8", Path: path, Around: around, Fix: ".cfi_def_cfa_offset 16"}
	lost := check.Finding{Kind: check.NotRestored, Function: 0x1000, Name: "_Z1fi", Address: 0x1003, Last: 0x1003, Count: 1, Register: "rbx",
		Expected: "rbx restored", Found: "a return without it"}
	nameless := wrong
	nameless.Name, nameless.Function, nameless.Address = "", 0x2000, 0x2004
	entry := check.Finding{Kind: check.Malformed, Address: 0x3000, Last: 0x3000, Count: 1, Found: "an FDE\n\x1b[31mat 0x18"}
	notes := []check.Note{
		{Kind: check.NoEntry, Count: 6, Bytes: 2048, Places: []check.Place{{Address: 0x1100, Name: "_Z1gv"}, {Address: 0x1200}, {Address: 0x1300, Name: "\x1b[31m"}}},
		{Kind: check.UnusedCIE, Count: 1, Places: []check.Place{{Address: 0x3100}}},
		{Kind: check.NoTerminator, Count: 1, Places: []check.Place{{Address: 0x3000}}},
	}
	counters := check.Counters{Functions: 2048, Decided: 2040, Defective: 2, Instructions: 12345, Agree: 12000, Disagree: 45, Undecided: 300}
	counters.Reasons[check.Unreached] = 300
	few := check.Counters{Functions: 1, Decided: 1, Instructions: 4, Agree: 4}
	return []*survey.Result{
		{Part: &survey.Part{Name: "lib/a b.so", Key: "a b.so", Machine: amd64, Code: code{}},
			Report: &check.Report{Findings: []check.Finding{wrong, lost, nameless, entry}, Counters: counters, Notes: notes}, Known: []check.Finding{wrong}},
		{Part: &survey.Part{Name: "0x5560 in php", Key: "GDB JIT list", Generated: generated.GDBList, Machine: amd64},
			Report: &check.Report{Counters: few}},
		{Part: &survey.Part{Name: "broken", Key: "broken"}, Report: new(check.Report), Err: errors.New("unreadable"), Failed: true},
	}
}

func printed(t *testing.T, p Printer, list []*survey.Result) string {
	t.Helper()
	var b strings.Builder
	var total Total
	for _, r := range list {
		total.Add(r)
		if err := p.Result(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.End(&b, &total); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, p := range map[string]Printer{"text": &Text{}, "paths": &Text{Paths: true}, "json": JSON{}, "sarif": &SARIF{Version: "1.2.3"}} {
		t.Run(name, func(t *testing.T) {
			got := printed(t, p, results())
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.Contains(got, "\x1b") {
				t.Error("an escape sequence of a name is printed")
			}
		})
	}
}

// The log has the properties that the schema of SARIF 2.1.0 requires, with values that it allows.
func TestSARIFSchema(t *testing.T) {
	for name, list := range map[string][]*survey.Result{"findings": results(), "none": nil} {
		t.Run(name, func(t *testing.T) {
			var log any
			if err := json.Unmarshal([]byte(printed(t, &SARIF{}, list)), &log); err != nil {
				t.Fatal(err)
			}
			validate(t, "log", log, sarifSchema["log"])
		})
	}
}

// schema is a part of https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json:
// the properties of an object that may be used here, with their types. Those with a ! are required.
// A type is that of a JSON value, [] of an array, or the name of another object.
type schema map[string]string

var sarifSchema = map[string]schema{
	"log":      {"$schema": "string", "version!": "string", "runs!": "[]run"},
	"run":      {"tool!": "tool", "results": "[]result"},
	"tool":     {"driver!": "driver"},
	"driver":   {"name!": "string", "version": "string", "informationUri": "string", "rules": "[]rule"},
	"rule":     {"id!": "string", "shortDescription": "message"},
	"message":  {"text!": "string"},
	"result":   {"ruleId": "string", "ruleIndex": "number", "level": "level", "message!": "message", "locations": "[]location", "relatedLocations": "[]location", "partialFingerprints": "strings", "properties": "strings"},
	"location": {"physicalLocation": "physical", "logicalLocations": "[]logical"},
	"physical": {"artifactLocation": "artifact", "region": "region", "address": "address"},
	"artifact": {"uri": "string"},
	"region":   {"startLine": "number"},
	"address":  {"absoluteAddress": "number", "fullyQualifiedName": "string"},
	"logical":  {"fullyQualifiedName": "string", "decoratedName": "string", "kind": "string"},
}

func validate(t *testing.T, at string, value any, s schema) {
	t.Helper()
	members, ok := value.(map[string]any)
	if !ok {
		t.Errorf("%s is not an object: %v", at, value)
		return
	}
	for name := range s {
		if required, ok := strings.CutSuffix(name, "!"); ok && members[required] == nil {
			t.Errorf("%s lacks %s", at, required)
		}
	}
	for name, member := range members {
		typ, ok := s[name]
		if !ok {
			typ, ok = s[name+"!"]
		}
		if !ok {
			t.Errorf("%s has the property %s", at, name)
			continue
		}
		validateType(t, at+"."+name, member, typ)
	}
}

func validateType(t *testing.T, at string, value any, typ string) {
	t.Helper()
	if element, ok := strings.CutPrefix(typ, "[]"); ok {
		list, ok := value.([]any)
		if !ok {
			t.Errorf("%s is not an array: %v", at, value)
		}
		for i, v := range list {
			validateType(t, fmt.Sprintf("%s[%d]", at, i), v, element)
		}
		return
	}
	switch typ {
	case "string", "level":
		text, ok := value.(string)
		if !ok || typ == "level" && text != "error" {
			t.Errorf("%s: %v", at, value)
		}
	case "number":
		if n, ok := value.(float64); !ok || n < 0 {
			t.Errorf("%s: %v", at, value)
		}
	case "strings":
		for name, v := range value.(map[string]any) {
			validateType(t, at+"."+name, v, "string")
		}
	default:
		validate(t, at, value, sarifSchema[typ])
	}
}

func TestURI(t *testing.T) {
	for path, want := range map[string]string{"lib/a b.so": "lib/a%20b.so", "/src/f.c": "file:///src/f.c", "a:b": "./a:b", "GDB JIT list": "GDB%20JIT%20list"} {
		if got := uriOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A line shows no more of a symbol than its first bytes.
func TestLongNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("A", 1<<20), "_Z" + strings.Repeat("P", 1<<20) + "i", strings.Repeat("\n", 1<<20)} {
		if s := functionName(&check.Finding{Name: name}); len(s) > 20<<10 || strings.Contains(s, "\n") {
			t.Errorf("%.20q: %d bytes", name, len(s))
		}
	}
}
