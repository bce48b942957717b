/* SPDX-License-Identifier: BSD-3-Clause */
/* Many hosts of a job in one process, over one store:

     crowd URL HOSTS [SECRET-FILE]

   As many come at once, and one more, which is a spare. When all have joined, a host that neither leads nor has the store is lost without a word. It prints how long
   both took, in ms: until the last one has joined, and from the loss until the spare has the place. */
#include "config.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/rdzv/rdzv.h"

struct host {
    struct ft_rdzv *rdzv;
    char name[32];
    int64_t place;             /* -1: a spare */
    bool joined, leads;
};

static struct host *hosts;
static struct event_base *base;
static struct event *lose;
static uint32_t n, njoined;
static uint64_t came_ns, lost_ns;
static int64_t lost_place;

static uint64_t ms_since(uint64_t ns) { return (ft_timer_boot_ns() - ns) / 1000000; }

static void give_up(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

static void on_joined(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place)
{
    struct host *h = arg;

    (void)state;
    (void)list;
    h->place = place;
    njoined += !h->joined;
    h->joined = true;
    if (njoined < n + 1)
        return;
    printf("joined after %llu ms\n", (unsigned long long)ms_since(came_ns));
    ft_timer_set(lose, 1000);
}

static void on_changed(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place)
{
    struct host *h = arg;

    (void)state;
    (void)list;
    if (lost_ns && h->place < 0 && place == lost_place) {
        printf("place %lld is taken after %llu ms\n", (long long)place, (unsigned long long)ms_since(lost_ns));
        event_base_loopbreak(base);
    }
    h->place = place;
}

/* From the loop: not from within a call of its own. */
static void on_lose(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    for (uint32_t i = 0; i < n; i++)
        if (!hosts[i].leads && hosts[i].place >= 0 && !ft_rdzv_serves(hosts[i].rdzv)) {
            lost_place = hosts[i].place;
            lost_ns = ft_timer_boot_ns();
            ft_rdzv_free(hosts[i].rdzv);
            hosts[i].rdzv = NULL;
            return;
        }
}

static void on_void(void *arg, const struct ft_rdzv_state *state)
{
    (void)state;
    njoined -= ((struct host *)arg)->joined;
    ((struct host *)arg)->joined = false;
}

static void on_led(void *arg, uint64_t term) { ((struct host *)arg)->leads = term; }

static void on_controller(void *arg, uint64_t term, const char *address)
{
    (void)arg;
    (void)term;
    (void)address;
}

static void on_closed(void *arg, const struct ft_rdzv_state *state)
{
    (void)arg;
    (void)state;
    give_up("closed");
}

static void on_failed(void *arg, const char *line)
{
    (void)arg;
    give_up(line);
}

static void on_left(void *arg) { (void)arg; }

static void open_host(uint32_t i, const struct ft_rdzv_settings *settings, const char *secret_file)
{
    static struct ft_say say;
    struct host *h = &hosts[i];
    struct ft_rdzv_config c = {.base = base, .settings = settings, .secret_file = secret_file, .name = h->name, .address = "192.0.2.1:4711", .slots = 2,
                               .say = &say, .calls = {on_joined, on_changed, on_void, on_led, on_controller, on_closed, on_failed, on_left, h}};
    struct ft_error e = {""};

    h->place = -1;
    snprintf(h->name, sizeof h->name, "host%u", i);
    if (ft_rdzv_open(&h->rdzv, &c, &e) < 0)
        give_up(e.text);
}

int main(int argc, char **argv)
{
    struct ft_rdzv_settings settings;
    struct rlimit files;
    struct ft_error e = {""};
    char nodes[32];

    n = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
    if (n < 2)
        return 2;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(nodes, sizeof nodes, "%u", n);
    ft_rdzv_settings_init(&settings);
    if (ft_rdzv_settings_url(&settings, argv[1], &e) < 0 || ft_rdzv_settings_nodes(&settings, nodes, &e) < 0 ||
        ft_rdzv_settings_check(&settings, &e) < 0)
        give_up(e.text);
    base = event_base_new();
    lose = evtimer_new(base, on_lose, NULL);
    hosts = calloc(n + 1, sizeof *hosts);
    came_ns = ft_timer_boot_ns();
    for (uint32_t i = 0; i <= n; i++)
        open_host(i, &settings, argc > 3 ? argv[3] : NULL);
    event_base_dispatch(base);
    for (uint32_t i = 0; i <= n; i++)
        ft_rdzv_free(hosts[i].rdzv);
    free(hosts);
    ft_timer_free(lose);
    event_base_free(base);
    return 0;
}
