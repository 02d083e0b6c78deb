// g++ -O0 -c seed.cc -o seed-group.o
inline int next() { static int n; return ++n; } int f() { return next(); }
