// An catalog of documents with the containers of the library, nested.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <bitset>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct Posting { unsigned document; std::vector<unsigned short> places; bool operator<(const Posting &o) const { return document < o.document; } };
class Index {
public:
	typedef std::map<std::string, std::set<Posting>> Words;
	std::size_t add(unsigned document, const std::string &text);
	const Words &all() const { return words; }
private:
	Words words;
	std::multimap<std::size_t, const char *> lengths;
	std::deque<unsigned> recent;
	std::bitset<12> seen;
	std::unordered_set<unsigned> ids;
};

__attribute__((noinline)) std::size_t Index::add(unsigned document, const std::string &text)
{
	std::size_t from = 0, place = 0;
	while (from < text.size()) {
		std::size_t to = text.find(' ', from);
		if (to == std::string::npos)
			to = text.size();
		Posting p{document, {(unsigned short)++place}};
		words[text.substr(from, to - from)].insert(p);
		from = to + 1;
	}
	seen.set(document);
	ids.insert(document);
	recent.push_front(document);
	lengths.insert({text.size(), "text"});
	HERE; // STOP print *this; print words; print lengths; print recent; print seen; print ids; print document; print text; print place; print from; print this->recent; print recent[0]; print words.size(); print text[1]; print text.size(); print &words; print &recent == 0; print sizeof(*this); print sizeof(words); print sizeof(seen); whatis words; whatis lengths; whatis recent; whatis seen; whatis ids; whatis text; whatis this; whatis place; ptype this; whatis *this; ptype Posting; whatis Index::Words; print place + 1; print -place; print document == 3; bt; up; print catalog; down; finish
	return place;
}

extern "C" int run(int n)
{
	Index catalog;
	std::size_t total = catalog.add(n, "the lost thread") + catalog.add(5, "the way");
	std::vector<std::vector<int>> grid{{1, 2}, {}, {3}};
	std::list<std::pair<char, double>> weights{{'a', 0.5}, {'b', 1.5}};
	std::unordered_map<std::string, int> counts{{"one", 1}};
	std::map<int, std::map<int, const char *>> nested{{1, {{2, "x"}, {3, "y"}}}, {4, {}}};
	std::multiset<int> bag{2, 1, 2};
	std::forward_list<short> chain{7, 8};
	std::vector<const char *> names{"Theseus", "Ariadne"};
	std::vector<double> nothing;
	std::string empty, text(30, 'z');
	std::deque<std::string> queue{"first", "second"};
	std::bitset<70> wide(5);
	auto walk = grid.begin() + 2;
	HERE; // STOP print catalog; print total; print grid; print grid[0]; print grid[0][1]; print weights; print counts; print nested; print bag; print chain; print names; print names[1]; print *names[1]@3; print nothing; print empty; print text; print queue; print queue[1]; print wide; print *walk; print walk; print catalog.words; print catalog.recent; whatis grid; whatis grid[0]; whatis weights; whatis counts; whatis nested; whatis bag; whatis chain; whatis names[0]; whatis walk; whatis text; ptype names[0]; print sizeof(grid); print sizeof(nested); print sizeof(chain); print &grid; print/x grid; print/x bag; print/x weights; print/x text; print grid.size(); print names.size() + 1; print nested[1]; print total > 4; print/d text[0]; print text[0] == 'z'; print text.nosuch; print catalog.all; print -total; print *&bag; ptype Index::Words; whatis catalog.seen;
	return total + grid.size() + bag.count(2) + *chain.begin() + names.size() + counts["one"] + (*walk)[0] + wide.count() + queue.size() + nothing.size() + empty.size() + text.size();
}
