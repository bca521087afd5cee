/* SPDX-License-Identifier: MIT */
#include "http/auth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "http/secret.h"
#include "http/users.h"

/* JOBS: more than GUESTS_CHECKS_LOCAL, so that some are left to others than local clients. */
enum { JOBS_MAX = 16, KNOWN_MAX = 16 };

enum job_state { JOB_FREE, JOB_WAITS, JOB_RUNS, JOB_DONE };

struct job {
    enum job_state state;
    unsigned long long number; /* the order of asking */
    void *who;                 /* NULL = has gone */
    bool is_right;
    char credentials[USERS_CREDENTIALS_SIZE];
};

struct auth {
    char *token; /* NULL = none */
    struct users *users;
    /* what was right, newest last overwritten; the one thread of the server uses it */
    char known[KNOWN_MAX][USERS_CREDENTIALS_SIZE];
    size_t next_known;
    int fd; /* tells the server */
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* for all below */
    pthread_cond_t wanted;
    struct job jobs[JOBS_MAX];
    unsigned long long number;
    bool stop;
};

enum status auth_create(struct auth **out, const char *token, const char *users_file,
                        struct error *err)
{
    bool has_token = token && *token;
    *out = NULL;
    if (!has_token && !users_file)
        return OK;
    struct auth *a = calloc(1, sizeof *a);
    if (!a)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    a->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->wanted, NULL);
    a->token = has_token ? strdup(token) : NULL;
    enum status st = a->fd < 0                ? fail(err, ERR_IO, errno, "eventfd")
                     : has_token && !a->token ? fail(err, ERR_NOMEM, 0, "out of memory")
                                              : OK;
    if (!st && users_file)
        st = users_read(&a->users, users_file, err);
    if (st) {
        auth_destroy(a);
        return st;
    }
    *out = a;
    return OK;
}

void auth_destroy(struct auth *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->wanted);
    pthread_mutex_unlock(&a->lock);
    if (a->has_thread)
        pthread_join(a->thread, NULL);
    users_destroy(a->users);
    if (a->token)
        secret_wipe(a->token, strlen(a->token));
    free(a->token);
    if (a->fd >= 0)
        close(a->fd);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->wanted);
    secret_wipe(a, sizeof *a);
    free(a);
}

/* ---- the thread ---- */

/* Whoever has waited longest; NULL = nobody waits. */
static struct job *oldest(struct auth *a, enum job_state state)
{
    struct job *found = NULL;
    for (size_t i = 0; i < JOBS_MAX; i++)
        if (a->jobs[i].state == state && (!found || a->jobs[i].number < found->number))
            found = &a->jobs[i];
    return found;
}

static void *work(void *self)
{
    struct auth *a = self;
    const uint64_t one = 1;
    pthread_mutex_lock(&a->lock);
    while (!a->stop) {
        struct job *j = oldest(a, JOB_WAITS);
        if (!j) {
            pthread_cond_wait(&a->wanted, &a->lock);
            continue;
        }
        j->state = JOB_RUNS;
        if (j->who) {
            pthread_mutex_unlock(&a->lock);
            bool is_right = users_check(a->users, j->credentials);
            pthread_mutex_lock(&a->lock);
            j->is_right = is_right;
        }
        j->state = JOB_DONE;
        if (write(a->fd, &one, sizeof one) < 0)
            continue; /* it says already that there is something */
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

enum status auth_start(struct auth *a, struct error *err)
{
    sigset_t all, before;
    if (!a || !a->users)
        return OK;
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int why = pthread_create(&a->thread, NULL, work, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    a->has_thread = why == 0;
    return why ? fail(err, ERR_IO, why, "no thread for passwords: %s", strerror(why)) : OK;
}

/* ---- asking ---- */

static bool is_known(const struct auth *a, const char *credentials)
{
    bool known = false;
    for (size_t i = 0; i < KNOWN_MAX; i++)
        known |= a->known[i][0] && secret_equal(a->known[i], credentials);
    return known;
}

static enum auth_answer queue_job(struct auth *a, const char *credentials, void *who)
{
    pthread_mutex_lock(&a->lock);
    struct job *j = oldest(a, JOB_FREE);
    if (j) {
        *j = (struct job){.state = JOB_WAITS, .number = ++a->number, .who = who};
        memcpy(j->credentials, credentials, strlen(credentials) + 1);
        pthread_cond_signal(&a->wanted);
    }
    pthread_mutex_unlock(&a->lock);
    return j ? AUTH_LATER : AUTH_FULL;
}

enum auth_answer auth_ask(struct auth *a, const char *authorization, void *who, bool may_wait)
{
    char credentials[USERS_CREDENTIALS_SIZE];
    const char *bearer = secret_of_scheme(authorization, "Bearer"),
               *basic = secret_of_scheme(authorization, "Basic");
    if (bearer)
        return a->token && secret_equal(a->token, bearer) ? AUTH_YES : AUTH_NO;
    if (!basic || !a->users)
        return AUTH_NO;
    bool are_some =
        secret_decode(basic, credentials, sizeof credentials) && strchr(credentials, ':');
    enum auth_answer answer = !are_some                  ? AUTH_NO
                              : is_known(a, credentials) ? AUTH_YES
                              : may_wait                 ? queue_job(a, credentials, who)
                                                         : AUTH_FULL;
    secret_wipe(credentials, sizeof credentials);
    return answer;
}

int auth_fd(const struct auth *a)
{
    return a ? a->fd : -1;
}

bool auth_next(struct auth *a, void **who, bool *is_right)
{
    uint64_t ignored;
    if (!a)
        return false;
    pthread_mutex_lock(&a->lock);
    struct job *j = oldest(a, JOB_DONE);
    if (!j && read(a->fd, &ignored, sizeof ignored) > 0)
        j = oldest(a, JOB_DONE);
    if (j) {
        *who = j->who;
        *is_right = j->is_right;
        if (j->is_right)
            memcpy(a->known[a->next_known++ % KNOWN_MAX], j->credentials, sizeof j->credentials);
        secret_wipe(j, sizeof *j); /* free again */
    }
    pthread_mutex_unlock(&a->lock);
    return j != NULL;
}

void auth_forget(struct auth *a, const void *who)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *j = &a->jobs[i];
        if (j->state == JOB_FREE || j->who != who)
            continue;
        if (j->state == JOB_WAITS)
            secret_wipe(j,
                        sizeof *j); /* free at once: who comes and goes must not fill the queue */
        else
            j->who = NULL;
    }
    pthread_mutex_unlock(&a->lock);
}

const char *auth_challenge(const struct auth *a)
{
    return a->users ? "Basic realm=\"smeff\", charset=\"UTF-8\"" : "Bearer realm=\"smeff\"";
}
