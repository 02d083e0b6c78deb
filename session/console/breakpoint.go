// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// breakpoint is a breakpoint or watchpoint as the console numbers them. Those of package
// session have no numbers, because they never change, while condition, ignore and commands
// change a breakpoint.
type breakpoint = frontend.Breakpoint[gdbBreakpoint]

type gdbBreakpoint struct {
	commands []string // executed at a stop

	local   bool                // a watchpoint on a local variable, which ends with the call
	nesting int                 // nested calls when local was set
	end     *session.Breakpoint // at the return of the variable's function, which ends it earlier; or nil
}

var conditions = frontend.Conditions{Everywhere: true, Variables: true, Failed: func(number int, _ string, err error) error {
	return fmt.Errorf("error in testing the condition of breakpoint %d: %w", number, err)
}}

// kindOf returns gdb's name for the kind of a breakpoint, and the short name for tables.
func kindOf(b *breakpoint) (name, short string) {
	switch w := b.Watch; {
	case w != nil && w.ReadOnly:
		return "Hardware read watchpoint", "read watchpoint"
	case w != nil && w.Access == session.ReadWrite:
		return "Hardware access (read/write) watchpoint", "acc watchpoint"
	case w != nil:
		return "Hardware watchpoint", "hw watchpoint"
	}
	name, short = "Breakpoint", "breakpoint"
	if b.Hardware {
		name, short = "Hardware assisted breakpoint", "hw breakpoint"
	}
	if b.Temporary {
		name = "Temporary " + strings.ToLower(name[:1]) + name[1:]
	}
	return name, short
}

// breakpointOf returns the breakpoint that a stop is at, or nil.
func (c *Console) breakpointOf(stop *session.Stop) *breakpoint {
	if stop == nil {
		return nil
	}
	for _, b := range c.breakpoints.At(stop) {
		if b.Watch == nil || b.Watch.Watchpoint == stop.Watchpoint {
			return b
		}
	}
	return nil
}

func isSilent(b *breakpoint) bool { return len(b.Own.commands) > 0 && b.Own.commands[0] == "silent" }

func (c *Console) reportBreakpoint(stop *session.Stop) error {
	b := c.breakpointOf(stop)
	if b == nil { // set by advance, until or breakAtEnd
		c.leftScope(stop.Breakpoint)
		c.showHere()
		return c.showDisplays()
	}
	if !isSilent(b) {
		if stop.Err != nil {
			c.printf("%v\n", stop.Err)
		}
		kind := "Breakpoint"
		if b.Temporary {
			kind, _ = kindOf(b)
		}
		c.printf("\n%s %s, ", kind, numberAt(b, stop.PC))
		c.showHere()
	}
	c.queueCommands(b)
	if b.Temporary {
		c.breakpoints.Drop(b)
	}
	if isSilent(b) {
		return nil
	}
	return c.showDisplays()
}

// queueCommands queues the commands of a breakpoint. They run after the current command.
func (c *Console) queueCommands(b *breakpoint) {
	commands := b.Own.commands
	if isSilent(b) {
		commands = commands[1:]
	}
	c.pending = slices.Clone(commands)
}

// numberAt returns the number of a breakpoint. If it has several places, the number of the
// place follows: "1.5".
func numberAt(b *breakpoint, pc uint64) string {
	if n := slices.Index(b.Set.Addresses, pc); n >= 0 && len(b.Set.Addresses) > 1 {
		return fmt.Sprintf("%d.%d", b.Number, n+1)
	}
	return strconv.Itoa(b.Number)
}

func (c *Console) breakCommand(args string) error { return c.setBreakpoint(args, false, false) }
func (c *Console) tbreak(args string) error       { return c.setBreakpoint(args, true, false) }
func (c *Console) hbreak(args string) error       { return c.setBreakpoint(args, false, true) }

func (c *Console) setBreakpoint(args string, temporary, hardware bool) error {
	location, condition := CutCondition(args)
	if location == "" {
		f, err := c.selectedFrame()
		if err != nil {
			return errors.New("break where? Name a function, a line (fib.c:3), or *ADDRESS")
		}
		location = fmt.Sprintf("*%#x", f.Physical.PC)
	}
	addresses, named, err := c.resolve(location)
	if err != nil {
		return err
	}
	b := &breakpoint{Location: location, Temporary: temporary, Hardware: hardware}
	if err := c.breakpoints.SetCondition(b, condition, addresses, nil); err != nil {
		return err
	}
	if err := c.breakpoints.Break(b, named, addresses[0]); err != nil {
		return err
	}
	c.noteOthers(b)
	c.add(b)
	kind, _ := kindOf(b)
	c.printf("%s %d at %s\n", kind, b.Number, c.place(b))
	return nil
}

// add adds a breakpoint to the table, and sets $bpnum.
func (c *Console) add(b *breakpoint) {
	c.breakpoints.Add(b)
	c.setInt("bpnum", b.Number)
}

// setInt sets a convenience variable that a command provides.
func (c *Console) setInt(name string, n int) {
	t := value.Base(jit.Host(), "int")
	_ = c.values.Set(name, value.Constant(t, binary.LittleEndian.AppendUint32(nil, uint32(n)), c.values.Outside())) // fails if there are too many
}

// noteOthers prints which breakpoints have the address of a new one, as gdb does.
func (c *Console) noteOthers(b *breakpoint) {
	for _, a := range b.Set.Addresses {
		var others []string
		for _, other := range c.breakpoints.List() {
			if other.Set != nil && slices.Contains(other.Set.Addresses, a) {
				text := strconv.Itoa(other.Number)
				if other.Disabled {
					text += " (disabled)"
				}
				others = append(others, text)
			}
		}
		noun, list := "breakpoints", ""
		switch n := len(others); n {
		case 0:
			continue
		case 1:
			noun, list = "breakpoint", others[0]
		default:
			list = strings.Join(others[:n-1], ", ") + " and " + others[n-1]
		}
		c.printf("Note: %s %s also set at pc %#x.\n", noun, list, a)
	}
}

// place describes the place of a breakpoint: "0x401136: file fib.c, line 3."
func (c *Console) place(b *breakpoint) string {
	addresses := b.Set.Addresses
	if len(addresses) > 1 {
		return fmt.Sprintf("%#x: %s. (%d locations)", addresses[0], b.Location, len(addresses))
	}
	r := frontend.Row(c.session, addresses[0])
	if r.Line == 0 {
		return fmt.Sprintf("%#x", addresses[0])
	}
	line, path := r.Line, r.File
	if n := c.namedLine(b.Location, addresses[0]); n > 0 {
		line = n
		// The row can be of an inlined function in another file.
		file := b.Location[:strings.LastIndexByte(b.Location, ':')]
		if !strings.HasSuffix(path, file) {
			path = cmp.Or(c.fileNamed(file), file)
		}
	} else if n := c.inlinedLine(addresses[0]); n > 0 && strings.Contains(b.Location, ":") {
		line = n
	}
	return fmt.Sprintf("%#x: file %s, line %d.", addresses[0], c.source.shown(path), line)
}

// inlinedLine returns the line at which the outermost inlined function at an address is declared, or
// 0. As in gdb it is the line of a breakpoint that was moved to the end of a prologue there.
func (c *Console) inlinedLine(address uint64) int {
	image := c.session.Image(address)
	if image == nil {
		return 0
	}
	info := image.Info(address)
	if info == nil {
		return 0
	}
	scopes, err := info.Scopes(address)
	if err != nil || len(scopes) < 2 || scopes[len(scopes)-2].Function == nil {
		return 0
	}
	return scopes[len(scopes)-2].Function.Line
}

// namedLine returns the line with code at an address that a location names as FILE:LINE, or 0. Optimized code
// can have rows of other lines at the address of its breakpoint.
func (c *Console) namedLine(location string, address uint64) int {
	at := strings.LastIndexByte(location, ':')
	if at <= 0 {
		return 0
	}
	line, err := strconv.Atoi(location[at+1:])
	if err != nil {
		return 0
	}
	for _, image := range c.session.Images() {
		for _, f := range image.Files() {
			if n, err := f.CodeLine(location[:at], line, address); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

func (c *Console) breakpointNumbered(text string) (*breakpoint, error) {
	n, err := strconv.Atoi(text)
	if text == "$bpnum" {
		n, err = c.breakpoints.Last(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("invalid breakpoint number %q", text)
	}
	if b := c.breakpoints.Numbered(n); b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("no breakpoint number %d", n)
}

func (c *Console) conditionCommand(args string) error {
	number, text, _ := strings.Cut(args, " ")
	b, err := c.breakpointNumbered(number)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	var addresses []uint64
	if b.Set != nil {
		addresses = b.Set.Addresses
	}
	if err := c.breakpoints.SetCondition(b, text, addresses, c.current()); err != nil {
		return err
	}
	if text == "" {
		c.printf("Breakpoint %d now unconditional.\n", b.Number)
	}
	return nil
}

func (c *Console) ignoreCommand(args string) error {
	number, text, _ := strings.Cut(args, " ")
	b, err := c.breakpointNumbered(number)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return errors.New("expected a number of crossings: \"ignore 1 5\"")
	}
	b.Ignore = max(n, 0)
	c.printf("%s\n", ignoreText(b))
	return nil
}

func ignoreText(b *breakpoint) string {
	switch b.Ignore {
	case 0:
		return fmt.Sprintf("Will stop next time breakpoint %d is reached.", b.Number)
	case 1:
		return fmt.Sprintf("Will ignore next crossing of breakpoint %d.", b.Number)
	}
	return fmt.Sprintf("Will ignore next %d crossings of breakpoint %d.", b.Ignore, b.Number)
}

// each calls do with the breakpoints that args name, or all. As in gdb, a number without a breakpoint
// does not affect the others.
func (c *Console) each(args string, do func(b *breakpoint) error) error {
	args = strings.TrimSpace(strings.TrimPrefix(args, "breakpoints"))
	list := c.breakpoints.List()
	var missing []error
	if args != "" {
		numbers, err := numbersOf(args)
		if err != nil {
			return err
		}
		list = list[:0]
		for _, n := range numbers {
			b, err := c.breakpointNumbered(strconv.Itoa(n))
			if err != nil {
				missing = append(missing, err)
				continue
			}
			list = append(list, b)
		}
	}
	for _, b := range list {
		if err := do(b); err != nil {
			return err
		}
	}
	return errors.Join(missing...)
}

func (c *Console) deleteCommand(args string) error {
	if numbers, ok := strings.CutPrefix(args, "display"); ok {
		return c.undisplay(strings.TrimSpace(numbers))
	}
	return c.each(args, c.remove)
}

func (c *Console) remove(b *breakpoint) error {
	if b.Own.end != nil {
		_ = c.session.Remove(b.Own.end.ID)
	}
	c.breakpoints.Drop(b)
	return c.breakpoints.Unset(b)
}

func (c *Console) enableCommand(args string) error  { return c.enable(args, true) }
func (c *Console) disableCommand(args string) error { return c.enable(args, false) }

func (c *Console) enable(args string, on bool) error {
	if list, ok := strings.CutPrefix(args, "display"); ok {
		numbers, err := numbersOf(list)
		if err != nil {
			return err
		}
		for _, d := range c.displays {
			if len(numbers) == 0 || slices.Contains(numbers, d.number) {
				d.disabled = !on
			}
		}
		return nil
	}
	return c.each(args, func(b *breakpoint) error { return c.breakpoints.Enable(b, on) })
}

func (c *Console) commandsCommand(args string) error {
	list := c.breakpoints.List()
	if args == "" && len(list) == 0 {
		return errors.New("no breakpoints specified")
	}
	if args != "" {
		b, err := c.breakpointNumbered(args)
		if err != nil {
			return err
		}
		list = []*breakpoint{b}
	}
	c.block = &block{breakpoint: list[len(list)-1]}
	return nil
}

func (c *Console) infoBreakpoints(args string) error {
	return c.breakpointTable(args, "breakpoints or watchpoints", func(*breakpoint) bool { return true })
}

func (c *Console) infoWatchpoints(args string) error {
	return c.breakpointTable(args, "watchpoints", func(b *breakpoint) bool { return b.Watch != nil })
}

func (c *Console) breakpointTable(args, noun string, wanted func(*breakpoint) bool) error {
	var list []*breakpoint
	err := c.each(args, func(b *breakpoint) error {
		if wanted(b) {
			list = append(list, b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		c.printf("No %s.\n", noun)
		return nil
	}
	width := 14
	for _, b := range list {
		_, kind := kindOf(b)
		width = max(width, len(kind))
	}
	c.printf("%-7s %-*s %-4s %-3s %-18s %s\n", "Num", width, "Type", "Disp", "Enb", "Address", "What")
	for _, b := range list {
		c.breakpointRow(b, width)
		if b.Set != nil {
			c.setNext(b.Set.Addresses[len(b.Set.Addresses)-1])
		}
	}
	return nil
}

func (c *Console) breakpointRow(b *breakpoint, width int) {
	_, kind := kindOf(b)
	disposition, enabled := "keep", "y"
	if b.Temporary {
		disposition = "del"
	}
	if b.Disabled {
		enabled = "n"
	}
	row := fmt.Sprintf("%-7d %-*s %-4s %-3s ", b.Number, width, kind, disposition, enabled)
	switch {
	case b.Watch != nil:
		c.printf("%s%-18s %s\n", row, "", b.Location)
	case len(b.Set.Addresses) > 1:
		c.printf("%s%-18s %s\n", row, "<MULTIPLE>", "")
	default:
		c.printf("%s0x%016x %s\n", row, b.Set.Addresses[0], c.describe(b.Set.Addresses[0]))
	}
	if text := b.Condition(); text != "" {
		c.printf("\tstop only if %s\n", text)
	}
	if b.Hits > 0 {
		c.printf("\tbreakpoint already hit %s\n", plural(b.Hits, "time"))
	}
	if b.Ignore > 0 {
		c.printf("\tignore next %d hits\n", b.Ignore)
	}
	for _, line := range b.Own.commands {
		c.printf("        %s\n", line)
	}
	if b.Set != nil && len(b.Set.Addresses) > 1 {
		for i, a := range b.Set.Addresses {
			c.printf("%-7s %-*s %-4s %-3s 0x%016x %s\n", fmt.Sprintf("%d.%d", b.Number, i+1), width, "", "", "y", a, c.describe(a))
		}
	}
}

// describe describes the place of an address: "in fib at fib.c:3".
func (c *Console) describe(address uint64) string {
	image := c.session.Image(address)
	r := frontend.Row(c.session, address)
	if image != nil && r.Line > 0 {
		return fmt.Sprintf("in %s at %s:%d", functionAt(image, address), c.source.shown(r.File), r.Line)
	}
	return strings.TrimSpace(c.angle(address))
}

// functionAt returns the name of the function at an address. The symbol of a copy of a function of C
// has a suffix, as in mix.constprop.0.
func functionAt(image *session.Image, address uint64) string {
	if info := image.Info(address); info != nil {
		if fn, err := info.FunctionAt(address); err == nil && fn.Language == value.C {
			return fn.Name
		}
	}
	f, _ := image.Function(address)
	return style.DemangleCode(f.Name)
}

// placeOf describes an address that has a source line: "in fib (fib.c:3)".
func (c *Console) placeOf(address uint64) string {
	r := frontend.Row(c.session, address)
	place := fmt.Sprintf("%s:%d", c.source.shown(r.File), r.Line)
	if image := c.session.Image(address); image != nil {
		return fmt.Sprintf("in %s (%s)", functionAt(image, address), place)
	}
	return "at " + place
}
