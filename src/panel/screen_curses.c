/* SPDX-License-Identifier: MIT */
/* The only file that knows ncurses. */
#include "panel/keys.h"
#include "panel/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define NCURSES_NOMACROS /* last: term.h has macros with everyday names */
#include <curses.h>
#include <term.h>

enum { ESC_DELAY_MS = 25, RESTORE_SIZE = 512, DIRECT = 0x1000000, TERM_SIZE = 80 };

struct screen {
    FILE *in; /* owned where it is not stdin */
    SCREEN *terminal;
    enum colours colours;
    struct surface shown;
    bool anew; /* nothing that was shown counts */
};

/* What a signal handler may touch. */
static volatile sig_atomic_t ended, stop_wanted, size_changed, continued;
static char restore_text[RESTORE_SIZE];
static volatile sig_atomic_t restore_len;
static struct termios modes_before;
static int tty_fd = -1;

/* ---- giving the terminal back, from anywhere ---- */

static void restore(void)
{
    if (restore_len == 0)
        return;
    ssize_t written = write(STDOUT_FILENO, restore_text, (size_t)restore_len);
    (void)written;
    tcsetattr(tty_fd, TCSANOW, &modes_before);
    restore_len = 0;
}

/* A crash, or a second signal that asks for the end: the terminal first, then as without us. */
static void on_crash(int number)
{
    restore();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_end(int number)
{
    if (ended)
        on_crash(number);
    ended = number;
}

static void on_stop(int number)
{
    (void)number;
    stop_wanted = 1;
}

static void on_size(int number)
{
    (void)number;
    size_changed = 1;
}

static void on_continue(int number)
{
    (void)number;
    continued = 1;
}

static void catch (int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

enum { CRASHES = sizeof crashes / sizeof crashes[0], ENDS = sizeof ends / sizeof ends[0] };

static void catch_all(void)
{
    static char stack[65536]; /* a stack that overflowed cannot hold its own handler */
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, NULL);
    for (size_t i = 0; i < CRASHES; i++)
        catch (crashes[i], on_crash, SA_ONSTACK | (int)SA_NODEFER);
    for (size_t i = 0; i < ENDS; i++)
        catch (ends[i], on_end, 0);
    catch (SIGTSTP, on_stop, 0);
    catch (SIGWINCH, on_size, 0);
    catch (SIGCONT, on_continue, 0);
}

static void release_all(void)
{
    for (size_t i = 0; i < CRASHES; i++)
        signal(crashes[i], SIG_DFL);
    for (size_t i = 0; i < ENDS; i++)
        signal(ends[i], SIG_DFL);
    signal(SIGTSTP, SIG_DFL);
    signal(SIGWINCH, SIG_DFL);
    signal(SIGCONT, SIG_DFL);
}

static int keep(int c)
{
    if (restore_len < RESTORE_SIZE)
        restore_text[restore_len++] = (char)c;
    return c;
}

/* What the terminal needs to hear at the end, while there is time to look it up. */
static void learn_restore(void)
{
    static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
    restore_len = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[8];
        snprintf(name, sizeof name, "%s", names[i]);
        const char *text = tigetstr(name);
        if (text && text != (const char *)-1) /* NOLINT: how terminfo says "no string" */
            tputs(text, 1, keep);
    }
}

/* ---- opening ---- */

static bool knows(const char *term)
{
    int found = 0;
    char name[TERM_SIZE];
    snprintf(name, sizeof name, "%s", term);
    bool known = setupterm(name, STDOUT_FILENO, &found) == OK && found == 1;
    bool can = known && tigetstr("cup") && tigetstr("cup") != (const char *)-1;
    if (known)
        del_curterm(cur_term);
    return can;
}

enum status screen_usable(struct error *err)
{
    const char *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO))
        return fail(err, ERR_UNSUPPORTED, 0, "standard output is no terminal");
    if (!term || !*term)
        return fail(err, ERR_UNSUPPORTED, 0, "TERM is not set");
    if (!knows(term))
        return fail(err, ERR_UNSUPPORTED, 0,
                    "the terminal %s is not known here, or cannot move its cursor (TERM)", term);
    return OK;
}

/* The terminal's own entry for colours by red, green and blue, where there is one and it says that
 * it has them; else what TERM says. */
static void choose_term(enum colours most, char *dst, size_t size)
{
    const char *term = getenv("TERM"), *depth = getenv("COLORTERM");
    int base = (int)strcspn(term, "-");
    snprintf(dst, size, "%.*s-direct", base, term);
    bool deep = depth && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0);
    if (most < COLOURS_24BIT || !deep || !knows(dst))
        snprintf(dst, size, "%s", term);
}

static void open_colours(struct screen *s, enum colours most)
{
    s->colours = COLOURS_NONE;
    if (most == COLOURS_NONE || !has_colors())
        return;
    start_color();
    use_default_colors();
    enum colours has = COLORS >= DIRECT ? COLOURS_24BIT
                       : COLORS >= 256  ? COLOURS_256
                       : COLORS >= 8    ? COLOURS_16
                                        : COLOURS_NONE;
    s->colours = has < most ? has : most;
    for (int r = 0; r < ROLE_COUNT; r++)
        init_extended_pair(r + 1, theme_look((enum role)r, s->colours).colour, -1);
}

static enum status open_keys(struct screen *s, struct error *err)
{
    s->in = isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "re");
    return s->in ? OK : fail(err, ERR_UNSUPPORTED, errno, "no terminal for keys");
}

enum status screen_open(struct screen **out, enum colours most, struct error *err)
{
    char term[TERM_SIZE];
    struct screen *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = open_keys(s, err);
    if (st) {
        free(s);
        return st;
    }
    tty_fd = fileno(s->in);
    tcgetattr(tty_fd, &modes_before);
    choose_term(most, term, sizeof term);
    catch_all(); /* before ncurses would install handlers of its own */
    set_escdelay(ESC_DELAY_MS);
    s->terminal = newterm(term, stdout, s->in);
    if (!s->terminal) {
        screen_close(s);
        return fail(err, ERR_UNSUPPORTED, 0, "the terminal %s cannot be used", term);
    }
    learn_restore();
    open_colours(s, most);
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    leaveok(stdscr, TRUE);
    s->anew = true;
    *out = s;
    return OK;
}

void screen_close(struct screen *s)
{
    if (!s)
        return;
    if (s->terminal) {
        endwin();
        restore(); /* modes as they were, even where ncurses thinks that they are */
        delscreen(s->terminal);
    }
    release_all();
    if (s->in && s->in != stdin)
        fclose(s->in);
    surface_fini(&s->shown);
    free(s);
}

/* ---- showing ---- */

/* Continued in the background, the terminal is the shell's. */
static bool is_foreground(void)
{
    pid_t owner = tcgetpgrp(tty_fd);
    return owner < 0 || owner == getpgrp();
}

void screen_size(struct screen *s, int *width, int *height)
{
    struct winsize w;
    (void)s;
    *width = getmaxx(stdscr);
    *height = getmaxy(stdscr);
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0 || w.ws_row == 0)
        return;
    if (w.ws_col == *width && w.ws_row == *height)
        return;
    resizeterm(w.ws_row, w.ws_col);
    *width = w.ws_col;
    *height = w.ws_row;
    screen_redraw(s);
}

void screen_redraw(struct screen *s)
{
    s->anew = true;
}

static void put(const struct screen *s, int y, int x, const struct cell *cell)
{
    const struct look look = theme_look((enum role)cell->role, s->colours);
    attr_t attributes =
        (look.bold ? A_BOLD : 0) | (look.dim ? A_DIM : 0) | (look.reverse ? A_REVERSE : 0);
    wchar_t text[2] = {(wchar_t)(cell->c ? cell->c : ' '), 0};
    int pair = s->colours == COLOURS_NONE ? 0 : cell->role + 1;
    cchar_t c;
    if (setcchar(&c, text, attributes, (short)pair, NULL) != ERR)
        mvadd_wch(y, x, &c);
}

static bool same_size(const struct surface *a, const struct surface *b)
{
    return a->width == b->width && a->height == b->height && a->cells;
}

void screen_show(struct screen *s, const struct surface *surface)
{
    size_t n = (size_t)surface->width * (size_t)surface->height;
    bool anew = s->anew || !same_size(&s->shown, surface);
    if (!is_foreground())
        return;
    if (!same_size(&s->shown, surface)) {
        surface_fini(&s->shown);
        if (surface_init(&s->shown, surface->width, surface->height, surface->ascii, NULL))
            return;
    }
    if (anew)
        clearok(curscr, TRUE);
    for (size_t i = 0; i < n; i++) {
        const struct cell *now = &surface->cells[i], *was = &s->shown.cells[i];
        if (anew || now->c != was->c || now->role != was->role)
            put(s, (int)(i / (size_t)surface->width), (int)(i % (size_t)surface->width), now);
    }
    memcpy(s->shown.cells, surface->cells, n * sizeof *surface->cells);
    s->anew = false;
    refresh();
}

/* ---- keys and signals ---- */

int screen_fd(const struct screen *s)
{
    return fileno(s->in);
}

static uint32_t key_of(wint_t code)
{
    static const struct {
        wint_t curses;
        uint32_t key;
    } table[] = {{KEY_LEFT, PANEL_KEY_LEFT},     {KEY_RIGHT, PANEL_KEY_RIGHT},
                 {KEY_UP, PANEL_KEY_UP},         {KEY_DOWN, PANEL_KEY_DOWN},
                 {KEY_PPAGE, PANEL_KEY_PAGE_UP}, {KEY_NPAGE, PANEL_KEY_PAGE_DOWN},
                 {KEY_HOME, PANEL_KEY_HOME},     {KEY_END, PANEL_KEY_END},
                 {KEY_F(1), PANEL_KEY_F1},       {KEY_F(10), PANEL_KEY_F10},
                 {KEY_ENTER, PANEL_KEY_ENTER},   {KEY_BACKSPACE, PANEL_KEY_BACKSPACE}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].curses == code)
            return table[i].key;
    return 0;
}

bool screen_key(struct screen *s, uint32_t *key)
{
    (void)s;
    while (is_foreground()) {
        wint_t code = 0;
        int kind = get_wch(&code);
        if (kind == ERR)
            return false;
        *key = kind == KEY_CODE_YES ? key_of(code)
               : code == '\r'       ? (uint32_t)PANEL_KEY_ENTER
               : code == '\b'       ? (uint32_t)PANEL_KEY_BACKSPACE
                                    : (uint32_t)code;
        if (*key)
            return true;
    }
    return false;
}

/* As the shell expects: the terminal as it was, and stopped. Comes back when it is continued. */
static void stop(struct screen *s)
{
    endwin();
    signal(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    catch (SIGTSTP, on_stop, 0);
    stop_wanted = 0;
    s->anew = true;
    refresh();
}

/* The shell had the terminal meanwhile: modes and screen are its own. */
static void take_back(struct screen *s)
{
    continued = 0;
    endwin();
    s->anew = true;
    refresh();
}

bool screen_step(struct screen *s)
{
    bool changed = size_changed || continued;
    if (stop_wanted) {
        stop(s);
        changed = true;
    }
    if (continued && is_foreground())
        take_back(s);
    size_changed = 0;
    struct pollfd p = {fileno(s->in), POLLIN, 0};
    if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL)) && !ended)
        ended = SIGHUP;
    return changed;
}

int screen_ended(const struct screen *s)
{
    (void)s;
    return ended;
}
