#!/bin/sh
# Makes the .elf files beside it: small ones that seed the fuzz test.
set -eu
cd "$(dirname "$0")"
gcc -O2 -g -ffile-prefix-map="$PWD"=. -nostdlib -Wl,--build-id -o small.elf small.c
gcc -O2 -g -ffile-prefix-map="$PWD"=. -gdwarf-4 -c -ffunction-sections -o relocatable.elf small.c
riscv64-linux-gnu-as -g --debug-prefix-map "$PWD"=. -o riscv.elf frame.s
s390x-linux-gnu-as -g --debug-prefix-map "$PWD"=. -o big-endian.elf frame.s
objcopy --compress-debug-sections=zstd small.elf compressed.elf
objcopy --only-keep-debug --keep-section=.symtab --remove-section='.debug_*' small.elf minidebug.tmp
xz minidebug.tmp
objcopy --strip-all --add-section .gnu_debugdata=minidebug.tmp.xz small.elf minidebug.elf
rm minidebug.tmp.xz
