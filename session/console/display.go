// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value/expression"
)

// display is an expression that is shown at every stop.
type display struct {
	number   int
	text     string
	format   format
	locals   map[string]string // declarations of the local variables in text, by their names: see declarationOfLocal
	disabled bool
}

// localsOf returns the declarations of the local variables in an expression. Members of this need
// the variable this.
func (c *Console) localsOf(text string) map[string]string {
	f := c.current()
	if f == nil {
		return nil
	}
	list := map[string]string{}
	// Names of members are after a dot or an arrow, those of registers and of the session's variables after a $.
	names := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'|(\.|->|::|\$)?\s*\b([A-Za-z_]\w*)`)
	for _, m := range names.FindAllStringSubmatch(text, -1) {
		if m[1] != "" || m[2] == "" {
			continue
		}
		if declaration := declarationOfLocal(f, m[2]); declaration != "" {
			list[m[2]] = declaration
		}
	}
	if this := declarationOfLocal(f, "this"); this != "" {
		if _, err := expression.Compile(text, c.values.Context(nil)); err != nil {
			list["this"] = this
		}
	}
	return list
}

// declarationOfLocal returns the function and the line of the local variable that a name means in a
// frame, or "".
func declarationOfLocal(f *frontend.Frame, name string) string {
	if f.Scope == nil {
		return ""
	}
	v := f.Scope.Lookup(name)
	if v == nil {
		return ""
	}
	return fmt.Sprint(f.Scope.Function.Name, ":", v.Line)
}

// inContext reports whether the local variables of a display are those of the selected frame. As in
// gdb, a variable of another function that has the same name is not shown.
func (c *Console) inContext(d *display) bool {
	f := c.current()
	for name, declaration := range d.locals {
		if f == nil || declarationOfLocal(f, name) != declaration {
			return false
		}
	}
	return true
}

func (c *Console) displayCommand(args string) error {
	if args == "" {
		if err := c.mustBeStopped(); err != nil {
			return err
		}
		return c.showDisplays()
	}
	f, text, err := cutFormat(args)
	switch {
	case err != nil:
		return err
	case text == "":
		return errors.New("display which expression?")
	}
	d := &display{number: c.lastDisplay + 1, text: text, format: f, locals: c.localsOf(text)}
	if c.current() != nil {
		if err := c.show(d); err != nil {
			return err
		}
	}
	c.lastDisplay++
	c.displays = append(c.displays, d)
	return nil
}

// showDisplays shows the displays that can be evaluated here.
func (c *Console) showDisplays() error {
	for _, d := range c.displays {
		if !d.disabled && c.inContext(d) {
			_ = c.show(d) // fails for memory that cannot be read
		}
	}
	return nil
}

// inMemory reports whether a display shows memory, as x does.
func (d *display) inMemory() bool { return d.inBytes() || d.format.size != 0 }

// inBytes reports whether a display shows instructions or strings.
func (d *display) inBytes() bool { return d.format.letter == 'i' || d.format.letter == 's' }

// formatText returns the format with its slash and a space, or "".
func (d *display) formatText() string {
	text := ""
	if d.format.count > 0 && d.inMemory() {
		text = strconv.Itoa(d.format.count)
	}
	for _, letter := range []byte{d.format.letter, d.format.size} {
		if letter != 0 {
			text += string(letter)
		}
	}
	if text == "" {
		return ""
	}
	return "/" + text + " "
}

func (c *Console) show(d *display) error {
	if d.inMemory() {
		at, err := c.address(d.text)
		if err != nil {
			return err
		}
		end := "\n"
		if d.format.count <= 1 && d.format.letter != 'i' {
			end = "  "
		}
		c.printf("%d: x%s%s%s", d.number, d.formatText(), d.text, end)
		e := examined{next: at, letter: cmp.Or(d.format.letter, 'x'), size: d.format.size}
		if e.size == 0 && e.letter != 's' {
			e.size = 'w'
		}
		return c.examineAt(&e, max(d.format.count, 1))
	}
	v, err := c.evaluate(d.text)
	if err != nil {
		return err
	}
	text, err := c.printer(d.format.letter).Print(v)
	if err != nil {
		return err
	}
	c.printf("%d: %s%s = %s\n", d.number, d.formatText(), d.text, text)
	return nil
}

func (c *Console) undisplay(args string) error {
	if args == "" {
		c.displays = nil
		return nil
	}
	numbers, err := numbersOf(args)
	if err != nil {
		return err
	}
	var missing []error // as in gdb, the others are deleted
	for _, n := range numbers {
		i := slices.IndexFunc(c.displays, func(d *display) bool { return d.number == n })
		if i < 0 {
			missing = append(missing, fmt.Errorf("there is no display %d; \"info display\" lists them", n))
			continue
		}
		c.displays = slices.Delete(c.displays, i, i+1)
	}
	return errors.Join(missing...)
}

func (c *Console) infoDisplay(string) error {
	if len(c.displays) == 0 {
		c.printf("There are no auto-display expressions now.\n")
		return nil
	}
	c.printf("Auto-display expressions now in effect:\nNum Enb Expression\n")
	for _, d := range c.displays {
		enabled := "y"
		if d.disabled {
			enabled = "n"
		}
		format := d.formatText()
		if d.inMemory() {
			size := d.format.size
			if d.inBytes() {
				size = 'b'
			}
			format = fmt.Sprintf("/%d%c%c ", max(d.format.count, 1), size, cmp.Or(d.format.letter, 'x'))
		}
		context := ""
		if !c.inContext(d) {
			context = " (cannot be evaluated in the current context)"
		}
		c.printf("%d:   %s  %s%s%s\n", d.number, enabled, format, d.text, context)
	}
	return nil
}

// numbersOf reads a list of numbers and ranges: "1 3-5".
func numbersOf(args string) ([]int, error) {
	var list []int
	for _, word := range strings.Fields(strings.ReplaceAll(args, ",", " ")) {
		from, to, isRange := strings.Cut(word, "-")
		first, err := strconv.Atoi(from)
		if err != nil || first < 1 {
			return nil, fmt.Errorf("%q is not a number of the list, or not supported%s", word, inGDB)
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil || last < first {
				return nil, fmt.Errorf("invalid range %q", word)
			}
		}
		if last-first > 1000 {
			return nil, fmt.Errorf("the range %q is too long", word)
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}
