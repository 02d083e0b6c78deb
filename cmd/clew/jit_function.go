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

// find returns the functions at a place. It first warns of damage in the sources. The error says
// that there is no such function.
func (t *jitTarget) find(place, name string) (found, all []jitcode.SourcedFunction, err error) {
	all = t.functions()
	address, parseErr := strconv.ParseUint(place, 0, 64)
	found = jitcode.Match(all, place, address, parseErr == nil)
	if len(found) > 0 {
		return found, all, nil
	}
	for _, s := range t.sources { // it may be in what is damaged of them
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
	history := ""
	for _, s := range t.sources {
		switch s.Kind {
		case generated.GDBList, generated.GDBListSearched, generated.DynInfoList:
			history = fmt.Sprintf(" (the %v does not say what was withdrawn from it)", s.Kind)
		}
	}
	return nil, all, output.Partialf("%s: none of %d generated functions is called %s%s", name, len(all), place, history)
}

// maxShown is how many functions one name can mean that are shown together, and
// maxFormer how many of their former places, of each source.
const (
	maxShown  = 32
	maxFormer = 8
)

func jitShow(place, name string, flags *jitFlags) error {
	t, err := openJIT(name, flags)
	if err != nil {
		return err
	}
	defer t.released()
	complete := t.warnOfDamage()
	found, all, missing := t.find(place, name)
	former, formerly := jitcode.MatchFormer(t.sources, place, found, maxFormer)
	if missing != nil && formerly == 0 {
		return missing
	}
	if len(found) > maxShown {
		return output.Partialf("%d functions are called %s; choose one by its address:%s", len(found), place, someOf(found))
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
	if err := writeFormer(former, formerly, len(found) > 0, flags); err != nil {
		return err
	}
	if !complete && missing == nil {
		return output.Status(output.ExitNo)
	}
	return missing
}

// writeFormer writes where functions were before; all is how many such places there are.
func writeFormer(former []jitcode.FormerFunction, all int, apart bool, flags *jitFlags) (err error) {
	if apart && len(former) > 0 && !flags.json {
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
	if more := all - len(former); more > 0 && !flags.json {
		fmt.Fprintf(output.Stdout, "and %d more before\n", more)
	}
	return nil
}

// someOf lists the first of some functions, a line each.
func someOf(functions []jitcode.SourcedFunction) output.Hint {
	const most = 8
	var list strings.Builder
	for i := range functions {
		if i == most {
			fmt.Fprintf(&list, "\n  and %d more", len(functions)-most)
			break
		}
		fmt.Fprintf(&list, "\n  %#x  %s", functions[i].Start, printable.Text(functions[i].Name))
	}
	return output.Hint(list.String())
}

func jitExtract(args []string, flags *jitFlags) error {
	want := 2
	if flags.all {
		want = 1
	}
	switch {
	case len(args) != want && flags.all:
		return fmt.Errorf("--all takes one PID or FILE, got %d arguments", len(args))
	case len(args) != want:
		return fmt.Errorf("expected a function, or --all, and a PID or FILE; got %d arguments", len(args))
	case flags.output == "":
		return errors.New("no output: name a file with -o (with --all, a directory)")
	}
	name := args[want-1]
	t, err := openJIT(name, flags)
	if err != nil {
		return err
	}
	defer t.released()
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
// whether there is none.
func (t *jitTarget) warnOfDamage() (whole bool) {
	for _, text := range t.damage {
		output.Warn("%s", text)
	}
	return len(t.damage) == 0
}

// extract writes the symbol file of a function.
func (t *jitTarget) extract(place, name string, flags *jitFlags) error {
	found, _, err := t.find(place, name)
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return output.Partialf("%d functions are called %s; choose one by its address:%s", len(found), place, someOf(found))
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

// extractAll writes all symbol files into a folder: those of a list as they are,
// and one for each other source.
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
		written := make(map[*byte]bool) // by image: several functions share one
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
