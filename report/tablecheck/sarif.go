// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package tablecheck

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// SARIF prints results as one log of the Static Analysis Results Interchange Format, version
// 2.1.0 (OASIS, 27 March 2020). It prints everything in End.
type SARIF struct {
	Version string // of Clew

	results []sarifResult
}

// The objects have the properties of SARIF §3.13 to §3.58 that readers use.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string    `json:"id"`
	ShortDescription sarifText `json:"shortDescription"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   map[string]string `json:"properties,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region  *sarifRegion  `json:"region,omitempty"`
	Address *sarifAddress `json:"address,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifAddress struct {
	Absolute uint64 `json:"absoluteAddress"`
	Name     string `json:"fullyQualifiedName,omitempty"`
}

type sarifLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
	DecoratedName      string `json:"decoratedName,omitempty"`
	Kind               string `json:"kind"`
}

// Result keeps the findings of a part.
func (s *SARIF) Result(_ io.Writer, r *survey.Result) error {
	for i := range r.Findings {
		s.results = append(s.results, newSARIF(r.Part, &r.Findings[i]))
	}
	return nil
}

func newSARIF(p *survey.Part, f *check.Finding) sarifResult {
	name := cmp.Or(style.Demangle(f.Name), style.Hex(p.Shown(f.Function)))
	text := defect(f)
	place := fmt.Sprintf("%s+%s", name, style.Hex(f.Address-f.Function))
	if f.Function != 0 {
		text = place + ": " + text
	}
	key := sha256.Sum256(fmt.Append(nil, survey.NewKnown(p, f)))
	o := sarifResult{RuleID: ruleID(f.Kind), RuleIndex: int(f.Kind), Level: "error",
		Fingerprints: map[string]string{"finding/v1": fmt.Sprintf("%x", key[:16])}}
	if f.Fix != "" {
		// A fix of SARIF changes a file (§3.55). The directive belongs into the assembler code
		// that a compiler writes, which is not there.
		o.Properties = map[string]string{"fix": f.Fix}
		text += fmt.Sprintf("; fix: %s before %s", f.Fix, style.Hex(p.Shown(f.Address)))
	}
	o.Message.Text = text
	var code sarifLocation
	code.Physical.Artifact.URI = uriOf(fileOf(p))
	code.Physical.Address = &sarifAddress{Absolute: p.Shown(f.Address)}
	if f.Function != 0 {
		// Only an address with a parentIndex may have an offsetFromParent (SARIF §3.32.8).
		code.Physical.Address.Name = place
		code.Logical = []sarifLogical{{name, f.Name, "function"}}
	}
	l := locate(p, f.Address)
	if l == nil {
		o.Locations = []sarifLocation{code}
		return o
	}
	// Readers show the first location: the source, if it is known.
	source := sarifLocation{Logical: code.Logical}
	source.Physical.Artifact.URI, source.Physical.Region = uriOf(l.File), &sarifRegion{l.Line}
	o.Locations, o.Related = []sarifLocation{source}, []sarifLocation{code}
	return o
}

// uriOf returns a path as a URI, relative unless the path is absolute (SARIF §3.4.3).
func uriOf(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}

// ruleID returns the identifier of a kind of finding: "wrong-cfa".
func ruleID(k check.Kind) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(k.String(), ".", ""), " ", "-"))
}

// End prints the log.
func (s *SARIF) End(w io.Writer, _ *Total) error {
	var run sarifRun
	run.Tool.Driver = sarifDriver{Name: "clew", Version: s.Version, InformationURI: "https://github.com/clewdev/clew"}
	for k := range check.Kinds {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ruleID(k), sarifText{k.String()}})
	}
	if run.Results = s.results; run.Results == nil {
		run.Results = []sarifResult{}
	}
	log := sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
	var line, indented bytes.Buffer
	if err := printable.EncodeJSON(&line, &log); err != nil {
		return err
	}
	if err := json.Indent(&indented, line.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err := w.Write(indented.Bytes())
	return err
}
