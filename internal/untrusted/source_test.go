// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package untrusted

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// openers are the functions that open or examine a file or read a link by its name, by the
// path of their package.
var openers = map[string]string{
	"os":                    "Open OpenFile OpenRoot OpenInRoot ReadFile WriteFile Stat Lstat ReadDir Readlink Create DirFS CopyFS Truncate",
	"io/ioutil":             "ReadFile WriteFile ReadDir",
	"path/filepath":         "Walk WalkDir Glob EvalSymlinks",
	"syscall":               "Open Openat Creat Stat Lstat Fstatat Readlink Access Truncate SYS_OPEN SYS_OPENAT",
	"golang.org/x/sys/unix": "Open Openat Openat2 OpenByHandleAt OpenTree Creat Stat Lstat Fstatat Statx Readlink Readlinkat Access Faccessat Faccessat2 Truncate SYS_OPEN SYS_OPENAT SYS_OPENAT2",
	"debug/elf":             "Open",
	"debug/pe":              "Open",
	"debug/macho":           "Open",
	"debug/buildinfo":       "ReadFile",
	"archive/zip":           "OpenReader",

	// Clew's functions for trusted names.
	"github.com/clewdev/clew/internal/untrusted":       "OpenNamed OpenInput",
	"github.com/clewdev/clew/object":                   "Open",
	"github.com/clewdev/clew/snapshot":                 "Open",
	"github.com/clewdev/clew/snapshot/core":            "Open",
	"github.com/clewdev/clew/snapshot/minidump":        "Open",
	"github.com/clewdev/clew/snapshot/internal/stored": "Open",
	"github.com/clewdev/clew/snapshot/perfdata":        "Open",
	"github.com/clewdev/clew/jit/perf":                 "ReadJitdump ReadMap",
}

// TestFilesAreOpenedHere fails for code outside of this package that opens or examines a file
// with a name that may be untrusted. It allows kernel files with fixed names (see kernelName)
// and the functions in trusted.
func TestFilesAreOpenedHere(t *testing.T) {
	found := make(map[string][]string) // places by function
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		if entry.IsDir() {
			if slices.Contains(apart, below) || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && below != "." {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(below, ".go") && !strings.HasSuffix(below, "_test.go") {
			return addOpeners(found, name, path.Dir(below))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d functions open files", len(found))
	}
	for _, function := range slices.Sorted(maps.Keys(found)) {
		if trusted[function] == "" {
			t.Errorf("%s opens a file whose name may be untrusted (%s): use untrusted.Open, or add the reason why it is trusted to the list",
				function, strings.Join(found[function], ", "))
		}
	}
	for function := range trusted {
		if found[function] == nil {
			t.Errorf("%s is listed as opening files, and opens none", function)
		}
	}
}

// apart are the directories that are not searched: this one, and tools and test programs.
var apart = []string{"bench", "examples", "scripts", "internal/corpus", "internal/stacktest", "cmd/clew/demo", "internal/testprogram", "internal/untrusted",
	"internal/outputfile", // writes files that the user names
}

// addOpeners adds the functions of a source file that open files.
func addOpeners(found map[string][]string, name, folder string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	imports := make(map[string]string) // paths by local name
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." && openers[imported] != "" {
			return fmt.Errorf("%s: %s is imported without a name", name, imported)
		}
		imports[local] = imported
	}
	for _, declaration := range file.Decls {
		function := folder + ": " + declarationName(declaration)
		body, _ := declaration.(*ast.FuncDecl)
		allowed := make(map[ast.Node]bool) // functions of calls with a kernel file's name
		ast.Inspect(declaration, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if selector, ok := call.Fun.(*ast.SelectorExpr); ok && len(call.Args) > 0 {
					allowed[selector] = isKernelFile(selector.Sel.Name, call.Args[0], body)
				}
			}
			selector, ok := n.(*ast.SelectorExpr)
			if !ok || allowed[selector] {
				return true
			}
			if local, ok := selector.X.(*ast.Ident); ok && slices.Contains(strings.Fields(openers[imports[local.Name]]), selector.Sel.Name) {
				place := files.Position(selector.Pos())
				found[function] = append(found[function], fmt.Sprintf("%s at %s:%d", selector.Sel.Name, filepath.Base(name), place.Line))
			}
			return true
		})
	}
	return nil
}

// declarationName returns the name of a function, with its receiver's type, or of the first
// variable.
func declarationName(declaration ast.Decl) string {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		if generic, ok := receiver.(*ast.IndexExpr); ok {
			receiver = generic.X
		}
		return receiver.(*ast.Ident).Name + "." + d.Name.Name
	case *ast.GenDecl:
		if spec, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return spec.Names[0].Name
		}
	}
	return ""
}

// isKernelFile reports whether a function is called with the name of a file of the kernel:
// below /proc or /sys, consisting of constants and numbers. For magic links there only
// readlink and lstat are allowed.
func isKernelFile(function string, name ast.Expr, body *ast.FuncDecl) bool {
	text, ok := kernelName(name, body, 0)
	if !ok || !strings.HasPrefix(text, "/proc/") && !strings.HasPrefix(text, "/sys/") || strings.Contains(text, "..") {
		return false
	}
	if function == "Readlink" || function == "Lstat" {
		return true
	}
	for component := range strings.SplitSeq(text, "/") {
		if slices.Contains([]string{"exe", "cwd", "root", "fd", "map_files"}, component) {
			return false
		}
	}
	return true
}

// kernelName returns the text of an expression of constant strings and numbers, with 0 for
// the numbers. ok is false for other expressions.
func kernelName(e ast.Expr, body *ast.FuncDecl, depth int) (text string, ok bool) {
	if depth > 5 {
		return "", false
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := kernelName(e.X, body, depth)
		right, also := kernelName(e.Y, body, depth)
		return left + right, ok && also
	case *ast.CallExpr:
		selector, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		switch selector.Sel.Name {
		case "Itoa":
			return "0", true
		case "Sprintf":
			text, ok := kernelName(e.Args[0], body, depth)
			text = strings.NewReplacer("%d", "0", "%[1]d", "0", "%x", "0").Replace(text)
			return text, ok && !strings.Contains(text, "%")
		}
	case *ast.Ident: // a variable or constant of the function, which is set once
		var value ast.Expr
		set := 0
		if body == nil {
			return "", false
		}
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if to, ok := to.(*ast.Ident); ok && to.Name == e.Name {
						if set++; len(n.Lhs) == len(n.Rhs) && n.Tok == token.DEFINE {
							value = n.Rhs[i]
						}
					}
				}
			case *ast.ValueSpec:
				for i, to := range n.Names {
					if to.Name == e.Name {
						if set++; len(n.Names) == len(n.Values) {
							value = n.Values[i]
						}
					}
				}
			}
			return true
		})
		if set == 1 && value != nil {
			return kernelName(value, body, depth+1)
		}
	}
	return "", false
}

// The analysis finds calls in every form.
func TestOpenersAreFound(t *testing.T) {
	const text = `package p

import (
	"os"
	system "golang.org/x/sys/unix"
	"strconv"
	"fmt"
)

var open = os.ReadFile

func named(name string) { os.Open(name) }
func value() func(string) ([]byte, error) { return os.ReadFile }
func (t *generic[T]) method(name string) { system.Openat(3, name, 0, 0) }
func joined(pid int, name string) { os.Open("/proc/" + strconv.Itoa(pid) + "/" + name) }
func formatted(name string) { os.Open(fmt.Sprintf("/proc/%s", name)) }
func magic(pid int) { os.Open("/proc/" + strconv.Itoa(pid) + "/exe") }
func up() { os.Open("/proc/../etc/shadow") }
func elsewhere() { os.Open("/etc/shadow") }
func changed(name string) { path := "/proc/1/maps"; path = name; os.Open(path) }

func maps(pid int) { os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps") }
func link(pid int) { os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") }
func variable(pid int) { path := fmt.Sprintf("/proc/%d/maps", pid); os.ReadFile(path) }
func system2() { os.ReadFile("/sys/kernel/notes") }
func shadows(os file) { os.Close() }
`
	name := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]string)
	if err := addOpeners(found, name, "p"); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(found))
	want := strings.Fields("changed elsewhere formatted generic.method joined magic named open up value")
	for i := range want {
		want[i] = "p: " + want[i]
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
}
