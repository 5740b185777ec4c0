/* Gives SQLite about a second of work: inserts, joins, sorts and LIKE scans over tables in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <sqlite3.h>

static void fail(sqlite3 *db, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static int print_row(void *label, int columns, char **values, char **names) {
    (void)names;
    if (!label)
        return 0;
    printf("  %-28s", (const char *)label);
    for (int i = 0; i < columns; i++)
        printf(" %s", values[i] ? values[i] : "-");
    putchar('\n');
    return 0;
}

static void query(sqlite3 *db, const char *label, const char *sql) {
    if (sqlite3_exec(db, sql, print_row, (void *)label, NULL) != SQLITE_OK)
        fail(db, sql);
}

static void insert_rows(sqlite3 *db, int rows) {
    static const char *const colors[] = {"amber", "blue", "crimson", "dun", "ebony", "fawn", "green"};
    sqlite3_stmt *statement;
    unsigned seed = 1;

    query(db, "create", "CREATE TABLE item(id INTEGER PRIMARY KEY, color TEXT, name TEXT, price INTEGER);"
                        "CREATE TABLE sale(id INTEGER PRIMARY KEY, item INTEGER, amount INTEGER);"
                        "CREATE INDEX sale_item ON sale(item); BEGIN");
    if (sqlite3_prepare_v2(db, "INSERT INTO item(color, name, price) VALUES(?, ?, ?)", -1, &statement, NULL))
        fail(db, "prepare");
    for (int i = 0; i < rows; i++) {
        char name[64];
        seed = seed * 1103515245u + 12345u;
        snprintf(name, sizeof name, "thing number %u of lot %u", seed % 9973, seed >> 20);
        sqlite3_bind_text(statement, 1, colors[(seed >> 8) % 7], -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, name, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(statement, 3, (int)(seed >> 16) % 1000);
        if (sqlite3_step(statement) != SQLITE_DONE)
            fail(db, "insert");
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    query(db, "sales", "INSERT INTO sale(item, amount) SELECT 1 + (id * 7919) % (SELECT count(*) FROM item), price % 17"
                       " FROM item; COMMIT");
}

/* Joins, sorts, and scans. */
static const struct {
    const char *label, *sql;
} questions[] = {
    {"sold most", "SELECT i.color, sum(s.amount * i.price) AS value FROM sale s JOIN item i ON i.id = s.item"
                  " GROUP BY i.color ORDER BY value DESC LIMIT 1"},
    {"last by name", "SELECT name FROM (SELECT name, price FROM item ORDER BY name DESC, price) LIMIT 1"},
    {"things like '%9_ of lot 1%'", "SELECT count(*) FROM item WHERE name LIKE '%9_ of lot 1%'"},
    {"dear and well sold", "SELECT count(*) FROM item i WHERE price > 900 AND"
                           " (SELECT count(*) FROM sale s WHERE s.item = i.id AND s.amount > 3) > 0"},
};

int main(int argc, char **argv) {
    sqlite3 *db;
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        fail(db, "open");
    insert_rows(db, 150000);
    /* Requested several times for the work; the answers are printed once. */
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
            query(db, round == 0 ? questions[i].label : NULL, questions[i].sql);
    sqlite3_close(db);
    return 0;
}
