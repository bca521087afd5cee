/* SPDX-License-Identifier: MIT */
/* The three real files, cut and bit-flipped 1,000 times: an error or a snapshot, never a crash.
 * Run it under the sanitizers. The seed is fixed, so that a finding can be repeated. */
#include <string.h>

#include "support.h"

#include "nsys_file.h"

#include "show/show.h"

enum { ROUNDS = 1000, FILE_MAX = 1 << 20 };

static size_t load(const char *path, unsigned char *data)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, data, FILE_MAX);
    close(fd);
    assert_true(n > 0 && n < FILE_MAX);
    return (size_t)n;
}

static void save(const unsigned char *data, size_t n)
{
    int fd = open(temp_path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, data, n), (ssize_t)n);
    close(fd);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* What a damaged file may do to a value: everything but a share outside 0..1 that looks sound. */
static void check_sound(const struct snapshot *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        for (int m = 0; m < METRIC_COUNT; m++) {
            const struct metric_stats *x = &s->gpus[i].metrics[m];
            if (x->value.state == VALUE_OK && metric_info((enum metric)m)->unit == UNIT_RATIO)
                assert_true(x->min >= 0 && x->max <= 1 && x->value.v >= 0 && x->value.v <= 1);
        }
}

static void damaged_files_never_crash(void **state)
{
    (void)state;
    static const char *const originals[] = {DECODE, MATMUL, IDLE};
    static unsigned char data[FILE_MAX];
    uint32_t seed = 20261130;
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = load(originals[round % 3], data);
        if (round % 4 == 0)
            n = next_random(&seed) % n;
        else
            for (uint32_t flips = 1u << next_random(&seed) % 10; flips; flips--) {
                uint32_t at = next_random(&seed) % (uint32_t)n;
                data[at] ^= (unsigned char)(1u << next_random(&seed) % 8);
            }
        save(data, n);
        struct error err = ERROR_INIT;
        struct snapshot *s = NULL;
        struct buf out = BUF_INIT;
        if (read_export(temp_path(), round % 2, &s, &err)) {
            refused++;
            assert_true(err.status != OK && err.text[0] && !strchr(err.text, '\n'));
            continue;
        }
        check_sound(s);
        const struct show_style style = {80, false, true};
        show_text(&out, s, "x", &style);
        assert_int_equal(show_json(&out, s, "x", &err), OK);
        buf_fini(&out);
        snapshot_destroy(s);
    }
    /* cut files must be refused; flips mostly hit cells */
    assert_true(refused >= ROUNDS / 4);
    unlink(temp_path());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files_never_crash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
