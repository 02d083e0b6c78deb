// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

// LogMessage is the text of a logpoint, with expressions in braces: "x is {x}".
type LogMessage struct{ parts []logPart }

// logPart is an expression, or text if expression is nil.
type logPart struct {
	text       string
	expression *located
}

// LogMessage compiles a log message for the addresses of a breakpoint. A backslash
// before a brace makes it text.
func (t *Breakpoints[T]) LogMessage(text string, addresses []uint64) (*LogMessage, error) {
	parts, err := splitLog(text)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if p.expression != nil {
			if parts[i].expression, err = t.values.locate(p.text, addresses, nil, &t.policy); err != nil {
				return nil, fmt.Errorf("{%s}: %w", p.text, err)
			}
		}
	}
	return &LogMessage{parts}, nil
}

// Text returns the message for a frame that has reached the breakpoint. show returns
// the text of a value.
func (m *LogMessage) Text(f *session.Frame, show func(value.Value) string) string {
	var b strings.Builder
	for _, p := range m.parts {
		if p.expression == nil {
			b.WriteString(p.text)
			continue
		}
		c := p.expression.compiledFor(f)
		if c.err != nil {
			b.WriteString("{" + p.text + "}")
			continue
		}
		v, err := c.expression.Evaluate(f)
		if err != nil {
			b.WriteString("<" + err.Error() + ">")
			continue
		}
		b.WriteString(show(v))
	}
	return b.String()
}

// splitLog splits a log message at its braces. It does not compile the expressions.
func splitLog(text string) ([]logPart, error) {
	var parts []logPart
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, logPart{text: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`{}\`, text[i+1]) >= 0:
			i++
			literal.WriteByte(text[i])
		case text[i] == '{':
			end, depth := i+1, 1
			for ; end < len(text); end++ {
				if text[end] == '{' {
					depth++
				} else if text[end] == '}' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if depth > 0 {
				return nil, fmt.Errorf("log message: no } for the { in %q", text[i:])
			}
			flush()
			parts = append(parts, logPart{text: text[i+1 : end], expression: &located{}})
			i = end
		default:
			literal.WriteByte(text[i])
		}
	}
	flush()
	return parts, nil
}
