// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// gdc -S -g -O0 -fno-druntime -fdebug-prefix-map=$PWD=. -o frames.d.s frames.d
module frames;

struct Pair(T)
{
    T first, second;

    T sum(int times)
    {
        return last(cast(T) times, this);
    }
}

T last(T)(T times, ref Pair!T pair)
{
    asm { "ud2"; }
    return times * pair.second;
}

extern (C) int main(int argc, char** argv)
{
    auto pair = Pair!long(1, 2);
    return cast(int) pair.sum(argc + 40);
}
