/* gcc -shared -fPIC -g -o libstorage.so storage_library.c */
extern void at_rest(int number);

void in_library(int number) {
	static __thread int calls = 40;
	static __thread char name[8] = "library";
	static __thread long never[1 << 12];
	calls += number;
	name[0] += number;
	at_rest(number);
	if (number < 0)
		never[number] = number;
}
