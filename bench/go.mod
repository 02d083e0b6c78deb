// The peers that Clew is measured against, in a module of their own so that
// those who import Clew's packages don't inherit them.
module github.com/clewdev/clew/bench

go 1.26.0

require github.com/clewdev/clew v0.0.0

require (
	github.com/go-delve/delve v1.27.2
	github.com/ianlancetaylor/cgosymbolizer v0.0.0-20241129212102-9c50ad6b591e
	golang.org/x/sys v0.49.0
)

require (
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	golang.org/x/arch v0.32.0 // indirect
)

replace github.com/clewdev/clew => ../
