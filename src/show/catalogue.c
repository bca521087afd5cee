/* SPDX-License-Identifier: MIT */
/* The catalogue of metrics, as a table, one by one, and as JSON. */

#include "show/json_out.h"
#include "show/show.h"
#include "show/wrap.h"

/* One line a metric, whatever the width: these lines are for grep, too. */
void show_catalogue(struct buf *out, const struct show_style *style)
{
    int group = -1;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if ((int)info->group != group) {
            buf_printf(out, "%s%s\n", group < 0 ? "" : "\n", metric_group_title(info->group));
            group = (int)info->group;
        }
        buf_printf(out, "  %-26s %-18s ", info->key, unit_name(info->unit));
        wrap_plain(out, style, info->help);
        buf_putc(out, '\n');
    }
}

static void put_nsys(struct buf *out, const struct nsys_name *names)
{
    for (const struct nsys_name *n = names; n && n->name; n++) {
        buf_printf(out, "  nsys   %s", n->name);
        for (const char *const *plus = n->plus; plus && *plus; plus++)
            buf_printf(out, " + %s", *plus);
        buf_putc(out, '\n');
    }
}

void show_metric(struct buf *out, const struct metric_info *info, const struct show_style *style)
{
    struct buf title = BUF_INIT;
    buf_printf(&title, "%s (%s) - %s", info->key, unit_name(info->unit), info->help);
    wrap_words(out, style, "", buf_str(&title));
    out->failed |= title.failed;
    buf_fini(&title);
    buf_putc(out, '\n');
    wrap_words(out, style, "  ", info->doc);
    buf_putc(out, '\n');
    put_nsys(out, info->nsys);
    for (const struct pm_candidate *p = info->pm; p && p->expression; p++)
        buf_printf(out, "  pm     %s%s%s\n", p->expression, p->chips ? "   chips: " : "",
                   p->chips ? p->chips : "");
    if (info->gpm_id)
        buf_printf(out, "  gpm    metric %d\n", info->gpm_id);
    if (info->dcgm)
        buf_printf(out, "  DCGM   %s\n", info->dcgm);
}

static json_t *nsys_json(const struct nsys_name *names)
{
    json_t *list = json_array();
    for (const struct nsys_name *n = names; list && n && n->name; n++) {
        json_t *rows = json_pack("[s]", n->name);
        for (const char *const *plus = n->plus; plus && *plus; plus++)
            json_array_append_new(rows, json_string(*plus));
        json_array_append_new(list, rows);
    }
    return list;
}

static json_t *pm_json(const struct pm_candidate *candidates)
{
    json_t *list = json_array();
    for (const struct pm_candidate *p = candidates; list && p && p->expression; p++)
        json_array_append_new(
            list, json_pack("{s:s, s:s?}", "expression", p->expression, "chips", p->chips));
    return list;
}

enum status show_metric_json(struct buf *out, const struct metric_info *info, struct error *err)
{
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s?}", "key", info->key, "unit",
                  unit_name(info->unit), "group", metric_group_title(info->group), "label",
                  info->label, "help", info->help, "description", info->doc, "nsys",
                  nsys_json(info->nsys), "pm", pm_json(info->pm), "gpm",
                  info->gpm_id ? json_integer(info->gpm_id) : json_null(), "dcgm", info->dcgm);
    return json_out_line(out, o, 0, err);
}
