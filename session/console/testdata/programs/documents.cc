// Documents as trees: covariant clones, abstract bases, a diamond, a visitor and RTTI.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <initializer_list>
class Visitor;
class Node {
public:
	virtual ~Node() = default;
	virtual Node *clone() const = 0;
	virtual void accept(Visitor &v) const = 0;
	virtual int weight() const { return 1; }
	int depth = 0;
protected:
	static inline int live = 100;
	short flags = 3;
};
class Styled : public virtual Node { public: unsigned colour = 0xff0000; int weight() const override { return 2; } };
class Linked : public virtual Node { public: const Node *target = nullptr; virtual const Node *follow() const { return target; } };
class Text final : public Styled { char letters[8] = "text"; public: int length = 4; Text *clone() const override { return new Text(*this); } void accept(Visitor &v) const override; };
class Anchor : public Linked, public Styled {
public:
	int id;
	explicit Anchor(int i) : id(i) { live++; }
	Anchor *clone() const override { return new Anchor(id + 1); }
	void accept(Visitor &v) const override;
	int weight() const override { return Styled::weight() + id; }
};
class Visitor { public: virtual void visit(const Text &) = 0; virtual void visit(const Anchor &) = 0; int visits = 0; };
void Text::accept(Visitor &v) const { v.visit(*this); }
void Anchor::accept(Visitor &v) const { v.visit(*this); }

class Weigher : public Visitor {
	int total = 0;
	struct Heaviest { const Node *node = nullptr; int weight = -1; } heaviest;
public:
	void visit(const Text &t) override { count(t, t.length); }
	void visit(const Anchor &a) override { count(a, a.id); }
	int sum() const { return total + heaviest.weight; }
private:
	__attribute__((noinline)) void count(const Node &n, int extra);
};
__attribute__((noinline)) void Weigher::count(const Node &n, int extra)
{
	int w = n.weight() + extra;
	total += w;
	visits++;
	if (w > heaviest.weight)
		heaviest = {&n, w};
	HERE; // STOP print *this; print total; print heaviest; print heaviest.weight; print *heaviest.node; print n; print n.depth; print n.flags; print w; print extra; print visits; print this->visits; print Visitor::visits; print &n; print &n == heaviest.node; print Node::live; print n.live; whatis n; whatis *this; whatis heaviest; whatis heaviest.node; whatis *heaviest.node; whatis this; ptype Node; ptype heaviest; ptype Visitor; ptype this; print sizeof(*this); print sizeof(n); print n.weight; print dynamic_cast<const Anchor *>(&n); print (Visitor *)this; print *(Visitor *)this; print w > 5; bt; up; info args; down
}

__attribute__((noinline)) int inspect(Node *node, Anchor *anchor, const Linked &link)
{
	int r = node->weight() + anchor->weight();
	if (const Node *next = link.follow())
		r += next->depth;
	HERE; // STOP print *node; print *anchor; print link; print node->depth; print anchor->id; print anchor->colour; print anchor->depth; print anchor->target; print *anchor->target; print link.target; print (Node *)anchor; print (Styled *)anchor; print *(Styled *)anchor; print *(Linked *)anchor; print &link == anchor; print (long)(Linked *)anchor - (long)anchor; print node == anchor; print *dynamic_cast<Anchor *>(node); print dynamic_cast<Text *>(node); print r; whatis *node; whatis node; whatis link; whatis *anchor; whatis anchor->colour; whatis anchor->target; ptype anchor; ptype Styled; ptype Linked; ptype node; print sizeof(Anchor); print sizeof(Styled); print sizeof(Text); print/x *anchor; print &anchor->colour; print &anchor->depth; print anchor->Node::depth; print anchor->Styled::colour; print node->flags; print Node::live; print anchor->clone; set var anchor->id = 50; print *anchor; set var anchor->depth = 5; print node->depth; print (Anchor *)&link; bt; finish
	return r;
}

extern "C" int run(int n)
{
	Text text;
	Anchor anchor(n);
	anchor.target = &text;
	text.depth = 2;
	Node *copy = anchor.clone();
	Weigher weigher;
	for (const Node *each : {(const Node *)&text, (const Node *)&anchor, (const Node *)copy})
		each->accept(weigher);
	int r = inspect(copy, &anchor, anchor) + weigher.sum();
	HERE; // STOP print text; print text.letters; print text.length; print text.colour; print anchor; print *copy; print weigher; print weigher.heaviest; print weigher.visits; print r; print &text; print &text.depth; print text.depth + anchor.depth; whatis text; whatis anchor; whatis copy; whatis *copy; ptype text; ptype weigher; ptype Weigher; ptype Text; print sizeof(text); print sizeof(weigher); print anchor.target == &text; print *(Text *)anchor.target; print Node::live; print weigher.total; print/x text.letters; print text.letters[0]; print *text.letters@2; print inspect; print Anchor::clone; info symbol Anchor::clone; print text.weight; print copy->depth; print &anchor == copy
	int extra = anchor.clone()->id;
	delete copy;
	return r + extra;
}
