// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/clewdev/clew/cmd/clew/output"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/jitcode"
	"github.com/clewdev/clew/stack/generated"
)

// find returns the functions at a place: a name or an address. If there is none, it warns of damage
// in the sources and returns an error.
func (t *jitTarget) find(place, name string) (found, all []jitcode.SourcedFunction, err error) {
	all = t.functions()
	address, parseErr := strconv.ParseUint(place, 0, 64)
	found = jitcode.Match(all, place, address, parseErr == nil)
	if len(found) > 0 {
		return found, all, nil
	}
	for _, s := range t.sources { // the function may be in a damaged part
		if s.Err != nil {
			output.Warn("%s: %v", s.Kind, s.Err)
		}
	}
	switch {
	case len(all) == 0:
		return nil, nil, output.Partialf("%s: no source describes generated code; 'clew jit %[1]s' lists where Clew looked", name)
	case parseErr == nil:
		return nil, nil, output.Partialf("%s: no generated function covers %#x", name, address)
	}
	note := ""
	for _, s := range t.sources {
		switch s.Kind {
		case generated.GDBList, generated.GDBListSearched, generated.DynInfoList:
			note = fmt.Sprintf(" (the %v does not contain withdrawn functions)", s.Kind)
		}
	}
	return nil, all, output.Partialf("%s: none of %d generated functions is called %s%s", name, len(all), place, note)
}

const (
	maxShown  = 32 // functions with one name
	maxFormer = 8  // former places of these functions, of each source
)

func jitShow(place, name string, flags *jitFlags) error {
	t, err := openJIT(name, flags)
	if err != nil {
		return err
	}
	defer t.close()
	complete := t.warnOfDamage()
	found, all, missing := t.find(place, name)
	former, formerCount := jitcode.MatchFormer(t.sources, place, found, maxFormer)
	if missing != nil && formerCount == 0 {
		return missing
	}
	if len(found) > maxShown {
		return output.Partialf("%d functions are called %s; choose one by its address:%s", len(found), place, firstOf(found))
	}
	names := make([]generated.Function, len(all))
	for i := range all {
		names[i] = all[i].Function
	}
	text := sourceText(t.process.OpenSource, flags.sourcePath)
	defer warnOfSource(text)
	for i := range found {
		g := jitcode.Function{Function: &found[i].Function, Source: found[i].Source, Machine: t.machine, Names: names}
		if flags.json {
			err = g.JSON(output.Stdout)
		} else {
			if i > 0 {
				fmt.Fprintln(output.Stdout)
			}
			err = g.Text(output.Stdout, output.Stdout.Palette(), text)
		}
		if err != nil {
			return err
		}
		complete = complete && g.Complete()
	}
	if err := writeFormer(former, formerCount, len(found) > 0, flags); err != nil {
		return err
	}
	if !complete && missing == nil {
		return output.Status(output.ExitNo)
	}
	return missing
}

// writeFormer writes the former places of functions, after an empty line if separate. count is the
// number of all such places.
func writeFormer(former []jitcode.FormerFunction, count int, separate bool, flags *jitFlags) (err error) {
	if separate && len(former) > 0 && !flags.json {
		fmt.Fprintln(output.Stdout)
	}
	for i := range former {
		if flags.json {
			err = former[i].JSON(output.Stdout)
		} else {
			err = former[i].Text(output.Stdout, output.Stdout.Palette())
		}
		if err != nil {
			return err
		}
	}
	if omitted := count - len(former); omitted > 0 && !flags.json {
		fmt.Fprintf(output.Stdout, "and %d earlier ones\n", omitted)
	}
	return nil
}

// firstOf lists the first of some functions, one on each line.
func firstOf(functions []jitcode.SourcedFunction) output.Hint {
	const listed = 8
	var list strings.Builder
	for i := range functions {
		if i == listed {
			fmt.Fprintf(&list, "\n  and %d more", len(functions)-listed)
			break
		}
		fmt.Fprintf(&list, "\n  %#x  %s", functions[i].Start, printable.Text(functions[i].Name))
	}
	return output.Hint(list.String())
}

func jitExtract(args []string, flags *jitFlags) error {
	switch {
	case flags.all && len(args) != 1:
		return fmt.Errorf("--all takes one PID or FILE, got %d arguments", len(args))
	case !flags.all && len(args) != 2:
		return fmt.Errorf("expected a function, or --all, and a PID or FILE; got %d arguments", len(args))
	case flags.output == "":
		return errors.New("no output: name a file with -o (with --all, a directory)")
	}
	name := args[len(args)-1]
	t, err := openJIT(name, flags)
	if err != nil {
		return err
	}
	defer t.close()
	whole := t.warnOfDamage()
	if flags.all {
		err = t.extractAll(name, flags)
	} else {
		err = t.extract(args[0], name, flags)
	}
	if err == nil && !whole {
		return output.Status(output.ExitNo)
	}
	return err
}

// warnOfDamage warns of damage in a core or a recording, which can hide functions. It reports
// whether there is no damage.
func (t *jitTarget) warnOfDamage() (whole bool) {
	for _, text := range t.damage {
		output.Warn("%s", text)
	}
	return len(t.damage) == 0
}

func (t *jitTarget) extract(place, name string, flags *jitFlags) error {
	found, _, err := t.find(place, name)
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return output.Partialf("%d functions are called %s; choose one by its address:%s", len(found), place, firstOf(found))
	}
	f := &found[0]
	data := f.Image()
	var partial error
	if data == nil {
		if data, partial = f.Source.SymbolFile(t.machine, []generated.Function{f.Function}); data == nil {
			return output.Partialf("%w", partial)
		}
	}
	if err := writeSymbolFile(flags.output, f.Source, data, flags); err != nil {
		return err
	}
	if partial != nil {
		return output.Partialf("%w", partial)
	}
	return nil
}

// extractAll writes all symbol files to a folder: the registered ones, and one for the other
// functions of each source.
func (t *jitTarget) extractAll(name string, flags *jitFlags) error {
	if len(t.sources) == 0 {
		return output.Partialf("%s: no source describes generated code", name)
	}
	if err := os.MkdirAll(flags.output, 0o777); err != nil {
		return output.InputErrorf("%w", err)
	}
	var partial []error
	for i, s := range t.sources {
		if s.Err != nil {
			partial = append(partial, s.Err)
		}
		var functions []generated.Function
		written := make(map[*byte]bool) // by image, which several functions can share
		for f := range s.Functions() {
			image := f.Image()
			if len(image) == 0 {
				functions = append(functions, f)
				continue
			}
			if written[&image[0]] {
				continue
			}
			written[&image[0]] = true
			path := filepath.Join(flags.output, fmt.Sprintf("%d-%x.o", i, f.Start))
			if err := writeSymbolFile(path, s, image, flags); err != nil {
				return err
			}
		}
		if len(functions) == 0 {
			continue
		}
		data, err := s.SymbolFile(t.machine, functions)
		if err != nil {
			partial = append(partial, err)
		}
		if data == nil {
			continue
		}
		path := filepath.Join(flags.output, fmt.Sprintf("%d-%s.o", i, strings.ReplaceAll(s.Kind.String(), " ", "-")))
		if err := writeSymbolFile(path, s, data, flags); err != nil {
			return err
		}
	}
	if err := errors.Join(partial...); err != nil {
		return output.Partialf("%w", err)
	}
	return nil
}

func writeSymbolFile(path string, s *generated.Source, data []byte, flags *jitFlags) error {
	err := writeOutput(path, true, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return output.InputError(err)
	}
	if path == "-" {
		return nil
	}
	if flags.json {
		return printable.EncodeJSON(output.Stdout, map[string]any{"file": path, "source": s.Kind.String(), "place": s.Place, "bytes": len(data)})
	}
	_, err = fmt.Fprintf(output.Stdout, "%s: %d bytes, of the %v\n", path, len(data), s.Kind)
	return err
}
