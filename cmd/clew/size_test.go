// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// The module keeps the limits that CONTRIBUTING.md states: files in a folder, lines in a package,
// lines and branches in a function. Tests keep the limits of functions.
func TestSizes(t *testing.T) {
	const (
		maxFiles, maxLines                 = 26, 8200
		maxFunctionLines, maxFunctionPaths = 100, 40
	)
	// A flat switch over the opcodes of call frame instructions.
	flat := map[string]bool{"cfi.Execute": true}
	files, lines := make(map[string]int), make(map[string]int)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, "_test.go") {
			folder := filepath.Dir(path)
			files[folder]++
			lines[folder] += set.File(file.Pos()).LineCount()
		}
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || flat[file.Name.Name+"."+function.Name.Name] {
				continue
			}
			if n := set.Position(function.End()).Line - set.Position(function.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, expected at most %d", path, function.Name.Name, n, maxFunctionLines)
			}
			if n := cyclomaticComplexity(function); n > maxFunctionPaths {
				t.Errorf("%s: %s has a cyclomatic complexity of %d, expected at most %d", path, function.Name.Name, n, maxFunctionPaths)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, n := range files {
		if n > maxFiles {
			t.Errorf("%s has %d source files, expected at most %d", folder, n, maxFiles)
		}
		if lines[folder] > maxLines {
			t.Errorf("%s has %d lines, expected at most %d", folder, lines[folder], maxLines)
		}
	}
}

// cyclomaticComplexity returns McCabe's number of a function: one more than its decisions.
func cyclomaticComplexity(function *ast.FuncDecl) int {
	n := 1
	ast.Inspect(function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
