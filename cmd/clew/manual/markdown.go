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

// WriteMarkdown writes the page as Markdown. Links lead to other pages in the same folder, see
// [Page.MarkdownName].
func (p *Page) WriteMarkdown(to io.Writer) error {
	var w bytes.Buffer
	fmt.Fprintf(&w, "# %s\n\n%s\n", p.Name, p.Summary)
	for _, b := range blocks(p.Description) {
		if b.verbatim {
			writeFence(&w, b.lines)
			continue
		}
		fmt.Fprintln(&w)
		for _, line := range b.lines {
			fmt.Fprintln(&w, markdownText(line))
		}
	}
	if p.Usage != "" {
		fmt.Fprint(&w, "\n## Usage\n")
		writeFence(&w, strings.Split(p.Usage, "\n"))
	}
	if p.Examples != "" {
		fmt.Fprint(&w, "\n## Examples\n")
		writeFence(&w, strings.Split(p.Examples, "\n"))
	}
	if len(p.Commands) > 0 {
		fmt.Fprint(&w, "\n## Commands\n\n")
		for _, c := range p.Commands {
			page := Page{Name: p.Name + " " + c.Name, Usage: "a command"}
			fmt.Fprintf(&w, "- [%s](%s): %s\n", c.Name, page.MarkdownName(), markdownText(c.Summary))
		}
	}
	group := ""
	for i, f := range p.Flags {
		if f.Group != group || i == 0 {
			group = f.Group
			fmt.Fprintf(&w, "\n## %s\n\n| flag | what it does |\n|---|---|\n", flagHeading(group))
		}
		fmt.Fprintf(&w, "| `%s` | %s |\n", strings.TrimSpace(f.names()), strings.ReplaceAll(markdownText(f.description()), "|", `\|`))
	}
	if len(p.Topics) > 0 {
		fmt.Fprint(&w, "\n## See also\n\n")
		for _, t := range p.Topics {
			fmt.Fprintf(&w, "- [%s](%s.md): %s\n", t.Name, t.Name, markdownText(t.Summary))
		}
	}
	_, err := to.Write(w.Bytes())
	return err
}

// MarkdownName returns the name of the page's Markdown file: clew-stack.md, or frames.md for a topic.
func (p *Page) MarkdownName() string {
	return strings.ReplaceAll(p.Name, " ", "-") + ".md"
}

func writeFence(w io.Writer, lines []string) {
	fmt.Fprint(w, "\n```text\n")
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	fmt.Fprint(w, "```\n")
}

// markdownText escapes the characters of Markdown's markup.
func markdownText(s string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "[", `\[`, "_", `\_`).Replace(s)
}
