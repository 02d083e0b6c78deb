// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package spelling

import "strings"

// adaOperators are the operators of Ada by the names that GNAT gives their functions
// (GNAT's exp_dbug.ads).
var adaOperators = map[string]string{
	"Oabs": "abs", "Oand": "and", "Omod": "mod", "Onot": "not", "Oor": "or", "Orem": "rem", "Oxor": "xor",
	"Oeq": "=", "One": "/=", "Olt": "<", "Ole": "<=", "Ogt": ">", "Oge": ">=",
	"Oadd": "+", "Osubtract": "-", "Oconcat": "&", "Omultiply": "*", "Odivide": "/", "Oexpon": "**",
}

// Ada returns the source name of a name that GNAT encoded: "pkg__child__proc" is pkg.child.proc,
// "pkg__Oadd" is pkg."+", "_ada_main" is main, and "pkg__workerTB" is the body of the task
// pkg.worker. Names that GNAT made up are in "<" and ">", as in gdb.
func Ada(encoded string) string {
	name := strings.TrimPrefix(encoded, "_ada_")
	if name == "" || name[0] == '_' || name[0] == '<' {
		return "<" + encoded + ">"
	}
	if at := strings.Index(name, "___"); at > 0 {
		name = name[:at] // the suffix describes the representation
	}
	// Suffixes distinguish overloaded functions and nested bodies.
	for _, separator := range []string{".", "$", "__"} {
		if at := strings.LastIndex(name, separator); at > 0 && isDigits(name[at+len(separator):]) {
			name = name[:at]
		}
	}
	for _, suffix := range []string{"TKB", "TB"} {
		if rest, ok := strings.CutSuffix(name, suffix); ok && rest != "" {
			name = rest
			break
		}
	}
	if at := strings.LastIndexByte(name, 'X'); at > 0 && strings.Trim(name[at+1:], "bn") == "" {
		name = strings.TrimRight(name[:at], "X") // nested in a package's body
	}
	parts := strings.Split(name, "__")
	kept := parts[:0]
	for _, part := range parts {
		operator := adaOperators[part]
		switch {
		case operator != "":
			part = `"` + operator + `"`
		case isBlock(part):
			continue
		case part == "" || strings.ToLower(part) != part:
			return "<" + encoded + ">"
		}
		kept = append(kept, part)
	}
	if len(kept) == 0 {
		return "<" + encoded + ">"
	}
	return strings.Join(kept, ".")
}

// isBlock reports whether a part of a name stands for an unnamed block: "B_4b", "B12b".
func isBlock(part string) bool {
	rest, ok := strings.CutPrefix(part, "B")
	if !ok {
		return false
	}
	rest, ok = strings.CutSuffix(strings.TrimPrefix(rest, "_"), "b")
	return ok && isDigits(rest)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// AdaLiteral returns the name of an enumeration literal without its package. GNAT encodes the
// character 'a' as "Qa", others by their codes after "QU" or "QW".
func AdaLiteral(encoded string) string {
	name := encoded
	if at := strings.LastIndex(name, "__"); at >= 0 && at+2 < len(name) {
		name = name[at+2:]
	} else if at := strings.LastIndexByte(name, '.'); at >= 0 && at+1 < len(name) {
		name = name[at+1:]
	}
	if len(name) == 2 && name[0] == 'Q' {
		return "'" + name[1:] + "'"
	}
	for _, prefix := range []string{"QU", "QWW", "QW"} {
		if digits, ok := strings.CutPrefix(name, prefix); ok && digits != "" && strings.Trim(digits, "0123456789abcdef") == "" {
			return `'["` + digits + `"]'`
		}
	}
	return name
}
