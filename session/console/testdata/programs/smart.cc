// Ownership: a pool, unique and shared pointers with deleters, weak observers and moves.
#define HERE __asm__ volatile("nop" ::: "memory")
#include <memory>
#include <utility>
#include <vector>

struct Texture {
	int id;
	float scale;
	static int alive;
	explicit Texture(int i) : id(i), scale(0.5f * i) { ++alive; }
	Texture(const Texture &) = delete;
	~Texture() { --alive; }
	int area() const { return id * id; }
};
int Texture::alive = 0;
struct Release { int *count; void operator()(Texture *t) const { ++*count; delete t; } };
using Handle = std::unique_ptr<Texture, Release>;

class Sprite {
	std::shared_ptr<Texture> texture;
	std::unique_ptr<int[]> frames;
	std::weak_ptr<Sprite> parent;
	const char *name = "none";
public:
	Sprite(std::shared_ptr<Texture> t, const char *n) : texture(std::move(t)), frames(new int[3]{1, 2, 3}), name(n) {}
	Sprite(Sprite &&) = default;
	int draw(int by);
	friend int look(const Sprite &s, Sprite &&moved);
};

__attribute__((noinline)) int Sprite::draw(int by)
{
	int sum = texture->area() + frames[1] * by;
	HERE; // STOP print *this; print texture; print *texture; print texture->id; print texture->scale; print this->texture->id; print frames; print frames[1]; print parent; print name; print *name@2; print sum; print by; print this->name; print Texture::alive; print texture->alive; whatis texture; whatis *texture; whatis texture->id; whatis name; whatis this; whatis *this; whatis frames; ptype this; ptype Texture; print sizeof(Sprite); print sizeof(texture); print &name; print &texture->id; print texture->id + by; print (double)texture->scale * 3; print texture->nosuch; print nosuch; bt; info symbol this; up; info locals; down; finish
	return sum;
}

__attribute__((noinline)) int look(const Sprite &s, Sprite &&moved)
{
	Sprite kept = std::move(moved);
	const auto &t = *kept.texture;
	int n = t.id + (moved.texture == nullptr);
	HERE; // STOP print s; print s.name; print s.texture; print s.texture->id; print moved; print moved.texture; print moved.name; print kept; print kept.texture; print kept.frames; print kept.name; print t; print t.id; print &t; print t.scale * 2; print n; whatis s; whatis moved; whatis kept; whatis t; whatis &t; whatis t.scale; whatis t.id + 1; ptype t; ptype moved; print sizeof(t); print sizeof(s); print &s == &moved; print *s.texture; print (*s.texture).id; print *kept.texture; print Texture::alive; print &Texture::alive; whatis Texture::alive; print Texture::area; whatis Texture::area; bt 1; finish
	return n;
}

extern "C" int run(int n)
{
	int released = 0;
	auto shared = std::make_shared<Texture>(n);
	std::weak_ptr<Texture> weak = shared;
	Handle handle(new Texture(7), Release{&released}), empty(nullptr, Release{&released});
	Sprite a(shared, "hero"), b(std::make_shared<Texture>(4), "tree");
	std::vector<std::shared_ptr<Texture>> all{shared, weak.lock()};
	int r = a.draw(10) + look(a, std::move(b));
	Handle taken = std::move(handle);
	HERE; // STOP print shared; print *shared; print shared->id; print weak; print handle; print taken; print *taken; print taken->id; print taken->area; print empty; print a; print b; print all; print all[0]; print *all[0]; print all[1]->id; print released; print r; print Texture::alive; whatis shared; whatis weak; whatis taken; whatis *taken; whatis a; whatis all; ptype a; ptype Release; ptype Handle; whatis Handle; print sizeof(handle); print sizeof(weak); print shared == all[0]; print taken.get(); print &released; print a.name; print a.texture->scale; print a.parent; print shared.use_count(); print (Texture *)0; print *(Texture *)0; print/x *taken; print/x r; print look; print &a == 0; info line Sprite::draw; list Sprite::draw; print Sprite::draw; print &Sprite::name; print a.draw(1)
	taken.reset();
	return r + released + all.size();
}
