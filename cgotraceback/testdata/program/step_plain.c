//go:build plain

// Instead of step.cc, where there is no C++.
#include "program.h"

extern volatile int sink;

void cpp_step(int kind) {
	c_inner(kind);
	sink++;
}
