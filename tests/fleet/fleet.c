/* SPDX-License-Identifier: MIT */
/* Many exporters in one process: fleet MACHINES GPUS FOLDER [SECONDS]. Each has its own ports on
 * loopback, its own collector, totals and site; the machines are made up (machine.c), the renderers
 * and the HTTP server are those of smeff. Prints "web PORT" and "dcgm PORT" for each, then "ready".
 *
 * Two hundred daemons would be two hundred times three processes for what is looked at here: what
 * Prometheus gets. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/server.h"
#include "machine.h"
#include "show/dcgm.h"
#include "show/prometheus.h"

static const int64_t second = 1000000000;

enum { DOORS = 2, LOOK_MS = 100 };

struct exporter {
    struct machine machine;
    struct trace *trace;
    struct site *site;
    struct server *server;
    int doors[DOORS];
    int64_t due_ns;      /* monotonic */
    size_t first, n_fds; /* its place in the list of what is waited for */
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

/* ---- texts ---- */

static void put_metrics(void *self, const struct snapshot *s, struct buf *out)
{
    const struct exporter *x = self;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    const struct show_exporter e = {.is_up = !x->machine.is_deaf,
                                    .cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec),
                                    .start_s = NAN,
                                    .memory_bytes = (double)used.ru_maxrss * 1024,
                                    .virtual_bytes = NAN,
                                    .open_fds = NAN,
                                    .max_fds = NAN};
    show_prometheus(out, s, x->machine.totals, &e);
}

static void put_dcgm(void *self, const struct snapshot *s, struct buf *out)
{
    const struct exporter *x = self;
    show_dcgm(out, x->machine.is_deaf ? NULL : s, x->machine.totals, DCGM_BOTH, x->machine.host);
}

static const struct site_ops ops = {.metrics = put_metrics, .dcgm = put_dcgm};

/* ---- opening ---- */

/* A socket on a free port of loopback; its name is printed. */
static enum status open_door(struct exporter *x, size_t i, struct error *err)
{
    static const char *const names[DOORS] = {"web", "dcgm"};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 64) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        return fail(err, ERR_IO, 0, "cannot listen on loopback");
    x->doors[i] = fd;
    printf("%s %u\n", names[i], (unsigned)ntohs(at.sin_port));
    return server_listen(x->server, fd, i == 0 ? HTTP_DOOR_WEB : HTTP_DOOR_DCGM, err);
}

static enum status open_exporter(struct exporter *x, unsigned number, unsigned n_gpus,
                                 const struct load *loads, struct error *err)
{
    enum status st = machine_open(&x->machine, number, n_gpus, loads, err);
    if (!st)
        st = trace_create(&x->trace, err);
    if (!st)
        st = site_create(&x->site, x->trace, x->machine.host, &ops, x, err);
    if (!st)
        st = server_open(&x->server, x->site, &(struct server_options){0}, err);
    for (size_t i = 0; !st && i < DOORS; i++)
        st = open_door(x, i, err);
    return st;
}

static void close_exporter(struct exporter *x)
{
    server_close(x->server);
    site_destroy(x->site);
    trace_destroy(x->trace);
    for (size_t i = 0; i < DOORS; i++)
        if (x->doors[i] > 0)
            close(x->doors[i]);
    machine_close(&x->machine);
}

/* ---- the loop ---- */

static enum status tick(struct exporter *x, struct error *err)
{
    struct snapshot *fresh = NULL;
    enum status st = machine_tick(&x->machine, err);
    if (!st)
        st = collector_snapshot(x->machine.collector, &fresh, err);
    if (st)
        return st;
    site_tell(x->site, x->machine.is_deaf ? "its stream is down" : "");
    site_take(x->site, fresh);
    return OK;
}

/* What a server waits for stays the same: its listening sockets, and one for all connections. */
static size_t collect_fds(struct exporter *list, size_t n, struct pollfd *fds)
{
    size_t n_fds = 0;
    for (size_t i = 0; i < n; i++) {
        static struct waits waits;
        waits_init(&waits, 1000);
        server_waits(list[i].server, &waits);
        list[i].first = n_fds;
        list[i].n_fds = waits.n;
        memcpy(fds + n_fds, waits.fd, waits.n * sizeof *fds);
        n_fds += waits.n;
    }
    return n_fds;
}

static bool is_called(const struct exporter *x, const struct pollfd *fds)
{
    bool called = false;
    for (size_t i = 0; i < x->n_fds; i++)
        called |= fds[x->first + i].revents != 0;
    return called;
}

static enum status serve(struct exporter *list, size_t n, double seconds, struct error *err)
{
    struct pollfd *fds = calloc(n * 8, sizeof *fds);
    int64_t begin_ns = clock_monotonic_ns(), looked_ns = 0;
    size_t n_fds = fds ? collect_fds(list, n, fds) : 0;
    enum status st = fds ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < n; i++) /* so that not all have their second at once */
        list[i].due_ns = begin_ns + second * (int64_t)i / (int64_t)n;
    while (!st && !stop) {
        int64_t now_ns = clock_monotonic_ns();
        bool look = now_ns - looked_ns >= LOOK_MS * 1000000;
        if (seconds > 0 && (double)(now_ns - begin_ns) * 1e-9 > seconds)
            break;
        looked_ns = look ? now_ns : looked_ns;
        poll(fds, n_fds, (int)(1 + 500 / n));
        for (size_t i = 0; !st && i < n; i++) {
            if (look || is_called(&list[i], fds))
                server_step(list[i].server);
            if (now_ns < list[i].due_ns)
                continue;
            list[i].due_ns += second;
            st = tick(&list[i], err);
        }
    }
    free(fds);
    return st;
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct load loads[LOADS];
    unsigned n = argc > 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    unsigned n_gpus = argc > 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (n == 0 || n_gpus == 0 || n_gpus > MACHINE_GPUS_MAX) {
        fprintf(stderr, "usage: fleet MACHINES GPUS FOLDER [SECONDS]\n");
        return 2;
    }
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        setrlimit(RLIMIT_NOFILE, &most);
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    struct exporter *list = calloc(n, sizeof *list);
    enum status st =
        list ? loads_read(loads, argv[3], &err) : fail(&err, ERR_NOMEM, 0, "no memory");
    unsigned opened = 0;
    for (; !st && opened < n; opened++)
        st = open_exporter(&list[opened], opened, n_gpus, loads, &err);
    if (!st) {
        printf("ready\n");
        fflush(stdout);
        st = serve(list, n, argc > 4 ? strtod(argv[4], NULL) : 0, &err);
    }
    if (st)
        fprintf(stderr, "fleet: %s\n", err.text);
    for (unsigned i = 0; i < opened; i++)
        close_exporter(&list[i]);
    free(list);
    loads_fini(loads);
    return st ? 1 : 0;
}
