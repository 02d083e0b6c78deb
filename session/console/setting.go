// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
)

// set assigns, or changes a setting.
func (c *Console) set(args string) error {
	word, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "var", "variable":
		args = rest
	case "listsize":
		return c.setListSize(rest)
	case "confirm", "pagination", "height", "width", "style":
		return nil // scripts for gdb have these; they do nothing here
	case "print": // not an error, because scripts for gdb have these too
		c.printf("The setting \"print %s\" has no effect here%s.\n", rest, inGDB)
		return nil
	case "unwindonsignal", "unwind-on-signal":
		switch rest {
		case "", "on", "1", "yes", "enable":
			c.unwind = true
		case "off", "0", "no", "disable":
			c.unwind = false
		default:
			return fmt.Errorf("\"on\" or \"off\" expected, got %q", rest)
		}
		return nil
	case "args", "logging":
		return fmt.Errorf("the setting %q is not supported%s", word, inGDB)
	}
	if args == "" {
		return errors.New("set what? \"set var x = 5\", \"set $rax = 5\", \"set listsize 20\"")
	}
	oldPC := c.programCounter()
	e, f, err := c.compile(args)
	if err == nil {
		if !e.IsAssignment() {
			c.printf("warning: Expression is not an assignment (and might have no effect)\n")
		}
		_, err = e.Evaluate(f)
	}
	if err != nil {
		if !strings.Contains(args, "=") {
			return fmt.Errorf("%w%s", err, inGDB) // a setting of gdb
		}
		return err
	}
	if c.programCounter() != oldPC {
		c.selected = 0
	}
	c.frames.Forget() // names and callers may have changed
	return nil
}

func (c *Console) setListSize(text string) error {
	switch text {
	case "":
		return errors.New("argument required (integer to set it to, or \"unlimited\")")
	case "unlimited", "-1":
		c.listSize = 0
		return nil
	}
	v, err := c.evaluate(text)
	if err != nil {
		return err
	}
	n, err := v.Uint()
	if err != nil {
		return err
	}
	if size := int64(n); size == -1 {
		c.listSize = 0
	} else if size < 0 || size > math.MaxInt32 {
		return fmt.Errorf("integer %d out of range", size)
	} else {
		c.listSize = int(min(size, maxSource))
	}
	return nil
}

// showCommand prints a setting, the history or the variables of the console, as gdb's show does.
func (c *Console) showCommand(args string) error {
	name, rest := splitCommand(args)
	switch name {
	case "":
		return errors.New("show what? One of: confirm, convenience, directories, height, listsize, pagination, values, width")
	case "confirm":
		c.printf("Whether to confirm potentially dangerous operations is off.\n")
	case "convenience", "conv":
		c.showConvenience()
	case "directories":
		c.printf("Source directories searched: %s\n", strings.Join(append(slices.Clone(c.source.directories), "$cdir", "$cwd"), ":"))
	case "height":
		c.printf("Number of lines gdb thinks are in a page is unlimited.\n")
	case "listsize":
		size := "unlimited"
		if c.listSize > 0 {
			size = strconv.Itoa(c.listSize)
		}
		c.printf("Number of source lines gdb will list by default is %s.\n", size)
	case "pagination":
		c.printf("State of pagination is off.\n")
	case "unwindonsignal", "unwind-on-signal":
		c.printf("Unwinding of stack if a signal is received while in a call dummy is %s.\n", map[bool]string{true: "on", false: "off"}[c.unwind])
	case "values":
		return c.showValues(rest)
	case "width":
		c.printf("Number of characters gdb thinks are in a line is unlimited.\n")
	default:
		return fmt.Errorf("undefined show command: %q; \"show\" lists them%s", name, inGDB)
	}
	return nil
}

// showConvenience prints the convenience variables.
func (c *Console) showConvenience() {
	list := slices.Sorted(maps.Keys(c.values.Convenience))
	if len(list) == 0 {
		c.printf("No convenience variables now defined.\n" +
			"Convenience variables have prefix characters like \"$foo\" and are set by \"set $foo = 5\".\n")
	}
	for _, name := range list {
		c.printf("$%s = %s\n", name, c.shownValue(c.values.Convenience[name]))
	}
}

// showValues prints ten values of the history: those around a number, or the last.
func (c *Console) showValues(text string) error {
	const shown = 10
	first := c.values.Recorded() - shown + 1
	if text != "" {
		v, err := c.evaluate(text)
		if err != nil {
			return err
		}
		n, err := v.Uint()
		if err != nil {
			return err
		}
		first = int(min(n, math.MaxInt32)) - shown/2
	}
	first = max(first, 1)
	for n := first; n < first+shown && n <= c.values.Recorded(); n++ {
		v, _ := c.values.Past(n, false)
		c.printf("$%d = %s\n", n, c.shownValue(v))
	}
	return nil
}

// shownValue returns the text that print shows of a value.
func (c *Console) shownValue(v value.Value) string {
	text, err := c.printer(0).Print(v)
	if err != nil {
		return "<error: " + err.Error() + ">"
	}
	return text
}
