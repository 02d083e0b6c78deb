// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package manual

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// FileName returns the name of the page's man page: clew-stack.1, or clew-frames.7 for a topic.
func (p *Page) FileName() string {
	name, section := p.manTitle()
	return name + "." + section
}

func (p *Page) manTitle() (name, section string) {
	if p.IsTopic() {
		return "clew-" + p.Name, "7" // miscellany: man(1)
	}
	return strings.ReplaceAll(p.Name, " ", "-"), "1"
}

// WriteMan writes the page with the macros of man(7).
func (p *Page) WriteMan(to io.Writer) error {
	var w bytes.Buffer
	name, section := p.manTitle()
	fmt.Fprintf(&w, ".TH %s %s \"\" \"Clew\" \"Clew Manual\"\n", strings.ToUpper(manText(name)), section)
	fmt.Fprintf(&w, ".SH NAME\n%s \\- %s\n", manText(name), manText(p.Summary))
	if p.Usage != "" {
		fmt.Fprint(&w, ".SH SYNOPSIS\n")
		writeVerbatim(&w, strings.Split(p.Usage, "\n"))
	}
	fmt.Fprint(&w, ".SH DESCRIPTION\n")
	for _, b := range blocks(p.Description) {
		if b.verbatim {
			fmt.Fprint(&w, ".RS 2\n")
			writeVerbatim(&w, b.lines)
			fmt.Fprint(&w, ".RE\n")
			continue
		}
		fmt.Fprint(&w, ".PP\n")
		for _, line := range b.lines {
			fmt.Fprintln(&w, manText(line))
		}
	}
	if len(p.Commands) > 0 {
		fmt.Fprint(&w, ".SH COMMANDS\n")
		for _, c := range p.Commands {
			fmt.Fprintf(&w, ".TP\n.B %s\n%s\n", manText(c.Name), manText(c.Summary))
		}
	}
	group := ""
	for i, f := range p.Flags {
		if i == 0 {
			fmt.Fprint(&w, ".SH OPTIONS\n")
		}
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&w, ".SS %s\n", manText(group))
		}
		fmt.Fprintf(&w, ".TP\n.B %s\n%s\n", manText(strings.TrimSpace(f.names())), manText(f.description()))
	}
	if p.Examples != "" {
		fmt.Fprint(&w, ".SH EXAMPLES\n")
		writeVerbatim(&w, strings.Split(p.Examples, "\n"))
	}
	if len(p.Topics) > 0 {
		fmt.Fprint(&w, ".SH SEE ALSO\n")
		var pages []string
		for _, t := range p.Topics {
			pages = append(pages, fmt.Sprintf(".BR clew\\-%s (7)", manText(t.Name)))
		}
		fmt.Fprintln(&w, strings.Join(pages, ",\n"))
	}
	_, err := to.Write(w.Bytes())
	return err
}

func writeVerbatim(w io.Writer, lines []string) {
	fmt.Fprint(w, ".nf\n")
	for _, line := range lines {
		fmt.Fprintln(w, manText(line))
	}
	fmt.Fprint(w, ".fi\n")
}

// manText escapes a line so that groff prints it unchanged.
func manText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
