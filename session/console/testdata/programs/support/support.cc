// What C++ programs need and the session does not provide.
#include <cstdlib>
#include <string>

void *operator new(std::size_t n) { return std::malloc(n); }
void *operator new[](std::size_t n) { return std::malloc(n); }
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
void operator delete[](void *p) noexcept { std::free(p); }
void operator delete[](void *p, std::size_t) noexcept { std::free(p); }

template class std::allocator<char>;
template class std::__cxx11::basic_string<char>;

extern "C" {
char __libc_single_threaded = 1;
int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
int __cxa_guard_acquire(char *guard) { return !*guard; }
void __cxa_guard_release(char *guard) { *guard = 1; }
__attribute__((weak, visibility("hidden"))) void *__dso_handle = nullptr;
}
