/* SPDX-License-Identifier: MIT */
/* smeff metrics: the catalogue. */
#include "cmd/chip.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "show/show.h"

static enum status put(struct buf *out, const struct options *o, enum metric m, struct error *err)
{
    struct show_style style = output_style(o);
    if (o->json)
        return show_metric_json(out, metric_info(m), err);
    show_metric(out, metric_info(m), &style);
    return OK;
}

/* All of them: a table, or each as JSON. */
static enum status put_all(struct buf *out, const struct options *o, struct error *err)
{
    struct show_style style = output_style(o);
    enum status st = OK;
    if (!o->json)
        show_catalogue(out, &style);
    for (int m = 0; o->json && !st && m < METRIC_COUNT; m++)
        st = put(out, o, (enum metric)m, err);
    return st;
}

static int metrics(const struct options *o, int argc, char **argv)
{
    if (o->chip)
        return chip_metrics(o, argc, argv);
    for (int i = 0; i < argc; i++)
        if (metric_by_key(argv[i]) == METRIC_NONE)
            return usage_error(&command_metrics, "no such metric: %s", argv[i]);
    struct buf out = BUF_INIT;
    struct error err = ERROR_INIT;
    enum status st = argc == 0 ? put_all(&out, o, &err) : OK;
    for (int i = 0; !st && i < argc; i++)
        st = put(&out, o, (enum metric)metric_by_key(argv[i]), &err);
    if (!st)
        st = output_write(&out, &err);
    if (st)
        complain("%s", err.text);
    buf_fini(&out);
    return st ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

const struct command command_metrics = {
    .name = "metrics",
    .arguments = "[KEY...]",
    .summary = "the catalogue: every metric, its unit and what it means",
    .details = "Lists the metrics that smeff knows; with KEY, what a metric means, when it\n"
               "misleads, and under which names each source has it.\n\n"
               "With --chip: which counter each would be read from there, and why there is none\n"
               "for the others. That needs CUPTI (12.8 or newer), but no GPU and no driver.\n"
               "Counters that cost much CPU time are taken only when asked for by name.",
    .example = "smeff metrics --chip GB202 --set wide",
    .options = OPTION(JSON) | OPTION(CHIP) | OPTION(CUPTI) | OPTION(SET) | OPTION(METRIC),
    .run = metrics,
};
