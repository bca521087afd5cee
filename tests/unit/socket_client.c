/* SPDX-License-Identifier: MIT */
/* A client of a Unix socket, for scripts: socket_client PATH TEXT [never]. Sends TEXT as it is (\n
 * and \xHH in printf's way are the shell's business), copies what comes to standard output, and
 * with "never" reads nothing but waits until the other end hangs up. With PATH beginning with '='
 * it is a datagram server instead: prints each message on a line (a systemd that is told things).
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_at(const char *path, int type, int server)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strncpy(at.sun_path, path, sizeof at.sun_path - 1);
    int fd = socket(AF_UNIX, type, 0);
    int rc = server ? bind(fd, (struct sockaddr *)&at, sizeof at)
                    : connect(fd, (struct sockaddr *)&at, sizeof at);
    if (rc != 0) {
        perror(path);
        return -1;
    }
    return fd;
}

static int be_server(const char *path)
{
    char message[1000];
    int fd = open_at(path, SOCK_DGRAM, 1);
    for (ssize_t n; fd >= 0 && (n = recv(fd, message, sizeof message, 0)) >= 0;) {
        printf("%.*s\n", (int)n, message);
        fflush(stdout);
    }
    return 1;
}

int main(int argc, char **argv)
{
    char chunk[65536];
    if (argc < 2)
        return 2;
    if (argv[1][0] == '=')
        return be_server(argv[1] + 1);
    int fd = open_at(argv[1], SOCK_STREAM, 0);
    if (fd < 0)
        return 1;
    size_t len = argc > 2 ? strlen(argv[2]) : 0;
    if (len && send(fd, argv[2], len, MSG_NOSIGNAL) < 0)
        return 1;
    if (argc > 3) {
        struct pollfd p = {fd, POLLRDHUP, 0};
        poll(&p, 1, -1);
        return 0;
    }
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;) {
        fwrite(chunk, 1, (size_t)n, stdout);
        fflush(stdout);
    }
    return 0;
}
