/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ckpt/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ft/shm/models.h"
#include "launcher/base/thread.h"

enum state { IDLE, ASKED, WRITING, DONE, END };

struct ft_ckpt_writer {
    struct ft_ckpt_writer_config config;
    pthread_t thread;
    int done_fd;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    enum state state;                /* with the lock */
    bool abandoned;                  /* the thread frees what there is */

    struct ft_ckpt_header header;    /* whose turn it is says `state` */
    uint32_t slot;
    uint64_t before;
    uint64_t *hashes;                /* of the ranks, by section */
    bool other;                      /* the bytes are not those */
    char *path;
    char series[FT_CKPT_SERIES];
    struct ft_ckpt_written result;
};

static bool is_abandoned(struct ft_ckpt_writer *w)
{
    bool abandoned;

    pthread_mutex_lock(&w->lock);
    abandoned = w->abandoned;
    pthread_mutex_unlock(&w->lock);
    return abandoned;
}

static int get(void *arg, uint32_t section, uint64_t at, void *to, size_t n)
{
    struct ft_ckpt_writer *w = arg;
    struct ft_error e;

    if (is_abandoned(w)) {
        errno = ECANCELED;
        return -1;
    }
    if (ft_models_read(w->config.models, ft_ckpt_area(section, w->slot), at, to, n, &e) == 0)
        return 0;
    errno = EIO;
    return -1;
}

static void release(struct ft_ckpt_writer *w)
{
    pthread_mutex_lock(&w->lock);
    if (!w->abandoned) /* else what arg points to may be gone */
        w->config.taken(w->config.arg);
    pthread_mutex_unlock(&w->lock);
}

/* The bytes that were read are those that the ranks had handed over: a rank that took the slot for a newer version in spite of us, or
   wrote where it should not, would be found here. */
static int check(struct ft_ckpt_writer *w)
{
    struct ft_error ignored;
    uint64_t hash;

    for (uint32_t i = 0; i < ft_ckpt_header_sections(&w->header); i++)
        if (ft_models_hash(w->config.models, ft_ckpt_area(i, w->slot), w->header.sections[i].bytes, &hash, &ignored) < 0 ||
            hash != w->hashes[i]) {
            w->other = true;
            errno = EBADMSG;
            return -1;
        }
    return 0;
}

static int taken(void *arg)
{
    struct ft_ckpt_writer *w = arg;
    int err = check(w);

    release(w);
    return err;
}

/* h's hashes become those of the file. */
static int note_hashes(struct ft_ckpt_writer *w, struct ft_error *e)
{
    w->other = false;
    w->hashes = calloc(ft_ckpt_header_sections(&w->header), sizeof *w->hashes);
    if (!w->hashes)
        return ft_err_set(e, FT_ENOMEM, "no memory to write a checkpoint");
    for (uint32_t i = 0; i < ft_ckpt_header_sections(&w->header); i++)
        w->hashes[i] = w->header.sections[i].hash;
    return 0;
}

/* The last good one, or whatever has become of it. */
static uint64_t newest_but(const struct ft_ckpt_writer *w, uint64_t version)
{
    uint64_t *versions = NULL, newest = 0;
    struct ft_error ignored;
    int n = ft_ckpt_dir_list(&ft_disk_real, w->config.dir, &versions, &ignored);

    for (int i = n; i-- > 0;)
        newest = versions[i] == version ? newest : versions[i];
    free(versions);
    return n < 0 ? w->before : newest;
}

static void look(struct ft_ckpt_writer *w)
{
    struct ft_ckpt_written *r = &w->result;
    int moved;

    *r = (struct ft_ckpt_written){.version = w->header.version};
    moved = ft_ckpt_dir_follow(&w->config.dir, w->path, w->series, &r->e);

    r->moved = moved > 0;
    r->err = moved < 0 ? moved : 0;
    r->there = r->err ? 0 : newest_but(w, r->version); /* what we had is elsewhere, or nowhere */
}

static void write_one(struct ft_ckpt_writer *w)
{
    struct ft_ckpt_models models = {get, taken, w};
    struct ft_ckpt_written *r = &w->result;

    r->bytes = ft_ckpt_header_file_bytes(&w->header);
    if (!r->err)
        r->err = note_hashes(w, &r->e);
    if (!r->err)
        r->err = ft_ckpt_dir_write(&ft_disk_real, w->config.dir, &w->header, w->before, &models, &r->e);
    if (w->other)
        ft_err_set(&r->e, r->err, "the models of checkpoint %llu are not what the ranks had handed over", (unsigned long long)r->version);
    release(w); /* in any case; again if it went well */
    ft_ckpt_header_free(&w->header);
    free(w->hashes);
    w->hashes = NULL;
}

static void destroy(struct ft_ckpt_writer *w)
{
    close(w->done_fd);
    close(w->config.models);
    close(w->config.dir);
    free(w->path);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void *thread(void *arg)
{
    struct ft_ckpt_writer *w = arg;
    static const uint64_t one = 1;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->state != ASKED && w->state != END)
            pthread_cond_wait(&w->wake, &w->lock);
        if (w->state == END)
            break;
        w->state = WRITING;
        pthread_mutex_unlock(&w->lock);
        look(w);
        if (w->header.version)
            write_one(w);
        pthread_mutex_lock(&w->lock);
        if (w->abandoned)
            break;
        w->state = DONE;
        if (write(w->done_fd, &one, sizeof one) < 0) {
            /* an eventfd that is full is readable, too */
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (w->abandoned)
        destroy(w);
    return NULL;
}

struct ft_ckpt_writer *ft_ckpt_writer_new(const struct ft_ckpt_writer_config *config)
{
    struct ft_ckpt_writer *w = calloc(1, sizeof *w);
    int error;

    if (!w)
        return NULL;
    w->config = *config;
    w->config.dir = fcntl(config->dir, F_DUPFD_CLOEXEC, 0); /* its own: it may outlive the job in this process */
    w->config.models = fcntl(config->models, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    w->path = strdup(config->path);
    memcpy(w->series, config->series, sizeof w->series);
    w->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = !w->path || w->done_fd < 0 || w->config.dir < 0 || w->config.models < 0 ? errno : ft_thread_start(&w->thread, thread, w);
    if (!error)
        return w;
    destroy(w);
    errno = error;
    return NULL;
}

int ft_ckpt_writer_fd(const struct ft_ckpt_writer *w)
{
    return w->done_fd;
}

void ft_ckpt_writer_begin(struct ft_ckpt_writer *w, const struct ft_ckpt_header *h, uint32_t slot, uint64_t before)
{
    pthread_mutex_lock(&w->lock);
    w->header = *h;
    w->slot = slot;
    w->before = before;
    w->state = ASKED;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void ft_ckpt_writer_look(struct ft_ckpt_writer *w, uint64_t before)
{
    ft_ckpt_writer_begin(w, &(struct ft_ckpt_header){.version = 0}, 0, before);
}

bool ft_ckpt_writer_take(struct ft_ckpt_writer *w, struct ft_ckpt_written *result)
{
    uint64_t n;
    bool done;

    pthread_mutex_lock(&w->lock);
    done = w->state == DONE;
    if (done) {
        *result = w->result;
        w->state = IDLE;
    }
    pthread_mutex_unlock(&w->lock);
    return done && read(w->done_fd, &n, sizeof n) > 0;
}

void ft_ckpt_writer_free(struct ft_ckpt_writer *w)
{
    bool busy;

    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    busy = w->state == WRITING;
    w->abandoned = busy;
    if (busy)
        pthread_detach(w->thread); /* it frees what there is, from the moment when the lock is free */
    w->state = busy ? w->state : END;
    if (w->state == END)
        pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (busy)
        return;
    pthread_join(w->thread, NULL);
    destroy(w);
}
