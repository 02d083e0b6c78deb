// A second publisher, such as a library brings along.
//go:build second

#include "../second.h"
