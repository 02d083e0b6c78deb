// A second publisher, as libraries contain one.
//go:build second

#include "../second.h"
