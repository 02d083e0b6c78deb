#ifndef PROGRAM_H
#define PROGRAM_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
enum { SPIN, SEGV, ABORT, OVERFLOW, PANIC, OVERWRITE, NULL_CALL, HANDLER, NO_CFI, THROW, JUMP, SPIN_NO_CFI, ALTERNATE, THREAD, CALLERS, TRAP, C_THREAD, SLEEP, DELIVER, RECURSION, RETURNED, TAIL, HANG };
void c_outer(int kind);
void c_inner(int kind);
void cpp_step(int kind);
void rust_step(int kind, void (*next)(int));
void in_thread(int kind);
void cpp_throw(int n);
int deliver_reference(long n);
void deliver(void);
void deliver_here(void);
void cpp_deliver(int n);
void deliver_in_thread(void);
void deliver_report(void);
void no_cfi_short(int n);
void *load(const char *path);
void *find(void *library);
int call_library(void *library);
void unload(void *library);
void no_cfi_outer(int kind);
void no_cfi_inner(int kind);
void walk_bench(int depth);
void *walk_mutant(int n, uint32_t *size);
void walk_by_mutant(void);
void walk_free_mutant(uint32_t size);
void on_small_alternate_stack(void);
void on_small_stack(int size);
#ifdef __cplusplus
}
#endif
#endif
