/* SPDX-License-Identifier: MIT */
#include "cmd/load_show.h"

#include <math.h>
#include <stdio.h>

#include "show/json_out.h"

enum { NUMBER_SIZE = 32 };

/* ---- for people ---- */

static void put_amount(struct buf *out, const char *what, uint64_t bytes, double seconds)
{
    char rate[NUMBER_SIZE], sum[NUMBER_SIZE];
    if (bytes)
        buf_printf(
            out, "  %-12s %s (%s)\n", what,
            unit_format(rate, sizeof rate, UNIT_BYTES_PER_SECOND, (double)bytes / seconds, 0),
            unit_format(sum, sizeof sum, UNIT_BYTES, (double)bytes, 0));
}

static void put_done(struct buf *out, const struct load_report *r)
{
    char text[NUMBER_SIZE];
    put_amount(out, "read", r->done.bytes_read, r->seconds);
    put_amount(out, "written", r->done.bytes_written, r->seconds);
    put_amount(out, "PCIe in", r->done.pcie_in, r->seconds);
    put_amount(out, "PCIe out", r->done.pcie_out, r->seconds);
    if (r->done.operations > 0)
        buf_printf(out, "  %-12s %.4g a second\n", "operations", r->done.operations / r->seconds);
    if (r->layers)
        buf_printf(out, "  %-12s %.4g a second, each through %u matrices of %u x %u\n", "passes",
                   r->rate, r->layers, r->layer_size, r->layer_size);
    if (!isnan(r->busy))
        buf_printf(out, "  %-12s %s of the time\n", "busy",
                   unit_format(text, sizeof text, UNIT_RATIO, r->busy, 0));
    if (!isnan(r->sm_clock_hz))
        buf_printf(out, "  %-12s %s\n", "SM clock",
                   unit_format(text, sizeof text, UNIT_HERTZ, r->sm_clock_hz, 0));
}

static void put_expectation(struct buf *out, const struct load_expectation *e)
{
    const struct metric_info *info = metric_info(e->metric);
    char value[NUMBER_SIZE], tolerance[NUMBER_SIZE];
    if (isnan(e->value)) {
        buf_printf(out, "  %-18s %s\n", info->key, e->how);
        return;
    }
    buf_printf(out, "  %-18s %s%s", info->key, relation_words(e->relation),
               unit_format(value, sizeof value, info->unit, e->value, 0));
    if (e->tolerance > 0)
        buf_printf(out, " +- %s",
                   unit_format(tolerance, sizeof tolerance, info->unit, e->tolerance, 0));
    buf_printf(out, "  (%s)\n", e->how);
}

void load_show_text(struct buf *out, const struct load_report *r)
{
    char name[64];
    buf_printf(out, "%s on GPU %d, %s (%s)\n", load_choice_text(name, sizeof name, r->choice),
               r->gpu.index, r->gpu.name, r->gpu.uuid);
    if (isnan(r->seconds)) {
        buf_puts(out, "  ended before it ran steadily\n");
        return;
    }
    buf_printf(out, "  %-12s %.3f s, %llu batches\n", "ran", r->seconds,
               (unsigned long long)r->batches);
    put_done(out, r);
    buf_puts(out, "counters must have read:\n");
    for (size_t i = 0; i < r->n_expectations; i++)
        put_expectation(out, &r->expectations[i]);
}

/* ---- JSON ---- */

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *count_or_null(uint64_t n)
{
    return n ? count(n) : json_null();
}

static json_t *gpu_json(const struct load_gpu *g)
{
    char capability[24];
    snprintf(capability, sizeof capability, "%u.%u", g->major, g->minor);
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "index", g->index,
                     "name", g->name, "uuid", g->uuid, "pci_bus", g->pci_bus, "capability",
                     capability, "sm_count", count(g->sm_count), "warps_per_sm",
                     count(g->warps_per_sm), "l2_bytes", count_or_null(g->l2_bytes), "memory_peak",
                     json_out_number(g->memory_peak), "pcie_payload",
                     count_or_null(g->pcie_payload));
}

static json_t *expectations_json(const struct load_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_expectations; i++) {
        const struct load_expectation *e = &r->expectations[i];
        const struct metric_info *info = metric_info(e->metric);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:o, s:s}", "metric", info->key,
                                              "unit", unit_name(info->unit), "relation",
                                              relation_name(e->relation), "value",
                                              json_out_number(e->value), "tolerance",
                                              json_out_number(e->tolerance), "how", e->how));
    }
    return list;
}

/* What both events have. */
static json_t *head(const char *event, const struct load_report *r)
{
    char name[64];
    load_choice_text(name, sizeof name, r->choice);
    return json_pack("{s:s, s:i, s:s, s:o, s:o}", "event", event, "schema", 1, "kind", name, "gpu",
                     gpu_json(&r->gpu), "begin_ns", count_or_null((uint64_t)r->begin_ns));
}

static json_t *course_json(const struct load_report *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:o, s:o, s:o}", "end_ns",
                     count_or_null((uint64_t)r->end_ns), "seconds", json_out_number(r->seconds),
                     "batches", count(r->batches), "rate", json_out_number(r->rate), "rate_unit",
                     isnan(r->rate) ? NULL : "passes_per_second", "busy", json_out_number(r->busy),
                     "sm_clock_hz", json_out_number(r->sm_clock_hz), "buffer_bytes",
                     count_or_null(r->buffer_bytes), "layers", count_or_null(r->layers),
                     "layer_size", count_or_null(r->layer_size));
}

static json_t *done_json(const struct load_report *r)
{
    const struct load_amounts *a = &r->done;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "bytes_read", count(a->bytes_read),
                     "bytes_written", count(a->bytes_written), "pcie_in", count(a->pcie_in),
                     "pcie_out", count(a->pcie_out), "operations", json_out_number(a->operations),
                     "instructions", count(a->instructions));
}

/* Puts what part has into o; takes part. */
static bool join(json_t *o, json_t *part)
{
    bool joined = o && part && json_object_update(o, part) == 0;
    json_decref(part);
    return joined;
}

static json_t *report_json(const struct load_report *r)
{
    json_t *o = head("load", r);
    if (join(o, course_json(r)) && join(o, done_json(r)) &&
        json_object_set_new(o, "expectations", expectations_json(r)) == 0)
        return o;
    json_decref(o);
    return NULL;
}

enum status load_show_begin_json(struct buf *out, const struct load_report *r, struct error *err)
{
    return json_out_line(out, head("load_begin", r), JSON_REAL_PRECISION(15), err);
}

enum status load_show_json(struct buf *out, const struct load_report *r, struct error *err)
{
    return json_out_line(out, report_json(r), JSON_REAL_PRECISION(15), err);
}
