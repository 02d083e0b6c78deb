// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxFormatted bounds the output of one printf, in bytes. A width can demand gigabytes.
const maxFormatted = 1 << 20

var errFormatted = errors.New("the formatted text exceeds 1 MiB")

// format formats the arguments of a variadic function (C11 §7.21.6.1). Argument n is the
// format; its values follow.
func format(c call, n int) ([]byte, error) {
	text, err := readString(c, c.Word(n))
	if err != nil {
		return nil, err
	}
	f := &formatter{call: c, word: n + 1}
	for text != "" && err == nil {
		before, rest, found := strings.Cut(text, "%")
		f.out = append(f.out, before...)
		if text = rest; found {
			text, err = f.directive(rest)
		}
		if len(f.out) > maxFormatted {
			err = errFormatted
		}
	}
	return f.out, err
}

type formatter struct {
	call  call
	word  int // index of the next integer argument
	float int // index of the next floating-point argument
	out   []byte
}

func (f *formatter) nextWord() uint64 {
	f.word++
	return f.call.Word(f.word - 1)
}

// directive is a conversion specification, without its % and conversion specifier.
type directive struct {
	minus, plus, space, sharp, zero bool
	width, precision                int // precision -1: none
	length                          string
}

// directive formats one conversion. text begins after the %. It returns the text after
// the conversion.
func (f *formatter) directive(text string) (after string, err error) {
	after = strings.TrimLeft(text, "-+ #0")
	flags := text[:len(text)-len(after)]
	has := func(flag string) bool { return strings.Contains(flags, flag) }
	d := directive{minus: has("-"), plus: has("+"), space: has(" "), sharp: has("#"), zero: has("0"), precision: -1}
	d.width, after = f.number(after)
	if d.width < 0 {
		d.minus, d.width = true, -d.width
	}
	if number, ok := strings.CutPrefix(after, "."); ok {
		d.precision, after = f.number(number)
	}
	if d.width > maxFormatted || d.precision > maxFormatted {
		return "", errFormatted
	}
	specifier := strings.TrimLeft(after, "hljztqL")
	d.length = after[:len(after)-len(specifier)]
	if specifier == "" {
		return "", errors.New("the format ends inside a conversion")
	}
	return specifier[1:], f.convert(d, specifier[0])
}

// number reads the number at the start of a text, 0 if there is none; for a * it takes an
// argument.
func (f *formatter) number(text string) (n int, after string) {
	if after, ok := strings.CutPrefix(text, "*"); ok {
		return int(int32(f.nextWord())), after
	}
	after = strings.TrimLeft(text, "0123456789")
	for _, digit := range text[:len(text)-len(after)] {
		n = min(n*10+int(digit-'0'), 2*maxFormatted)
	}
	return n, after
}

func (f *formatter) convert(d directive, verb byte) error {
	switch verb {
	case '%':
		f.out = append(f.out, '%')
	case 'd', 'i':
		n := d.signed(f.nextWord())
		d.pad(f, d.sign(n < 0), d.digits(strings.TrimPrefix(strconv.FormatInt(n, 10), "-")), d.precision < 0)
	case 'u':
		d.pad(f, "", d.digits(strconv.FormatUint(d.unsigned(f.nextWord()), 10)), d.precision < 0)
	case 'x', 'X', 'o':
		n := d.unsigned(f.nextWord())
		text, sign := d.digits(fmt.Sprintf("%"+string(verb), n)), ""
		switch {
		case d.sharp && verb == 'o' && !strings.HasPrefix(text, "0"):
			text = "0" + text
		case d.sharp && verb != 'o' && n != 0:
			sign = "0" + string(verb)
		}
		d.pad(f, sign, text, d.precision < 0)
	case 'c':
		d.pad(f, "", string([]byte{byte(f.nextWord())}), false)
	case 's':
		text, err := f.text(d)
		if err != nil {
			return err
		}
		d.pad(f, "", text, false)
	case 'p':
		text := "(nil)"
		if p := f.nextWord(); p != 0 {
			text = fmt.Sprintf("%#x", p)
		}
		d.pad(f, "", text, false)
	case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		if d.length == "L" {
			return errors.New("%L: long double is not supported")
		}
		x := f.call.Float(f.float)
		f.float++
		text := d.float(math.Abs(x), verb)
		d.pad(f, d.sign(math.Signbit(x)), text, !math.IsInf(x, 0) && !math.IsNaN(x))
	default:
		return fmt.Errorf("%%%c is not supported", verb)
	}
	return nil
}

func (f *formatter) text(d directive) (string, error) {
	address := f.nextWord()
	switch {
	case address == 0:
		return "(null)", nil
	case d.precision >= 0:
		return prefix(f.call, address, uint64(d.precision))
	}
	return readString(f.call, address)
}

// bits returns the number of significant bits of an argument.
func (d directive) bits() uint {
	switch d.length {
	case "hh":
		return 8
	case "h":
		return 16
	case "":
		return 32
	}
	return 64
}

func (d directive) signed(w uint64) int64    { return int64(w<<(64-d.bits())) >> (64 - d.bits()) }
func (d directive) unsigned(w uint64) uint64 { return w << (64 - d.bits()) >> (64 - d.bits()) }

func (d directive) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.plus:
		return "+"
	case d.space:
		return " "
	}
	return ""
}

// digits adds zeros up to the precision.
func (d directive) digits(text string) string {
	if d.precision == 0 && text == "0" {
		return ""
	}
	return strings.Repeat("0", max(0, d.precision-len(text))) + text
}

func (d directive) float(x float64, verb byte) string {
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	text := ""
	switch {
	case math.IsNaN(x):
		text = "nan"
	case math.IsInf(x, 0):
		text = "inf"
	case verb == 'a' || verb == 'A':
		if text = fmt.Sprintf("%x", x); d.precision >= 0 {
			text = fmt.Sprintf("%.*x", d.precision, x)
		}
		// Go writes at least two digits of the exponent, C at least one.
		mantissa, exponent, _ := strings.Cut(text, "p")
		text = mantissa + "p" + exponent[:1] + strings.TrimPrefix(exponent[1:], "0")
	case (verb == 'g' || verb == 'G') && d.sharp:
		text = fmt.Sprintf("%#.*g", precision, x)
	case verb == 'g' || verb == 'G':
		text = fmt.Sprintf("%.*g", max(precision, 1), x)
	default:
		flag := ""
		if d.sharp {
			flag = "#"
		}
		text = fmt.Sprintf("%"+flag+".*"+strings.ToLower(string(verb)), precision, x)
	}
	if verb < 'a' {
		text = strings.ToUpper(text)
	}
	return text
}

// pad appends a sign and a text, padded to the width.
func (d directive) pad(f *formatter, sign, text string, zeros bool) {
	n := max(0, d.width-len(sign)-len(text))
	switch {
	case d.minus:
		f.out = append(f.out, sign+text+strings.Repeat(" ", n)...)
	case d.zero && zeros:
		f.out = append(f.out, sign+strings.Repeat("0", n)+text...)
	default:
		f.out = append(f.out, strings.Repeat(" ", n)+sign+text...)
	}
}
