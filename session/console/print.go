// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// formats are the format letters of print.
const formats = "xduotzcafs"

// printOptions are gdb's options of print. They change how a value is shown.
var printOptions = map[string]bool{
	"-address": true, "-array": true, "-array-indexes": true, "-elements": true, "-max-depth": true, "-null-stop": true,
	"-object": true, "-pretty": true, "-raw-values": true, "-repeats": true, "-static-members": true, "-symbol": true, "-union": true, "-vtbl": true,
}

// raw is the format letter that shows values of the C++ and Rust libraries as their members.
const raw = 'r'

func (c *Console) print(args string) error {
	if f, _, err := cutFormat(args); err == nil && strings.IndexByte(formats, f.letter) >= 0 {
		c.examined.letter, c.examined.size = f.letter, cmp.Or(c.examined.size, 'w') // of x, as in gdb
	}
	text, v, err := c.printed(args)
	if err != nil || v.Type() == nil {
		return err
	}
	c.printf("$%d = %s\n", c.values.Record(v), text)
	return nil
}

func (c *Console) output(args string) error {
	text, _, err := c.printed(args)
	if err == nil {
		c.printf("%s", text)
	}
	return err
}

// formatted is a part of the format of printf: text, or a conversion with flags for one value.
type formatted struct {
	text       string // "%5d" without the length of the type
	conversion byte   // 0 for text
	length     string // "", h, l, ll, L or z
}

// printfCommand prints values by a format of C (GDB manual, "Commands for Controlled Output").
func (c *Console) printfCommand(args string) error {
	if args == "" {
		return errors.New("argument required (format-control string and values to print)")
	}
	if args[0] != '"' {
		return errors.New("bad format string, missing '\"'")
	}
	n := quotedLength(args)
	if n == 0 {
		return errors.New("bad format string, non-terminated '\"'")
	}
	rest := strings.TrimSpace(args[n:])
	if rest != "" && rest[0] != ',' {
		return errors.New("invalid argument syntax")
	}
	parts, err := parseFormat(args[1 : n-1])
	if err != nil {
		return err
	}
	conversions := 0
	for _, p := range parts {
		if p.conversion != 0 {
			conversions++
		}
	}
	var texts []string
	if rest = strings.TrimSpace(strings.TrimPrefix(rest, ",")); rest != "" {
		if _, texts, err = splitCall("printf(" + rest + ")"); err != nil {
			return err
		}
	}
	if len(texts) != conversions {
		return errors.New("wrong number of arguments for specified format-string")
	}
	var values []value.Value
	for _, text := range texts {
		v, err := c.evaluate(text)
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	for _, p := range parts {
		if p.conversion == 0 {
			c.printf("%s", p.text)
			continue
		}
		text, err := c.convert(p, values[0])
		if err != nil {
			return err
		}
		c.printf("%s", text)
		values = values[1:]
	}
	return nil
}

// maxPrecision bounds the width and the precision of a conversion.
const maxPrecision = 1 << 12

// parseFormat splits the format of printf, without its quotes.
func parseFormat(s string) (parts []formatted, err error) {
	const escapes, meanings = "\\abefnrtv\"", "\\\a\b\x1b\f\n\r\t\v\""
	text := ""
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			if i++; i == len(s) {
				return nil, errors.New("bad format string, non-terminated '\"'")
			}
			at := strings.IndexByte(escapes, s[i])
			if at < 0 {
				return nil, fmt.Errorf("unrecognized escape character \\%c in format string", s[i])
			}
			text += meanings[at : at+1]
		case s[i] != '%':
			text += s[i : i+1]
		case i+1 < len(s) && s[i+1] == '%':
			text += "%"
			i++
		default:
			p, n, err := parseConversion(s[i:])
			if err != nil {
				return nil, err
			}
			parts = append(parts, formatted{text: text}, p)
			text = ""
			i += n - 1
		}
	}
	return append(parts, formatted{text: text}), nil
}

// parseConversion parses a conversion at the start of s and returns its length.
func parseConversion(s string) (p formatted, n int, err error) {
	n = 1 + len(s[1:]) - len(strings.TrimLeft(s[1:], "-+ #0"))
	flags := s[1:n]
	for precision := range 2 {
		digits := n
		if precision == 1 {
			if n == len(s) || s[n] != '.' {
				break
			}
			n++
			digits = n
		}
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n < len(s) && s[n] == '*' {
			return p, 0, errors.New("`*' not supported for precision or width in printf")
		}
		if size, _ := strconv.Atoi(s[digits:n]); size > maxPrecision || n-digits > 9 {
			return p, 0, fmt.Errorf("a width or precision exceeds %d", maxPrecision)
		}
	}
	p.text = s[:n]
	for _, length := range []string{"h", "ll", "l", "L", "z"} {
		if strings.HasPrefix(s[n:], length) {
			p.length = length
			n += len(length)
			break
		}
	}
	if n == len(s) {
		return p, 0, errors.New("incomplete format specifier at end of format string")
	}
	p.conversion = s[n]
	inappropriate := false
	switch p.conversion {
	case 'd', 'i':
		p.text = strings.ReplaceAll(p.text, "#", "") + "d" // it has no meaning, as in C
		inappropriate = p.length == "L"
	case 'o', 'x', 'X', 'u':
		p.text += string(p.conversion)
		if p.conversion == 'u' {
			p.text = p.text[:len(p.text)-1] + "d"
		}
		inappropriate = p.length == "L" || strings.ContainsAny(flags, "+ ") || p.conversion == 'u' && strings.Contains(flags, "#")
	case 'e', 'f', 'g', 'E', 'G':
		p.text += string(p.conversion)
		inappropriate = p.length != "" && p.length != "L"
	case 'c', 's':
		p.text += "s"
		inappropriate = p.length != "" && p.length != "l" || strings.ContainsAny(flags, "+ #0") || p.conversion == 'c' && strings.Contains(p.text, ".")
	case 'p':
		p.text += "s"
		inappropriate = p.length != "" || strings.ContainsAny(flags, "+ #0") || strings.Contains(p.text, ".")
	case 'n':
		return p, 0, errors.New("format specifier `n' not supported in printf")
	default:
		return p, 0, fmt.Errorf("unrecognized format specifier '%c' in printf", s[n])
	}
	if inappropriate {
		return p, 0, fmt.Errorf("inappropriate modifiers to format specifier '%c' in printf", s[n])
	}
	return p, n + 1, nil
}

// convert formats a value by a conversion.
func (c *Console) convert(p formatted, v value.Value) (string, error) {
	if p.conversion == 's' {
		text, err := c.stringAt(v)
		return fmt.Sprintf(p.text, text), err
	}
	v = v.Decay()
	if strings.IndexByte("efgEG", p.conversion) >= 0 {
		n, err := floatOf(v)
		switch {
		case err != nil:
			return "", err
		case math.IsInf(n, 0) || math.IsNaN(n):
			return p.notFinite(n), nil
		case p.conversion == 'g' || p.conversion == 'G':
			return cStyle(p.text, n), nil
		}
		return fmt.Sprintf(p.text, n), nil
	}
	n, err := v.Uint()
	if err != nil {
		f, failed := v.Float()
		if failed != nil {
			if errors.Is(err, value.ErrOptimizedOut) {
				return "", errors.New("value has been optimized out")
			}
			return "", errors.New("value can't be converted to integer")
		}
		n = uint64(int64(f))
	}
	switch {
	case p.conversion == 'c' && byte(n) == 0:
		return fmt.Sprintf(p.text, ""), nil
	case p.conversion == 'c' && p.length == "":
		return fmt.Sprintf(p.text, string([]byte{byte(n)})), nil
	case p.conversion == 'c':
		return fmt.Sprintf(p.text, string(rune(n))), nil
	case p.conversion == 'p' && n == 0:
		return fmt.Sprintf(p.text, "(nil)"), nil
	case p.conversion == 'p':
		return fmt.Sprintf(p.text, fmt.Sprintf("%#x", n)), nil
	}
	isSigned := p.conversion == 'd' || p.conversion == 'i'
	switch {
	case p.length == "h" && isSigned:
		n = uint64(int16(n))
	case p.length == "h":
		n = uint64(uint16(n))
	case p.length == "" && isSigned:
		n = uint64(int32(n))
	case p.length == "":
		n = uint64(uint32(n))
	}
	if isSigned {
		return fmt.Sprintf(p.text, int64(n)), nil
	}
	if n == 0 {
		p.text = strings.ReplaceAll(p.text, "#", "") // C: no prefix of 0
	}
	return fmt.Sprintf(p.text, n), nil
}

// notFinite formats an infinity or a NaN as C does: "-inf", "nan", padded with spaces.
func (p formatted) notFinite(n float64) string {
	width := strings.TrimLeft(p.text[1:len(p.text)-1], "-+ #0")
	flags := p.text[1 : len(p.text)-1-len(width)]
	text := "inf"
	if math.IsNaN(n) {
		text = "nan"
	}
	switch {
	case math.Signbit(n):
		text = "-" + text
	case strings.Contains(flags, "+"):
		text = "+" + text
	case strings.Contains(flags, " "):
		text = " " + text
	}
	if p.conversion == 'E' || p.conversion == 'G' {
		text = strings.ToUpper(text)
	}
	width, _, _ = strings.Cut(width, ".")
	if strings.Contains(flags, "-") {
		width = "-" + width
	}
	return fmt.Sprintf("%"+width+"s", text)
}

// floatOf returns a value as a floating-point number. gdb reads the bytes of an integer as a
// number of the same size.
func floatOf(v value.Value) (float64, error) {
	b, err := v.Bytes()
	if v.Type().Strip().Kind() == value.Float {
		n, failed := v.Float()
		if size := len(b); err == nil && math.IsNaN(n) && size > 0 { // with its sign
			top := size - 1
			if size == 16 && jit.Host().ELF == elf.EM_X86_64 {
				top = 9 // an x87 number and its padding
			}
			n = math.Copysign(n, float64(1-2*int(b[top]>>7)))
		}
		return n, failed
	}
	if err != nil {
		return 0, err
	}
	switch n := frontend.Word(b[:min(len(b), 8)]); len(b) {
	case 4:
		return float64(math.Float32frombits(uint32(n))), nil
	case 8:
		return math.Float64frombits(n), nil
	}
	if n, err := v.Float(); err == nil && v.Type().Strip().Kind() != value.Pointer {
		return n, nil
	}
	return 0, errors.New("invalid floating value found in program")
}

// cStyle formats a number by %g of C: with six digits unless the format has another precision.
func cStyle(format string, n float64) string {
	if !strings.Contains(format, ".") {
		format = format[:len(format)-1] + ".6" + format[len(format)-1:]
	}
	return fmt.Sprintf(format, n)
}

// stringAt returns the text of an array, or at an address up to its zero.
func (c *Console) stringAt(v value.Value) (string, error) {
	if _, ok := v.Address(); !ok && v.Type().Strip().Kind() == value.Array {
		b, err := v.Bytes()
		text, _, _ := strings.Cut(string(b), "\x00")
		return text, err
	}
	address, err := v.Decay().Uint()
	if err != nil {
		return "", err
	}
	if address == 0 {
		return "(null)", nil
	}
	var text []byte
	for p := make([]byte, 1); len(text) < value.MaxSize; text = append(text, p[0]) {
		at := address + uint64(len(text))
		if err := c.session.ReadMemory(p, at); err != nil {
			return "", fmt.Errorf("cannot access memory at address %#x", at)
		}
		if p[0] == 0 {
			break
		}
	}
	return string(text), nil
}

func (c *Console) printed(args string) (string, value.Value, error) {
	f, text, err := cutFormat(args)
	switch {
	case err != nil:
		return "", value.Value{}, err
	case f.size != 0 || f.count != 0:
		return "", value.Value{}, errors.New("size letters and counts are for the command x; write an array as x@10")
	case f.letter != 0 && f.letter != raw && strings.IndexByte(formats, f.letter) < 0:
		return "", value.Value{}, fmt.Errorf("undefined format letter %q; expected one of %s", f.letter, strings.Join(strings.Split(formats, ""), " "))
	case text == "":
		text = "$"
	}
	if word, _, _ := strings.Cut(text, " "); printOptions[word] {
		return "", value.Value{}, fmt.Errorf("the option %s of print is not supported%s", word, inGDB)
	}
	v, err := c.evaluate(text)
	if err != nil {
		if _, ok := c.language.(*cLanguage); !ok && c.isCall(text) && c.session.State() != session.Stopped {
			return "", value.Value{}, c.call(text)
		}
		return "", value.Value{}, err
	}
	if v.Type() != nil && f.letter == 0 && flagNames[v.Type().Name()] != nil {
		n, err := v.Uint()
		return flags(n, flagNames[v.Type().Name()]), v, err
	}
	s, err := c.printer(f.letter).Print(v)
	return s, v, err
}

// isCall reports whether a text is the call of a function.
func (c *Console) isCall(text string) bool {
	name, _, err := splitCall(text)
	if err != nil || !strings.Contains(text, "(") {
		return false
	}
	_, ok := c.session.Symbol(name)
	return ok
}

func (c *Console) programCounter() uint64 {
	if r, err := c.session.Registers(); err == nil {
		return r.PC()
	}
	return 0
}

// typed returns the type of an expression, and reports whether the expression is a type.
func (c *Console) typed(args string) (t *value.Type, isType bool, err error) {
	if args == "" {
		args = "$"
	}
	e, f, err := c.compile(args)
	if err != nil {
		return nil, false, err
	}
	if t, err = e.Type(); err == nil || e.IsType() || e.HasEffects() { // a type never needs a call or a change
		return t, e.IsType(), err
	}
	v, err := e.Evaluate(f)
	if err != nil {
		return nil, false, err
	}
	return v.Type(), false, nil
}

func (c *Console) whatis(args string) error {
	t, isType, err := c.typed(args)
	if err != nil {
		return err
	}
	// gdb shows the target of a typedef that is given by name.
	if isType && t.Kind() == value.Typedef {
		t = t.Elem()
	}
	c.printf("type = %s\n", t)
	return nil
}

func (c *Console) ptype(args string) error {
	t, _, err := c.typed(args)
	if err != nil {
		return err
	}
	if name, ok := libraryClass(t); ok {
		return fmt.Errorf("ptype does not print classes of the C++ library: %s (\"clew debug --gdb\" prints it in full; print/r shows the members of a value)", name)
	}
	if flagNames[t.Name()] != nil {
		return fmt.Errorf("ptype does not print the flags of %s; \"clew debug --gdb\" does", t.Name())
	}
	c.printf("type = %s\n", typeText(t))
	return nil
}

// printLocals prints the local variables of a frame whose names match, each after a prefix.
func (c *Console) printLocals(f *frontend.Frame, prefix string, names *regexp.Regexp) {
	var lines []string
	if f.Scope != nil {
		p := c.printer(0)
		for _, block := range f.Scope.Blocks {
			for _, v := range block.Variables {
				if names == nil || names.MatchString(v.Name) {
					lines = append(lines, p.Variable(v, f.Physical))
				}
			}
		}
	}
	if l, ok := c.language.(LocalsLanguage); ok {
		for _, line := range l.Locals(f.Physical) {
			if name, _, _ := strings.Cut(line, " = "); names == nil || names.MatchString(name) {
				lines = append(lines, line)
			}
		}
	}
	for _, line := range lines {
		c.printf("%s%s\n", prefix, line)
	}
	switch {
	case len(lines) > 0:
	case names != nil:
		c.printf("No matching locals.\n")
	case f.Scope == nil:
		c.printf("No symbol table info available.\n")
	default:
		c.printf("No locals.\n")
	}
}

// namesMatching compiles the regular expression of info locals and info args, nil for "".
func namesMatching(args string) (*regexp.Regexp, error) {
	switch {
	case args == "":
		return nil, nil
	case strings.HasPrefix(args, "-"):
		return nil, fmt.Errorf("the option %s is not supported%s", strings.Fields(args)[0], inGDB)
	}
	names, err := regexp.Compile(args)
	if err != nil {
		return nil, fmt.Errorf("%q is not a regular expression: %w", args, err)
	}
	return names, nil
}

// LocalsLanguage is a Language that knows local variables without debugging information.
type LocalsLanguage interface {
	Language
	// Locals returns a line for each local variable of a frame: "x = 5".
	Locals(f *session.Frame) []string
}

func (c *Console) infoLocals(args string) error {
	names, err := namesMatching(args)
	if err != nil {
		return err
	}
	f, err := c.selectedFrame()
	if err == nil {
		c.printLocals(f, "", names)
	}
	return err
}

func (c *Console) infoArguments(args string) error {
	names, err := namesMatching(args)
	if err != nil {
		return err
	}
	f, err := c.selectedFrame()
	switch {
	case err != nil:
		return err
	case f.Scope == nil:
		c.printf("No symbol table info available.\n")
		return nil
	case len(f.Scope.Arguments) == 0:
		c.printf("No arguments.\n")
		return nil
	}
	p, found := c.printer(0), false
	for _, v := range f.Scope.Arguments {
		if names == nil || names.MatchString(v.Name) {
			c.printf("%s\n", p.Variable(v, f.Physical))
			found = true
		}
	}
	if !found {
		c.printf("No matching arguments.\n")
	}
	return nil
}
