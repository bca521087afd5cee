/* SPDX-License-Identifier: MIT */
/* Keys, and how to read the screen. */
#include "panel/chart.h"
#include "panel/view.h"

static const struct {
    const char *keys, *words;
} table[] = {
    {"q  F10  Ctrl-C", "quit"},
    {"?  F1", "this page"},
    {"↑ ↓  k j", "choose a GPU; in lists: scroll"},
    {"Enter  1-9", "one GPU; 1 is the first"},
    {"0  o", "all GPUs"},
    {"m   p   Tab", "every metric; processes; the next page"},
    {"← →  h l", "look back and forth (freezes); < > in big steps"},
    {"Home  End", "the oldest moment that is kept; now"},
    {"space", "freeze, go on"},
    {"+ -", "time scale"},
    {"s", "sort: number, GPU-Util, gap, power, memory"},
    {"/", "filter by name (Enter keeps it, Esc ends it)"},
    {"r", "record into a file of this folder; again: end it"},
    {"b", "charts as braille, blocks or ASCII"},
    {"Esc", "one step back"},
    {"Ctrl-L", "draw everything anew"},
};

static const char *const reading[] = {
    "GPU-Util is the share of time in which a kernel was there, whatever it did. The lanes below "
    "it "
    "are hardware counters of the same time, on the same scale: where they are low the card has "
    "room.",
    "Charts: solid is what was never undercut inside a column, shaded reaches to the most that was "
    "seen, so that bursts of milliseconds show. Blank: nothing was measured.",
    "93 %? is suspect, ~93 % is stale. A word instead of a number is its state; the metric page "
    "(m) "
    "says why.",
    "The verdict is judged over 3 s, and changes when two windows in a row say so. smeff metrics "
    "KEY tells what a metric means and when it misleads.",
};

void view_help(const struct model *m, struct area a)
{
    int n = (int)(sizeof table / sizeof table[0]);
    bool wide = a.width >= 130;
    int y = 0;
    for (int i = m->scroll > n - 1 ? n - 1 : m->scroll; i < n; i++, y++) {
        area_fit(a, 2, y, 16, ROLE_KEY, table[i].keys);
        area_fit(a, 19, y, a.width - 20, ROLE_TEXT, table[i].words);
    }
    struct area text = wide ? area_part(a, 74, 0, a.width - 76, a.height)
                            : area_part(a, 2, 0, a.width - 4, a.height);
    y = wide ? 0 : y + 1;
    for (size_t i = 0; i < sizeof reading / sizeof reading[0] && y < a.height; i++)
        y = area_words(text, 0, y, 0, a.height - y, ROLE_DIM, reading[i]) + (wide ? 1 : 0);
}
