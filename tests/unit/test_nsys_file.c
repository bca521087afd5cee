/* SPDX-License-Identifier: MIT */
/* An nsys export as a file: names, unfinished writes, other programs. */
#include "support.h"

#include "base/str.h"
#include "nsys_file.h"

static void refused(const char *path, const char *cause)
{
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, cause);
    assert_contains(err.text, strrchr(path, '/'));
}

static bool exists(const char *path, const char *suffix)
{
    char name[300];
    struct stat info;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return lstat(name, &info) == 0;
}

/* A folder of this test's own, whose name a URI must escape. */
static const char *temp_folder(void)
{
    static char folder[80];
    if (!folder[0])
        snprintf(folder, sizeof folder, "/tmp/smeff 100%%25?#&=\xC3\xA4-%d", (int)getpid());
    return folder;
}

static const char *in_folder(const char *name)
{
    static char path[4][120];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", temp_folder(), name);
    return p;
}

static void remove_folder(void)
{
    static const char *const names[] = {"x.sqlite", "x.sqlite-wal", "x.sqlite-shm",
                                        "x.sqlite-journal", "link.sqlite"};
    chmod(temp_folder(), 0700);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(names[i]));
    rmdir(temp_folder());
}

/* A complete file in WAL mode is read, and nothing appears beside it. */
static void wal_files_are_read_without_a_trace(void **state)
{
    (void)state;
    remove_folder();
    assert_int_equal(mkdir(temp_folder(), 0700), 0);
    const char *path = in_folder("x.sqlite"), *link = in_folder("link.sqlite");
    copy_file(DECODE, path);
    run_sql(path, "PRAGMA journal_mode=WAL");
    assert_int_equal(symlink("x.sqlite", link), 0);
    for (int i = 0; i < 3; i++) {
        struct snapshot *s = snapshot_of(i == 1 ? link : path, false);
        check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
        snapshot_destroy(s);
        assert_false(exists(path, "-shm"));
        assert_int_equal(exists(path, "-wal"), i == 2);
        if (i == 1) /* an empty one holds nothing */
            close(open(in_folder("x.sqlite-wal"), O_CREAT | O_WRONLY, 0600));
    }
    /* nor in a folder that this user may only read */
    unlink(in_folder("x.sqlite-wal"));
    chmod(path, 0444);
    chmod(temp_folder(), 0555);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    struct snapshot *s = snapshot_of(path, false);
    if (root)
        assert_int_equal(seteuid(0), 0);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
    remove_folder();
}

/* What a program left behind that died while it wrote, as its files at that moment. */
static void unfinished_writes_are_refused(void **state)
{
    (void)state;
    static const char *const modes[] = {"WAL", "DELETE"}, *const suffix[] = {"-wal", "-journal"};
    for (int i = 0; i < 2; i++) {
        char sql[300], beside[300];
        remove_folder();
        assert_int_equal(mkdir(temp_folder(), 0700), 0);
        const char *path = changed(DECODE, "");
        sqlite3 *writer = NULL;
        assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
        /* a small cache, so that changes reach the file before the end of the transaction */
        snprintf(sql, sizeof sql,
                 "PRAGMA journal_mode=%s; PRAGMA cache_size=2; BEGIN; DELETE FROM GPU_METRICS; "
                 "DROP TABLE TARGET_INFO_GPU_METRICS; %s",
                 modes[i], i ? "" : "COMMIT");
        assert_int_equal(sqlite3_exec(writer, sql, NULL, NULL, NULL), SQLITE_OK);
        snprintf(beside, sizeof beside, "%s%s", path, suffix[i]);
        const char *copy = in_folder("x.sqlite");
        copy_file(path, copy);
        copy_file(beside, in_folder(i ? "x.sqlite-journal" : "x.sqlite-wal"));
        sqlite3_exec(writer, "ROLLBACK", NULL, NULL, NULL);
        sqlite3_close(writer);
        refused(copy, "unfinished write");
        refused(copy, "open it once with sqlite3");
        assert_false(exists(copy, "-shm"));
        assert_true(exists(copy, suffix[i])); /* untouched */
        run_sql(copy, "SELECT count(*) FROM sqlite_master");
        if (i) { /* rolled back: all there again */
            struct snapshot *s = snapshot_of(copy, false);
            check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
            snapshot_destroy(s);
        } else {
            refused(copy, "GPU_METRICS is empty");
        }
        remove_folder();
    }
}

/* The name of a file is a name, whatever SQLite would see in it. */
static void names_are_no_uris(void **state)
{
    (void)state;
    char *before = getcwd(NULL, 0);
    remove_folder();
    assert_int_equal(mkdir(temp_folder(), 0700), 0);
    assert_int_equal(chdir(temp_folder()), 0);
    static const char *const names[] = {"file:x?mode=memory", ":memory:", "-"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        copy_file(DECODE, names[i]);
        struct snapshot *s = snapshot_of(names[i], false);
        check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
        snapshot_destroy(s);
        unlink(names[i]);
    }
    assert_int_equal(chdir(before), 0);
    free(before);
    remove_folder();
}

/* The end of GPU_METRICS, where only reading all of it gets. */
static void spoil_last_page(const char *path)
{
    static const char garbage[64] = "\xFF\xFF\xFF\xFF";
    enum { RIGHTMOST_CHILD = 8 };
    unsigned char child[4];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db,
                       "SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE "
                       "name='GPU_METRICS'",
                       -1, &stmt, NULL);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    off_t root = sqlite3_column_int(stmt, 0), size = sqlite3_column_int(stmt, 1);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, child, 4, (root - 1) * size + RIGHTMOST_CHILD), 4);
    off_t page = child[0] << 24 | child[1] << 16 | child[2] << 8 | child[3];
    assert_int_equal(pwrite(fd, garbage, sizeof garbage, (page - 1) * size), sizeof garbage);
    close(fd);
}

static void a_long_path_does_not_hide_the_cause(void **state)
{
    (void)state;
    char path[2000] = "/tmp";
    while (strlen(path) < 1500)
        strncat(path, "/./././././././././././././././.", sizeof path - strlen(path) - 1);
    strncat(path, strrchr(temp_path(), '/'), sizeof path - strlen(path) - 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, "hello", 5), 5);
    close(fd);
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, ": neither a recording of smeff nor an SQLite export of nsys (an "
                              ".nsys-rep becomes one by: nsys export "
                              "-t sqlite FILE)");
    assert_contains(err.text, strrchr(temp_path(), '/'));
    assert_true(str_starts_with(err.text, "/tmp/./"));
    assert_int_equal(nsys_export_open(&(struct nsys_export *){NULL}, path, false, NULL),
                     ERR_BAD_INPUT);

    /* nor when only reading shows that the file is bad */
    char cut[64];
    snprintf(cut, sizeof cut, "%s", strrchr(temp_path(), '/'));
    changed(DECODE, "UPDATE GPU_METRICS SET timestamp=-timestamp");
    spoil_last_page(temp_path());
    assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, ": damaged: ");
    assert_contains(err.text, cut);
}

/* What is read but not asked for may be long. */
static void long_cells_cost_nothing(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "INSERT INTO META_DATA_EXPORT VALUES('note',hex(zeroblob(9000000)));"
                        "INSERT INTO META_DATA_EXPORT VALUES(hex(zeroblob(9000000)),'x');"
                        "INSERT INTO DIAGNOSTIC_EVENT VALUES(5,1,2,1,hex(zeroblob(9000000)),1)"),
        false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
}

static void a_file_that_is_being_written_is_refused(void **state)
{
    (void)state;
    const char *path = changed(DECODE, "");
    sqlite3 *writer = NULL;
    assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(writer, "BEGIN EXCLUSIVE; DELETE FROM GPU_METRICS", NULL, NULL, NULL),
        SQLITE_OK);
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, "another program is writing it");
    sqlite3_exec(writer, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(writer);
    s = snapshot_of(path, false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wal_files_are_read_without_a_trace),
        cmocka_unit_test(unfinished_writes_are_refused),
        cmocka_unit_test(names_are_no_uris),
        cmocka_unit_test(a_long_path_does_not_hide_the_cause),
        cmocka_unit_test(long_cells_cost_nothing),
        cmocka_unit_test(a_file_that_is_being_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
