/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/child.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/base/signals.h"

enum { TALK_BYTES = 4096 /* of a line of stdout */ };

void ft_child_wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

static void forget_text(struct ft_child *c)
{
    if (c->text)
        explicit_bzero(c->text, c->len);
    free(c->text);
    c->text = NULL;
    c->len = c->at = 0;
}

/* A line is whole, or as long as fits. */
static void take_line(struct ft_child *c, struct ft_child_stream *s)
{
    while (s->npart && (unsigned char)s->part[s->npart - 1] <= ' ')
        s->npart--; /* ssh ends its lines with a carriage return, too */
    s->part[s->npart] = 0;
    s->npart = 0;
    for (char *p = s->part; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    if (*s->part)
        c->config->line(c->config->arg, s == c->streams ? 1 : 2, s->part);
}

static void take(struct ft_child *c, struct ft_child_stream *s, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n' || s->npart == s->room - 1)
            take_line(c, s);
        if (data[i] != '\n')
            s->part[s->npart++] = data[i];
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_child *c = arg;
    struct ft_child_stream *s = &c->streams[c->streams[0].fd != fd];
    char data[4096];
    ssize_t n = read(fd, data, sizeof data);

    (void)what;
    if (n > 0)
        take(c, s, data, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        event_del(s->readable);
}

static void close_in(struct ft_child *c)
{
    forget_text(c);
    if (c->writable)
        event_free(c->writable);
    if (c->in >= 0)
        close(c->in);
    c->writable = NULL;
    c->in = -1;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_child *c = arg;
    ssize_t n = write(fd, c->text + c->at, c->len - c->at);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    c->at += n > 0 ? (size_t)n : 0;
    if (n >= 0 && c->at < c->len)
        return;
    if (n < 0 || !c->talks) { /* all of it is there, or nobody reads: its end will tell */
        close_in(c);
        return;
    }
    forget_text(c);
    event_del(c->writable);
}

void ft_child_say(struct ft_child *c, const char *text)
{
    size_t left = c->len - c->at, more = strlen(text);
    char *whole = c->in >= 0 ? malloc(left + more + 1) : NULL;

    if (!whole)
        return;
    if (left)
        memcpy(whole, c->text + c->at, left);
    memcpy(whole + left, text, more + 1);
    forget_text(c);
    c->text = whole;
    c->len = left + more;
    event_add(c->writable, NULL);
}

static void run(const struct ft_child_config *config, const char **words, int in, int out, int err)
{
    setsid(); /* the terminal's signals are for ftrun; and nobody is asked for a password */
    dup2(in, 0);
    dup2(out >= 0 ? out : open("/dev/null", O_WRONLY | O_CLOEXEC), 1);
    dup2(err, 2);
    setpriority(PRIO_PROCESS, 0, config->nice);
    for (char *const *v = config->env; v && *v; v++)
        putenv(*v); /* without "=" it takes out */
    ft_signals_give_back(config->signals);
    execvp(words[0], (char **)words);
    dprintf(2, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static int watch(struct ft_child *c, struct ft_child_stream *s, int fd, size_t room)
{
    s->fd = fd;
    s->room = room;
    s->part = malloc(room);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    s->readable = event_new(c->config->base, fd, EV_READ | EV_PERSIST, on_readable, c);
    return s->part && s->readable && event_add(s->readable, NULL) == 0 ? 0 : -1;
}

/* Before there is a process: what cannot be had is known then. */
static int watch_all(struct ft_child *c, int in, int out, int err)
{
    int no;

    c->in = in;
    fcntl(in, F_SETFL, O_NONBLOCK);
    c->writable = event_new(c->config->base, in, EV_WRITE | EV_PERSIST, on_writable, c);
    no = watch(c, &c->streams[1], err, FT_SAID_BYTES);
    return (out >= 0 && watch(c, &c->streams[0], out, TALK_BYTES) < 0) || no < 0 || !c->writable ? -1 : 0;
}

pid_t ft_child_start(struct ft_child *c, const struct ft_child_config *config, const char **words, const char *text, bool talks)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, no = 0;
    pid_t pid = -1;

    *c = (struct ft_child){.config = config, .talks = talks, .in = -1, .streams = {{.fd = -1}, {.fd = -1}}};
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 || (talks && pipe2(out, O_CLOEXEC) < 0)) {
        no = errno;
    } else if (watch_all(c, in[1], out[0], err[0]) < 0) {
        no = ENOMEM;
    } else {
        ft_child_say(c, text);
        fflush(NULL);
        pid = fork();
        no = errno;
        if (pid == 0)
            run(config, words, in[0], out[1], err[1]);
    }
    for (int i = 0; i < 2; i++) { /* ours are c's, if it came to that */
        int list[] = {in[i], out[i], err[i]};

        for (int k = 0; k < 3; k++)
            if (list[k] >= 0 && list[k] != c->in && list[k] != c->streams[0].fd && list[k] != c->streams[1].fd)
                close(list[k]);
    }
    errno = no;
    return pid;
}

void ft_child_drain(struct ft_child *c)
{
    char data[4096];
    ssize_t n;

    for (int i = 0; i < 2; i++) {
        struct ft_child_stream *s = &c->streams[i];

        while (s->fd >= 0 && (n = read(s->fd, data, sizeof data)) > 0)
            take(c, s, data, (size_t)n);
        if (s->npart)
            take_line(c, s);
    }
}

void ft_child_close(struct ft_child *c)
{
    if (!c->config)
        return; /* it was never started */
    close_in(c);
    for (int i = 0; i < 2; i++) {
        struct ft_child_stream *s = &c->streams[i];

        if (s->readable)
            event_free(s->readable);
        if (s->fd >= 0)
            close(s->fd);
        free(s->part);
        *s = (struct ft_child_stream){.fd = -1};
    }
}
