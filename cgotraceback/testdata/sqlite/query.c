#include <sqlite3.h>
#include <stdio.h>
#include "_cgo_export.h"

void deliver_here(void);

static void value(sqlite3_context *context, int count, sqlite3_value **values) {
	(void)count;
	deliver_here();
	sqlite3_result_double(context, goValue(sqlite3_value_double(values[0])));
}

sqlite3 *open_database(void) {
	sqlite3 *db = NULL;
	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return NULL;
	sqlite3_create_function(db, "gofunction", 1, SQLITE_UTF8, NULL, value, NULL, NULL);
	return db;
}

__attribute__((noinline)) int query(sqlite3 *db, const char *text) {
	sqlite3_stmt *s;
	int rows = 0;
	if (sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
		return -1;
	}
	while (sqlite3_step(s) == SQLITE_ROW)
		rows++;
	sqlite3_finalize(s);
	return rows;
}
