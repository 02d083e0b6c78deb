module github.com/clewdev/clew/internal/testprogram/programs/loaded

go 1.26

require github.com/bytedance/sonic/loader v0.5.3
