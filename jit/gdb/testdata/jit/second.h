// The GDB JIT interface, from the GDB manual, "Declarations".
#include <stdint.h>

struct jit_code_entry {
	struct jit_code_entry *next_entry, *prev_entry;
	const char *symfile_addr;
	uint64_t symfile_size;
};

struct jit_descriptor {
	uint32_t version, action_flag;
	struct jit_code_entry *relevant_entry, *first_entry;
};

__attribute__((noinline)) void __jit_debug_register_code(void) { __asm__ volatile(""); }

struct jit_descriptor __jit_debug_descriptor = {1, 0, 0, 0};
