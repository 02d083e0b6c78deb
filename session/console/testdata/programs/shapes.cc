#define HERE __asm__ volatile("nop" ::: "memory")
#include <memory>
#include <vector>
namespace draw {
struct Visitor;
struct Node { int id = next++; virtual void accept(Visitor &) = 0; virtual ~Node() {} static int next; };
int Node::next = 100;
struct Group : Node { std::vector<std::unique_ptr<Node>> children; void accept(Visitor &) override; };
struct Text : Node { const char *text; explicit Text(const char *t) : text(t) {} void accept(Visitor &) override; };
struct Visitor { int groups = 0, texts = 0; void visit(Group &); void visit(Text &); };
void Group::accept(Visitor &v) { v.visit(*this); }
void Text::accept(Visitor &v) { v.visit(*this); }
void Visitor::visit(Group &g)
{
	groups++;
	HERE; // STOP print *this; print g; print g.id; print g.children; print groups; print this->texts; whatis g; bt; print Node::next; print draw::Node::next; print *(Node *)&g; print &g.children; ptype Visitor; ptype draw::Text; ptype Node; print (Node *)&g == &g
	for (auto &child : g.children)
		child->accept(*this);
}
void Visitor::visit(Text &t)
{
	texts++;
	HERE; // STOP print t; print t.text; print t.text[0]; print *this; print t.id; whatis t; ptype t; bt 3; up; print v; print *this; up; print g.id
}
}
extern "C" int run(int n)
{
	auto root = std::make_unique<draw::Group>();
	for (int i = 0; i < n; i++)
		root->children.push_back(std::make_unique<draw::Text>(i % 2 ? "odd" : "even"));
	draw::Visitor visitor;
	root->accept(visitor);
	draw::Group *raw = root.get();
	HERE; // STOP print root; print visitor; print *raw; print raw->children; print visitor.texts; print draw::Node::next; whatis raw; whatis visitor; ptype visitor; print raw->id; print *(draw::Node *)raw; print ((draw::Node *)raw)->id; print (draw::Node *)raw; print sizeof(draw::Group); print raw == 0; print raw->next
	return visitor.texts;
}
