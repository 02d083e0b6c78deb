// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import "strings"

// short returns the short form of a type's name: without trailing default arguments of templates
// of std, and with std::string for its instance.
func short(name string) string {
	at := strings.IndexByte(name, '<')
	if at < 0 || len(name) > maxShortened {
		return name
	}
	template, rest := name[:at], name[at+1:]
	list, rest, ok := split(rest)
	if !ok {
		return name
	}
	for k := range list {
		list[k] = short(list[k])
	}
	if strings.HasPrefix(template, "std::") {
		for len(list) > 1 && isDefault(list[len(list)-1]) {
			list = list[:len(list)-1]
		}
		if s, ok := characterTypes[list[0]]; ok && len(list) == 1 {
			switch template {
			case "std::__cxx11::basic_string", "std::basic_string":
				return "std::" + s + "string" + rest
			case "std::basic_string_view":
				return "std::" + s + "string_view" + rest
			}
		}
	}
	return template + "<" + strings.Join(list, ", ") + ">" + rest
}

// maxShortened bounds the length of a name that is shortened, in bytes.
const maxShortened = 4096

// characterTypes are the prefixes in the names of string types by character type.
var characterTypes = map[string]string{"char": "", "wchar_t": "w", "char16_t": "u16", "char32_t": "u32"}

// isDefault reports whether a template argument is one of the library's default arguments.
func isDefault(argument string) bool {
	for _, name := range []string{"allocator", "char_traits", "less", "hash", "equal_to", "default_delete"} {
		if strings.HasPrefix(argument, "std::"+name+"<") {
			return true
		}
	}
	return false
}

// split splits the arguments of a template, given a name from after its "<" on. It returns them and
// the text after the ">".
func split(s string) (list []string, rest string, ok bool) {
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '<', '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '>':
			if depth > 0 {
				depth--
				continue
			}
			return append(list, strings.TrimSpace(s[start:i])), s[i+1:], true
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return nil, "", false
}
