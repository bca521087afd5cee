/* SPDX-License-Identifier: MIT */
#include "panel/keys.h"

enum { STEP_COLUMNS = 4, PAGE_COLUMNS = 60, PAGE_ROWS = 10 };

/* ---- time ---- */

static void freeze(struct model *m)
{
    if (m->is_frozen)
        return;
    m->is_frozen = true;
    /* what is still on its way belongs to the bucket that has begun */
    m->at_ns = m->froze_ns = m->edge_ns - m->edge_ns % TRACE_BUCKET_NS;
}

static void thaw(struct model *m)
{
    m->is_frozen = false;
    m->at_ns = m->froze_ns = 0;
}

/* Looks at another time, so many columns later; never before what is kept, nor behind the freeze.
 */
static void move_time(struct model *m, int columns)
{
    if (m->edge_ns == 0)
        return;
    freeze(m);
    int64_t oldest = m->trace ? trace_oldest_ns(m->trace) : 0;
    m->at_ns += columns * model_column_ns(m);
    if (m->at_ns < oldest)
        m->at_ns = oldest;
    if (m->at_ns > m->froze_ns)
        m->at_ns = m->froze_ns;
}

static void to_oldest(struct model *m)
{
    if (m->edge_ns == 0 || !m->trace)
        return;
    freeze(m);
    m->at_ns = trace_oldest_ns(m->trace);
}

static void zoom(struct model *m, int by)
{
    m->scale += by;
    m->scale = m->scale < 0 ? 0 : m->scale >= MODEL_SCALES ? MODEL_SCALES - 1 : m->scale;
}

/* ---- places ---- */

static void go(struct model *m, enum view view)
{
    if (m->view == view)
        return;
    m->before = m->view == VIEW_HELP || m->view == VIEW_METRICS || m->view == VIEW_PROCESSES
                    ? m->before
                    : m->view;
    m->view = view;
    m->scroll = 0;
}

static void toggle(struct model *m, enum view view)
{
    go(m, m->view == view ? m->before : view);
}

/* The GPU that comes so many places later in the list that is shown. */
static void move_gpu(struct model *m, int by)
{
    const struct gpu_snapshot *list[TRACE_GPUS_MAX];
    int n = (int)model_gpus(m, list, TRACE_GPUS_MAX), at = 0;
    if (n == 0)
        return;
    for (int i = 0; i < n; i++)
        if (list[i]->index == m->gpu)
            at = i;
    at += by;
    m->gpu = list[at < 0 ? 0 : at >= n ? n - 1 : at]->index;
}

static void move_rows(struct model *m, int by)
{
    if (m->view == VIEW_OVERVIEW || m->view == VIEW_GPU) {
        move_gpu(m, by);
        return;
    }
    m->scroll += by;
    if (m->scroll < 0)
        m->scroll = 0;
}

/* 1 is the first GPU of the machine. */
static void open_gpu(struct model *m, size_t number)
{
    if (!m->now || number >= m->now->n_gpus)
        return;
    m->gpu = m->now->gpus[number].index;
    if (m->view == VIEW_OVERVIEW)
        go(m, VIEW_GPU);
}

/* One step back from wherever one is. */
static void escape(struct model *m)
{
    if (m->view == VIEW_HELP || m->view == VIEW_METRICS || m->view == VIEW_PROCESSES)
        go(m, m->before);
    else if (m->filter.text[0])
        m->filter.text[0] = '\0';
    else if (m->is_frozen)
        thaw(m);
    else if (m->view == VIEW_GPU)
        go(m, VIEW_OVERVIEW);
}

/* ---- all keys ---- */

static bool press_motion(struct model *m, uint32_t key)
{
    switch (key) {
    case PANEL_KEY_LEFT:
    case 'h':
        move_time(m, -STEP_COLUMNS);
        return true;
    case PANEL_KEY_RIGHT:
    case 'l':
        move_time(m, STEP_COLUMNS);
        return true;
    case '<':
        move_time(m, -PAGE_COLUMNS);
        return true;
    case '>':
        move_time(m, PAGE_COLUMNS);
        return true;
    case PANEL_KEY_UP:
    case 'k':
        move_rows(m, -1);
        return true;
    case PANEL_KEY_DOWN:
    case 'j':
        move_rows(m, 1);
        return true;
    case PANEL_KEY_PAGE_UP:
        move_rows(m, -PAGE_ROWS);
        return true;
    case PANEL_KEY_PAGE_DOWN:
        move_rows(m, PAGE_ROWS);
        return true;
    case PANEL_KEY_HOME:
        to_oldest(m);
        return true;
    case PANEL_KEY_END:
        thaw(m);
        return true;
    default:
        return false;
    }
}

static void press_view(struct model *m, uint32_t key)
{
    switch (key) {
    case '?':
    case PANEL_KEY_F1:
        toggle(m, VIEW_HELP);
        break;
    case 'm':
        toggle(m, VIEW_METRICS);
        break;
    case 'p':
        toggle(m, VIEW_PROCESSES);
        break;
    case '0':
    case 'o':
        go(m, VIEW_OVERVIEW);
        break;
    case PANEL_KEY_ENTER:
        go(m, VIEW_GPU);
        break;
    case PANEL_KEY_TAB:
        go(m, m->view == VIEW_OVERVIEW  ? VIEW_GPU
              : m->view == VIEW_GPU     ? VIEW_METRICS
              : m->view == VIEW_METRICS ? VIEW_PROCESSES
                                        : VIEW_OVERVIEW);
        break;
    case PANEL_KEY_ESC:
        escape(m);
        break;
    default:
        if (key >= '1' && key <= '9')
            open_gpu(m, key - '1');
    }
}

enum panel_action keys_press(struct model *m, uint32_t key)
{
    m->is_chosen = true;
    if (m->filter.is_typing) {
        filter_type(&m->filter, key);
        m->scroll = 0;
        return PANEL_NOTHING;
    }
    if (press_motion(m, key))
        return PANEL_NOTHING;
    switch (key) {
    case 'q':
    case PANEL_KEY_F10:
        return PANEL_QUIT;
    case 'r':
        return PANEL_RECORD;
    case PANEL_KEY_REDRAW:
        return PANEL_REDRAW;
    case ' ':
        if (m->is_frozen)
            thaw(m);
        else if (m->edge_ns)
            freeze(m);
        return PANEL_NOTHING;
    case '+':
    case '=':
        zoom(m, -1);
        return PANEL_NOTHING;
    case '-':
        zoom(m, 1);
        return PANEL_NOTHING;
    case 's':
        m->sort = (enum sort)((m->sort + 1) % SORT_COUNT);
        return PANEL_NOTHING;
    case '/':
        m->filter.is_typing = true;
        return PANEL_NOTHING;
    case 'b':
        if (!m->ascii)
            m->glyphs = (enum glyphs)((m->glyphs + 1) % (GLYPHS_ASCII + 1));
        return PANEL_NOTHING;
    default:
        press_view(m, key);
        return PANEL_NOTHING;
    }
}
