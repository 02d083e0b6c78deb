// References that are not set yet, and iterators of lists.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <list>
struct Item { int price; double weight; };
__attribute__((noinline)) static int first(const int &number, Item &item, int n)
{
	int price = n ? item.price + number : 0;
	HERE; // STOP print n; print number + n; print item.price; bt 1; up; print n; print got; down
	return price;
}
extern "C" int run(int n)
{
	Item real{n, 1.5}, *none = nullptr;
	int got = first(n, real, n);
	Item &unset = *none;
	const int &number = none->price;
	Item &&moved = static_cast<Item &&>(real);
	std::list<int> numbers{7, n};
	std::list<Item> items;
	items.push_back(real);
	std::list<int>::iterator at = numbers.begin();
	std::list<Item>::iterator item = items.begin();
	std::list<int>::const_iterator constant = numbers.cbegin(), last = --numbers.cend();
	__asm__ volatile("" :: "r"(&unset), "r"(&number), "r"(&moved), "r"(&at), "r"(&item), "r"(&constant), "r"(&last) : "memory");
	HERE; // STOP print at; print item; print constant; print last; print/x at; print/r at; print moved; print moved.weight; print &unset; print unset.price; print *none; print got; print numbers; print items; whatis at; whatis unset; ptype number
	return got + *at + item->price;
}
