/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher/control/pipe.h"
#include "launcher/control/reach.h"
#include "launcher/control/started.h"

enum {
    ANSWER_MS = 3000,
    SUCCESSOR_TRIES = 20, TRY_MS = 50   /* when an agent was killed while it was asked */
};

enum reached { BY_NOBODY, BY_NODE_ALONE, BY_NODE, BY_ITSELF };

/* *err: FT_LINK_LATE, it is silent; FT_LINK_GONE, it died over it. */
static json_t *ask(int fd, int *err)
{
    struct ft_link *l = malloc(sizeof *l);
    json_t *info = NULL;

    *err = FT_LINK_GONE;
    if (!l) {
        close(fd);
        return NULL;
    }
    if (ft_link_open(l, fd, "info") == 0) {
        l->timeout_ms = ANSWER_MS;
        info = ft_link_line(l, err);
    }
    ft_link_close(l);
    free(l);
    return info;
}

static enum reached reached(const struct ft_job_entry *job)
{
    if (!job->by_node)
        return BY_ITSELF;
    return job->unreachable ? BY_NODE_ALONE : job->info ? BY_NODE : BY_NOBODY;
}

/* Of several sockets of one job here, that which leads furthest counts. */
static void add(struct ft_jobs *jobs, int dir, const char *name, json_t *info)
{
    struct ft_job_entry one = {.dir = dir, .info = info, .by_node = ft_reach_is_node(name)}, *list;
    size_t i;

    one.unreachable = json_string_value(json_object_get(info, "unreachable"));
    snprintf(one.name, sizeof one.name, "%s", name);
    snprintf(one.id, sizeof one.id, "%.*s", (int)strcspn(name, "."), name);
    for (i = 0; i < jobs->n && strcmp(jobs->list[i].id, one.id); i++)
        ;
    if (i < jobs->n && reached(&one) > reached(&jobs->list[i])) {
        json_decref(jobs->list[i].info);
        jobs->list[i] = one;
        return;
    }
    list = i < jobs->n ? NULL : realloc(jobs->list, (jobs->n + 1) * sizeof *list);
    if (!list) {
        json_decref(info);
        return;
    }
    jobs->list = list;
    list[jobs->n++] = one;
}

/* Nobody has to look further. */
static bool is_found(const struct ft_jobs *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->n; i++)
        if (!strncmp(jobs->list[i].id, name, strlen(jobs->list[i].id)) && reached(&jobs->list[i]) >= BY_NODE)
            return true;
    return false;
}

static void look_at(struct ft_jobs *jobs, int dir, const char *name, bool clean)
{
    size_t len = strlen(name);
    struct timespec pause = {.tv_nsec = TRY_MS * 1000000};
    json_t *info = NULL;
    int fd, err;

    if (len <= 5 || len >= FT_SOCKET_NAME || strcmp(name + len - 5, ".sock") || is_found(jobs, name))
        return;
    fd = ft_reach(dir, name, &info);
    for (int i = 0; i < SUCCESSOR_TRIES && (fd >= 0 || errno == ECONNRESET); i++) {
        info = fd >= 0 ? ask(fd, &err) : NULL;
        if (info || (fd >= 0 && err != FT_LINK_GONE))
            break;
        nanosleep(&pause, NULL);
        fd = ft_reach(dir, name, &info);
    }
    if (fd >= 0 || info) {
        /* One that ended just now is none; one that is there and silent is. */
        if (info || faccessat(dir, name, F_OK, 0) == 0)
            add(jobs, dir, name, info);
    } else if (errno == ECONNREFUSED && clean) {
        ft_rundir_remove_stale(dir, name);
    } else if (errno == EAGAIN) { /* its backlog is full */
        add(jobs, dir, name, NULL);
    }
}

static void open_all(struct ft_jobs *jobs)
{
    struct ft_rundirs dirs;
    struct ft_error e;

    ft_rundir_candidates(&dirs);
    for (int i = 0; i < dirs.n; i++) {
        int dir = ft_rundir_open(dirs.paths[i], false, &e);

        if (dir >= 0)
            jobs->dirs[jobs->ndirs++] = dir;
        else if (e.text[0])
            memcpy(jobs->refused, e.text, sizeof jobs->refused);
    }
}

static void look_into(struct ft_jobs *jobs, int dir, bool clean)
{
    int again = dup(dir);
    struct dirent *entry;
    DIR *files;

    files = again < 0 ? NULL : fdopendir(again);
    for (int nodes = 0; files && nodes < 2; nodes++) { /* they come last: the job's own socket is the shorter way */
        rewinddir(files);
        while ((entry = readdir(files)))
            if (ft_reach_is_node(entry->d_name) == nodes)
                look_at(jobs, dir, entry->d_name, clean);
    }
    if (files)
        closedir(files);
    else if (again >= 0)
        close(again);
}

static int by_age(const void *a, const void *b)
{
    double x = json_number_value(json_object_get(((const struct ft_job_entry *)a)->info, "wall_seconds"));
    double y = json_number_value(json_object_get(((const struct ft_job_entry *)b)->info, "wall_seconds"));

    return (x < y) - (x > y);
}

void ft_jobs_find(struct ft_jobs *jobs, const char *word, bool clean)
{
    char name[FT_SOCKET_NAME] = "";

    memset(jobs, 0, sizeof *jobs);
    open_all(jobs);
    if (word && !strchr(word, '/'))
        snprintf(name, sizeof name, "%s.sock", word);
    for (int i = 0; *name && i < jobs->ndirs; i++)
        look_at(jobs, jobs->dirs[i], name, clean);
    for (int i = 0; !jobs->n && i < jobs->ndirs; i++)
        look_into(jobs, jobs->dirs[i], clean);
    if (jobs->n)
        qsort(jobs->list, jobs->n, sizeof jobs->list[0], by_age);
}

static bool has_pid(const struct ft_job_entry *job, const char *word)
{
    static const char *const names[] = {"pid", "agent_pid", "standby_pid"};
    char *end;
    long long pid = strtoll(word, &end, 10);

    for (int i = 0; !job->by_node && *word && !*end && pid > 0 && i < 3; i++)
        if (json_integer_value(json_object_get(job->info, names[i])) == pid)
            return true;
    return false;
}

static bool has_name(const struct ft_job_entry *job, const char *word)
{
    const char *name = json_string_value(json_object_get(job->info, "name"));

    return name && !strcmp(name, word);
}

bool ft_jobs_matches(const struct ft_job_entry *job, const char *word)
{
    return !word || has_pid(job, word) || has_name(job, word) || !strncmp(job->id, word, strlen(word));
}

/* The pid of an ftrun that answers for no job itself. */
static const struct ft_job_entry *find_started(const struct ft_jobs *jobs, const char *word)
{
    char id[FT_SOCKET_NAME], *end;
    long long pid = word ? strtoll(word, &end, 10) : 0;

    if (pid <= 0 || pid > INT_MAX || *end)
        return NULL;
    for (int i = 0; i < jobs->ndirs; i++) {
        if (!ft_started_find(jobs->dirs[i], (pid_t)pid, id))
            continue;
        for (size_t j = 0; j < jobs->n; j++)
            if (!strcmp(jobs->list[j].id, id))
                return &jobs->list[j];
    }
    return NULL;
}

const struct ft_job_entry *ft_jobs_pick(const struct ft_jobs *jobs, const char *word, size_t *matching)
{
    const struct ft_job_entry *found = NULL;

    *matching = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        const struct ft_job_entry *job = &jobs->list[i];

        if (word && (!strcmp(job->id, word) || has_pid(job, word)))
            return job; /* no doubt, whatever else begins like it */
        if (ft_jobs_matches(job, word)) {
            found = job;
            ++*matching;
        }
    }
    if (!*matching)
        return find_started(jobs, word);
    return *matching == 1 ? found : NULL;
}

void ft_jobs_free(struct ft_jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++)
        json_decref(jobs->list[i].info);
    for (int i = 0; i < jobs->ndirs; i++)
        close(jobs->dirs[i]);
    free(jobs->list);
}
