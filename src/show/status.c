/* SPDX-License-Identifier: MIT */
/* What `smeff daemon status` prints: the daemon, then a few lines for each GPU and server. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "judge/serving.h"
#include "show/show.h"
#include "show/wrap.h"

/* GPU-Util first: the others say what it hides. */
static const enum metric of_gpu[] = {METRIC_GPU_UTIL,      METRIC_SM_ACTIVE, METRIC_SM_ISSUE,
                                     METRIC_TENSOR_ACTIVE, METRIC_OCCUPANCY, METRIC_DRAM_READ,
                                     METRIC_DRAM_WRITE,    METRIC_POWER};
static const enum metric of_server[] = {METRIC_OUTPUT_TOKENS_PER_SECOND, METRIC_TPOT,
                                        METRIC_RUNNING, METRIC_WAITING, METRIC_KV_USAGE};

static void end_line(struct buf *out, struct buf *line, const char *lead,
                     const struct show_style *style)
{
    wrap_words(out, style, lead, buf_str(line));
    out->failed |= line->failed;
    buf_clear(line);
}

static const char *dot(const struct show_style *style)
{
    return style->utf8 ? " · " : ", ";
}

/* "SM active 86 %", or "SM active: busy" */
static void add_value(struct buf *line, enum metric m, const struct value *v,
                      const struct show_style *style)
{
    const struct metric_info *info = metric_info(m);
    char number[48];
    if (line->len)
        buf_puts(line, dot(style));
    if (!value_has_number(v)) {
        buf_printf(line, "%s: %s", info->label, value_state_name(v->state));
        return;
    }
    unit_format(number, sizeof number, info->unit, v->v, 0);
    buf_printf(line, "%s %s", info->label, number);
    if (v->state != VALUE_OK)
        buf_printf(line, " (%s)", value_state_name(v->state));
}

static void put_daemon(struct buf *out, const struct snapshot *s, const struct show_daemon *d,
                       struct buf *line, const struct show_style *style)
{
    char since[CLOCK_TEXT_SIZE], memory[48], limit[48];
    double up_s = (double)(s->taken_ns - d->started_ns) * 1e-9;
    buf_printf(line, "smeff %s, process %lld, since %s: %s%s%s", SMEFF_VERSION, (long long)d->pid,
               clock_iso8601(since, d->started_ns, 0),
               d->replay      ? "plays a recording"
               : d->is_paused ? "paused"
                              : "samples",
               d->is_paused ? ": " : "", d->reason);
    end_line(out, line, "", style);
    if (d->replay) {
        buf_puts(line, d->replay);
        end_line(out, line, "recording  ", style);
    }
    unit_format(memory, sizeof memory, UNIT_BYTES, (double)d->history_bytes, 0);
    unit_format(limit, sizeof limit, UNIT_BYTES, (double)d->history_limit_bytes, 0);
    buf_printf(line, "the last %.0f s in %s of at most %s", d->history_s, memory, limit);
    end_line(out, line, "history    ", style);
    buf_printf(line, "%zu (%zu dropped: too slow)", d->viewers, d->dropped);
    end_line(out, line, "viewers    ", style);
    if (up_s >= 5) /* the start costs more than what follows */
        buf_printf(line, "%.2f %% of a CPU core", 100 * d->cpu_s / up_s);
    if (!isnan(d->memory_bytes)) {
        unit_format(memory, sizeof memory, UNIT_BYTES, d->memory_bytes, 0);
        buf_printf(line, "%s%s of memory", line->len ? dot(style) : "", memory);
    }
    buf_puts(line, ", without its samplers");
    end_line(out, line, "itself     ", style);
}

static void put_gpu(struct buf *out, const struct snapshot *s, size_t gpu, struct buf *line,
                    const struct show_style *style)
{
    char rate[32];
    const struct gpu_snapshot *g = &s->gpus[gpu];
    struct verdict v;
    serving_verdict(s, gpu, &v);
    buf_printf(line, "GPU %u  %s%s%s", g->index, g->name, dot(style), source_name(g->backend));
    if (g->rate_hz > 0)
        buf_printf(line, " %s", unit_rate(rate, sizeof rate, g->rate_hz));
    if (!isnan(g->coverage))
        buf_printf(line, "%s%.1f %% of %.1f s measured", dot(style), 100 * g->coverage,
                   gpu_snapshot_window_s(g));
    if (g->samples && s->taken_ns > g->t1_ns)
        buf_printf(line, "%snewest %.0f ms old", dot(style),
                   (double)(s->taken_ns - g->t1_ns) * 1e-6);
    end_line(out, line, "", style);
    for (size_t i = 0; i < sizeof of_gpu / sizeof of_gpu[0]; i++)
        add_value(line, of_gpu[i], &g->metrics[of_gpu[i]].value, style);
    end_line(out, line, "  ", style);
    buf_printf(line, "%s – %s", verdict_name(v.kind), verdict_text(v.kind));
    end_line(out, line, "  ", style);
}

static void put_server(struct buf *out, const struct server_snapshot *x, struct buf *line,
                       const struct show_style *style)
{
    buf_printf(line, "%s%s%s%s%s", x->url, *x->kind ? dot(style) : "", x->kind,
               *x->model ? dot(style) : "", x->model);
    end_line(out, line, "Server  ", style);
    if (x->state != VALUE_OK)
        buf_printf(line, "%s: %s", value_state_name(x->state), x->reason);
    for (size_t i = 0; x->state == VALUE_OK && i < sizeof of_server / sizeof of_server[0]; i++)
        add_value(line, of_server[i], &server_snapshot_metric(x, of_server[i])->value, style);
    end_line(out, line, "  ", style);
}

void show_status_text(struct buf *out, const struct snapshot *s, const struct show_daemon *d,
                      const struct show_style *style)
{
    struct buf line = BUF_INIT;
    put_daemon(out, s, d, &line, style);
    for (size_t i = 0; i < s->n_gpus; i++) {
        buf_putc(out, '\n');
        put_gpu(out, s, i, &line, style);
    }
    for (size_t i = 0; i < s->n_servers; i++) {
        buf_putc(out, '\n');
        put_server(out, &s->servers[i], &line, style);
    }
    buf_fini(&line);
}
