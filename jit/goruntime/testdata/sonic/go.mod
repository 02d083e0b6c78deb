module github.com/clewdev/clew/jit/goruntime/testdata/sonic

go 1.26.0

require (
	github.com/bytedance/sonic/loader v0.5.3
	github.com/clewdev/clew v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/clewdev/clew => ../../../..
