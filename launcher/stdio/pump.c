/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "launcher/base/thread.h"

enum { PIECE = 64 << 10 };

/* Of the thread, which may be the last that knows of it. */
struct pump {
    int from, to;
    off_t at;
};

static void end(struct pump *p)
{
    if (p->from >= 0)
        close(p->from);
    if (p->to >= 0)
        close(p->to);
    free(p);
}

static void *thread(void *arg)
{
    struct pump *p = arg;
    ssize_t n;

    do
        n = sendfile(p->to, p->from, &p->at, PIECE);
    while (n > 0 || (n < 0 && errno == EINTR)); /* EPIPE: nobody reads any more */
    end(p);
    return NULL;
}

int ft_pump_open(int file, off_t at)
{
    struct pump *p = malloc(sizeof *p);
    int ends[2], error;
    pthread_t id;

    if (!p)
        return -1;
    *p = (struct pump){.from = fcntl(file, F_DUPFD_CLOEXEC, 0), .to = -1, .at = at};
    if (p->from < 0 || pipe2(ends, O_CLOEXEC) < 0) {
        error = errno;
    } else {
        p->to = ends[1];
        error = ft_thread_start(&id, thread, p);
        if (!error) {
            pthread_detach(id);
            return ends[0];
        }
        close(ends[0]);
    }
    end(p);
    errno = error;
    return -1;
}
