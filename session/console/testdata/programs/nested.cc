#define HERE __asm__ volatile("nop" ::: "memory")
struct Graph {
	class Vertex {
		friend struct Graph;
		int id_;
		Vertex *edges_[3] = {};
		int degree_ = 0;
	public:
		enum Colour { White, Grey = 3, Black };
		Colour colour = White;
		struct Weight { short value; bool known; } weight{5, false};
		explicit Vertex(int id) : id_(id) {}
		int id() const { return id_; }
	};
	template <int N> struct Pool { alignas(Vertex) unsigned char space[N * sizeof(Vertex)]; int used = 0; };
	static const int limit = 2;
	static inline double factor = 1.5;
	Vertex first{1}, second{2};
	Pool<1> pool;
	void link(Vertex &from, Vertex &to)
	{
		from.edges_[from.degree_++] = &to;
		HERE; // STOP print from; print to; print from.id_; print from.edges_; print *from.edges_[0]; print from.degree_; print limit; print factor; print first; print this->second; print first.colour; print from.weight; print from.weight.value; print Vertex::Grey; print Graph::Vertex::Black; print (Vertex::Colour)3; ptype from; ptype Vertex; ptype Graph::Vertex::Colour; whatis from.weight; ptype from.weight; ptype Vertex::Weight; print &from == &first; print *this; print from.colour == Vertex::White; print Graph::limit + 1; print Graph::factor * 2; bt; whatis from.colour; print sizeof(Vertex)
	}
	int visit(Vertex &v, int depth)
	{
		if (v.colour == Vertex::Black)
			return 0;
		v.colour = depth ? Vertex::Black : Vertex::Grey;
		int sum = v.id_;
		for (int i = 0; i < v.degree_; i++)
			sum += visit(*v.edges_[i], depth + 1);
		HERE; // STOP print v.colour; print sum; print depth; print v.edges_[0]; bt; up; print i; print sum; print v.id_; down; print v.edges_[0] == &second
		return sum;
	}
};
extern "C" int run(int n)
{
	struct Local { int a; Graph *graph; } local{n, nullptr};
	Graph graph;
	local.graph = &graph;
	graph.link(graph.first, graph.second);
	graph.link(graph.second, graph.first);
	int sum = graph.visit(graph.first, 0);
	HERE; // STOP print graph; print local; print *local.graph; print graph.first.edges_[0]->id_; print graph.pool.used; print Graph::limit; print Graph::factor; ptype graph; ptype local; whatis local; whatis graph.pool; ptype graph.pool; ptype Graph::Vertex; ptype Graph::Pool<1>; print sum; print sizeof(graph); print graph.second.weight.known; print &graph.second; print Graph::Vertex::Grey; print graph.first.id()
	return sum;
}
