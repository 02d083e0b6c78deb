// A program for gccgo that crashes in functions with encoded symbol names.
package main

import "example.com/my-pkg/inner_x"

type wrapped struct{ inner_x.Sizer }

//go:noinline
func deferred(n int) { println(inner_x.Call_it(wrapped{inner_x.New()}) + n) }

func main() {
	defer deferred(1)
}
