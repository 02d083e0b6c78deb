// The peers that Clew is measured against, in a module of their own so that
// those who import Clew's packages don't inherit them.
module github.com/clewdev/clew/bench

go 1.26.0

require github.com/clewdev/clew v0.0.0

require github.com/go-delve/delve v1.27.2

replace github.com/clewdev/clew => ../
