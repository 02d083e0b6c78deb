#define HERE __asm__ volatile("nop" ::: "memory")
#include <string>
#include <vector>
class Account {
	std::string owner_;
	long cents_ = 0;
protected:
	std::vector<long> history_;
public:
	static int opened;
	enum class Kind : char { Basic = 'b', Gold = 'g' };
	const Kind kind;
	Account(std::string owner, Kind k) : owner_(std::move(owner)), kind(k) { opened++; }
	virtual ~Account() = default;
	virtual bool withdraw(long cents);
	long cents() const { return cents_; }
	Account &deposit(long cents)
	{
		cents_ += cents;
		history_.push_back(cents);
		HERE; // STOP print *this; print this->cents_; print cents_; print owner_; print history_; print kind; print opened; print cents; print Account::opened; print Account::Kind::Gold; print (Account::Kind)98; print kind == Account::Kind::Gold; bt; ptype Account; whatis kind; ptype kind; print &cents_; print this->kind; up
		return *this;
	}
};
int Account::opened;
bool Account::withdraw(long cents)
{
	if (cents > cents_)
		return false;
	cents_ -= cents;
	return true;
}
struct Overdraft : Account {
	long limit;
	Overdraft(std::string owner, long l) : Account(std::move(owner), Kind::Gold), limit(l) {}
	bool withdraw(long cents) override
	{
		bool fine = Account::withdraw(cents) || cents <= limit;
		HERE; // STOP print *this; print limit; print fine; print cents; print this->cents_; print Account::opened; print kind; ptype this; whatis this; bt; print *(Account *)this; print (Account *)this == this; print history_; print owner_
		return fine;
	}
};
extern "C" int run(int n)
{
	Account basic("ann", Account::Kind::Basic);
	Overdraft over("bob", 500);
	basic.deposit(100).deposit(50);
	Account *each[] = {&basic, &over};
	int good = 0;
	for (Account *a : each)
		good += a->withdraw(120 * n / 3);
	HERE; // STOP print basic; print over; print *each[0]; print *each[1]; print *(Overdraft *)each[1]; print ((Overdraft *)each[1])->limit; print good; print basic.kind; print Account::opened; print over.limit; ptype over; ptype basic; whatis each; whatis *each[0]; print basic.cents_; print over.Account::cents_; print basic.cents(); print each[0]->cents(); print sizeof(Account::Kind); print basic.history_; print basic.owner_
	return good;
}
