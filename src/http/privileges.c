/* SPDX-License-Identifier: MIT */
#include "http/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, CAPABILITIES_MAX = 63 };

/* Without CAP_SETPCAP the bounding set stays; with "no new privileges" nothing comes of it. */
static void empty_sets(void)
{
    for (int i = 0; i <= CAPABILITIES_MAX; i++)
        prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* A service's sandbox may forbid capset; then none must be there already. What is inheritable alone
 * gives nothing to nobody. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}}, now[2];
    (void)syscall(SYS_capset, &header, none);
    if (syscall(SYS_capget, &header, now) != 0)
        return false;
    return !(now[0].effective | now[1].effective | now[0].permitted | now[1].permitted);
}

/* EINVAL: a user namespace that has no such user. */
static bool is_denied(int why)
{
    return why == EPERM || why == EINVAL;
}

/* Each as far as it may: a user namespace can forbid setgroups alone, a container have CAP_SETUID
 * without CAP_SETGID. 0, or an errno that is none of "it may not". */
static int become_nobody(void)
{
    if (setgroups(0, NULL) != 0 && !is_denied(errno))
        return errno;
    if (setresgid(NOBODY, NOBODY, NOBODY) != 0 && !is_denied(errno))
        return errno;
    if (setresuid(NOBODY, NOBODY, NOBODY) != 0 && !is_denied(errno))
        return errno;
    return 0;
}

enum status privileges_drop(int parent, bool *is_root, struct error *err)
{
    empty_sets();
    int why = geteuid() == 0 ? become_nobody() : 0;
    if (why)
        return fail(err, ERR_PERMISSION, why, "cannot become nobody: %s", strerror(why));
    *is_root = geteuid() == 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !drop_capabilities() ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return fail(err, ERR_PERMISSION, errno, "cannot give up privileges: %s", strerror(errno));
    /* another user's process has forgotten it */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
        return fail(err, ERR_IO, 0, "the daemon has gone");
    return OK;
}
