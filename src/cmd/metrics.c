/* SPDX-License-Identifier: MIT */
/* smeff metrics: the catalogue. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "metric/metric.h"

static void put_table(struct buf *out)
{
    int group = -1;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if ((int)info->group != group) {
            buf_printf(out, "%s%s\n", group < 0 ? "" : "\n", metric_group_title(info->group));
            group = (int)info->group;
        }
        buf_printf(out, "  %-26s %-18s %s\n", info->key, unit_name(info->unit), info->help);
    }
}

/* Words on lines of 96 columns, indented by two. */
static void put_paragraph(struct buf *out, const char *text)
{
    size_t column = 0;
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, " ");
        if (column + len + 1 > 96) {
            buf_putc(out, '\n');
            column = 0;
        }
        buf_puts(out, column ? " " : "  ");
        buf_add(out, p, len);
        column += len + 2;
        p += len;
        p += strspn(p, " ");
    }
    buf_putc(out, '\n');
}

static void put_one(struct buf *out, const struct metric_info *info)
{
    buf_printf(out, "%s (%s) - %s\n\n", info->key, unit_name(info->unit), info->help);
    put_paragraph(out, info->doc);
    buf_putc(out, '\n');
    for (const struct nsys_name *n = info->nsys; n && n->name; n++) {
        buf_printf(out, "  nsys   %s", n->name);
        for (const char *const *plus = n->plus; plus && *plus; plus++)
            buf_printf(out, " + %s", *plus);
        buf_putc(out, '\n');
    }
    for (const struct pm_candidate *p = info->pm; p && p->expression; p++)
        buf_printf(out, "  pm     %s%s%s\n", p->expression, p->chips ? "   chips: " : "",
                   p->chips ? p->chips : "");
    if (info->gpm_id)
        buf_printf(out, "  gpm    metric %d\n", info->gpm_id);
    if (info->dcgm)
        buf_printf(out, "  DCGM   %s\n", info->dcgm);
}

static json_t *metric_json(const struct metric_info *info)
{
    json_t *nsys = json_array(), *pm = json_array();
    for (const struct nsys_name *n = info->nsys; nsys && n && n->name; n++) {
        json_t *rows = json_pack("[s]", n->name);
        for (const char *const *plus = n->plus; plus && *plus; plus++)
            json_array_append_new(rows, json_string(*plus));
        json_array_append_new(nsys, rows);
    }
    for (const struct pm_candidate *p = info->pm; pm && p && p->expression; p++)
        json_array_append_new(
            pm, json_pack("{s:s, s:s?}", "expression", p->expression, "chips", p->chips));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s?}", "key", info->key,
                     "unit", unit_name(info->unit), "group", metric_group_title(info->group),
                     "label", info->label, "help", info->help, "description", info->doc, "nsys",
                     nsys, "pm", pm, "gpm", info->gpm_id ? json_integer(info->gpm_id) : json_null(),
                     "dcgm", info->dcgm);
}

static void put_json(struct buf *out, const struct metric_info *info)
{
    json_t *o = metric_json(info);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    if (text)
        buf_printf(out, "%s\n", text);
    else
        out->failed = true;
    free(text);
    json_decref(o);
}

static int metrics(const struct options *o, int argc, char **argv)
{
    struct buf out = BUF_INIT;
    struct error err = ERROR_INIT;
    int code = EXIT_CODE_OK;
    for (int i = 0; i < argc; i++) {
        int m = metric_by_key(argv[i]);
        if (m == METRIC_NONE) {
            buf_fini(&out);
            return usage_error(&command_metrics, "no such metric: %s", argv[i]);
        }
        if (o->json)
            put_json(&out, metric_info((enum metric)m));
        else
            put_one(&out, metric_info((enum metric)m));
    }
    if (argc == 0 && o->json)
        for (int m = 0; m < METRIC_COUNT; m++)
            put_json(&out, metric_info((enum metric)m));
    else if (argc == 0)
        put_table(&out);
    if (output_write(&out, &err)) {
        complain("%s", err.text);
        code = EXIT_CODE_FAILURE;
    }
    buf_fini(&out);
    return code;
}

const struct command command_metrics = {
    .name = "metrics",
    .arguments = "[KEY...]",
    .summary = "the catalogue: every metric, its unit and what it means",
    .details = "Lists the metrics that smeff knows; with KEY, what a metric means, when it\n"
               "misleads, and under which names each source has it.",
    .example = "smeff metrics sm_active occupancy",
    .options = OPTION(JSON),
    .run = metrics,
};
