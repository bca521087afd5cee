/* SPDX-License-Identifier: MIT */
/* The server of http_server.h for scripts: prints its port and serves until it is killed.
 * Arguments: an address (127.0.0.1), a port (any). */
#include "http_server.h"

int main(int argc, char **argv)
{
    http_port = argc > 2 ? (uint16_t)strtoul(argv[2], NULL, 10) : 0;
    struct http_server s = http_start(argc > 1 ? argv[1] : "127.0.0.1");
    if (s.pid <= 0)
        return 1;
    printf("%u\n", s.port);
    fclose(stdout);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return waitpid(s.pid, NULL, 0) < 0;
}
