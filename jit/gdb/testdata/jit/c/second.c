// Another publisher, as libraries bring one along.
//go:build second

#include "../second.h"
