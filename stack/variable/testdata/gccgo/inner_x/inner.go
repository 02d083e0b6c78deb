// Package inner_x has names that gccgo encodes in its symbols.
package inner_x

type Typ_x struct{ n int }

//go:noinline
func (t *Typ_x) Größe_1(f func(int) int) int { return f(t.n) }

type Sizer interface{ Größe_1(f func(int) int) int }

//go:noinline
func Call_it(i Sizer) int {
	return i.Größe_1(func(k int) int { return func() int { return crash_2(k) + k }() })
}

func crash_2(k int) int {
	var q *int
	return *q + k
}

func New() Sizer { return &Typ_x{3} }
