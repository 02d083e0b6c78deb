// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package hosted

import (
	"math"

	"github.com/clewdev/clew/session"
)

// mathFunctions are the functions of math.h that Go has too, each for double and,
// with an f behind its name, for float.
func mathFunctions() map[string]function {
	all := make(map[string]function)
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "fabs": math.Abs,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"exp": math.Exp, "exp2": math.Exp2, "log": math.Log, "log2": math.Log2, "log10": math.Log10,
		"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc, "round": math.Round, "rint": math.RoundToEven,
	} {
		all[name] = func(c call) error {
			c.ReturnFloat(f(c.Float(0)))
			return nil
		}
		all[name+"f"] = func(c call) error {
			c.ReturnFloat(session.Float32(float32(f(single(c, 0)))))
			return nil
		}
	}
	for name, f := range map[string]func(a, b float64) float64{
		"pow": math.Pow, "fmod": math.Mod, "atan2": math.Atan2, "hypot": math.Hypot,
		"fmin": math.Min, "fmax": math.Max, "copysign": math.Copysign,
	} {
		all[name] = func(c call) error {
			c.ReturnFloat(f(c.Float(0), c.Float(1)))
			return nil
		}
		all[name+"f"] = func(c call) error {
			c.ReturnFloat(session.Float32(float32(f(single(c, 0), single(c, 1)))))
			return nil
		}
	}
	return all
}

// single returns the n-th floating-point argument of a function of floats: they
// are in the low halves of the registers.
func single(c call, n int) float64 {
	return float64(math.Float32frombits(uint32(math.Float64bits(c.Float(n)))))
}
