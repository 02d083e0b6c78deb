// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"math"

	"github.com/clewdev/clew/session"
)

// mathFunctions returns the functions of math.h that Go has too, each for double and, with
// the suffix f, for float.
func mathFunctions() map[string]function {
	all := make(map[string]function)
	// apply computes the result from the arguments; argument n has the number n, from 0.
	add := func(name string, apply func(argument func(n int) float64) float64) {
		all[name] = func(c call) error {
			c.ReturnFloat(apply(c.Float))
			return nil
		}
		all[name+"f"] = func(c call) error {
			// A float is in the low half of its register.
			single := func(n int) float64 { return float64(math.Float32frombits(uint32(math.Float64bits(c.Float(n))))) }
			c.ReturnFloat(session.Float32(float32(apply(single))))
			return nil
		}
	}
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "fabs": math.Abs,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"exp": math.Exp, "exp2": math.Exp2, "log": math.Log, "log2": math.Log2, "log10": math.Log10,
		"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc, "round": math.Round, "rint": math.RoundToEven,
	} {
		add(name, func(x func(int) float64) float64 { return f(x(0)) })
	}
	for name, f := range map[string]func(a, b float64) float64{
		"pow": math.Pow, "fmod": math.Mod, "atan2": math.Atan2, "hypot": math.Hypot,
		"fmin": math.Min, "fmax": math.Max, "copysign": math.Copysign,
	} {
		add(name, func(x func(int) float64) float64 { return f(x(0), x(1)) })
	}
	return all
}
