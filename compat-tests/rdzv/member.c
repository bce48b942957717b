/* SPDX-License-Identifier: BSD-3-Clause */
/* A host of a job, as far as it finds the others:

     member URL NAME [MIN:MAX [SECRET-FILE]]     torchrun's environment in the place of a URL: -

   What it is told it prints, a line each. What it reads is what it does: close, leave, renew, publish ADDRESS, set KEY VALUE, get KEY MS,
   add KEY BY, check KEY. At the end of its input it goes on. */
#include "config.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/rdzv/rdzv.h"

static struct ft_rdzv *rdzv;
static struct event_base *base;
static struct ft_say say;
static int code;

static void print_list(const char *what, const struct ft_rdzv_state *state, const struct ft_rdzv_list *list, int64_t place)
{
    printf("%s %lld of %u, round %llu, spares %u:", what, (long long)place, list->n, (unsigned long long)ft_rdzv_version_number(state->version),
           state->spares);
    for (uint32_t i = 0; i < list->n && i < 100; i++)
        printf(" %s%s", list->members[i].name, list->members[i].lost ? "!" : "");
    printf("\n");
}

static void on_joined(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place)
{
    (void)arg;
    print_list("joined", state, list, place);
}

static void on_changed(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place)
{
    (void)arg;
    print_list("changed", state, list, place);
}

static void on_void(void *arg, const struct ft_rdzv_state *state)
{
    (void)arg;
    (void)state;
    printf("void\n");
}

static void on_led(void *arg, uint64_t term)
{
    (void)arg;
    printf("led %llu\n", (unsigned long long)term);
}

static void on_controller(void *arg, uint64_t term, const char *address)
{
    (void)arg;
    printf("controller %llu %s\n", (unsigned long long)term, address);
}

static void on_closed(void *arg, const struct ft_rdzv_state *state)
{
    (void)arg;
    (void)state;
    printf("closed\n");
    ft_rdzv_leave(rdzv);
}

static void on_failed(void *arg, const char *line)
{
    (void)arg;
    printf("failed %s\n", line);
    code = 1;
    ft_rdzv_leave(rdzv);
}

static void on_left(void *arg)
{
    (void)arg;
    printf("left\n");
    event_base_loopbreak(base);
}

static void on_value(void *arg, const unsigned char *value, size_t n, const char *why)
{
    printf("%s: %.*s%s\n", (char *)arg, (int)n, why ? "" : (const char *)value, why ? why : "");
    free(arg);
}

static void on_check(void *arg, const unsigned char *value, size_t n, const char *why)
{
    (void)value;
    printf("%s: %s\n", (char *)arg, why ? why : n ? "yes" : "no");
    free(arg);
}

static void on_values(const char *what, char *key, char *rest)
{
    struct ft_rdzv_values *v = ft_rdzv_values(rdzv);
    struct ft_error e = {""};
    char *tag = NULL;
    const char *keys[] = {key};
    int err = FT_EINVAL;

    if (!v || asprintf(&tag, "%s %s", what, key) < 0)
        return;
    if (strcmp(what, "set") == 0)
        err = ft_rdzv_values_set(v, key, rest, strlen(rest), on_value, tag, &e);
    else if (strcmp(what, "add") == 0)
        err = ft_rdzv_values_add(v, key, atoll(rest), on_value, tag, &e);
    else if (strcmp(what, "get") == 0)
        err = ft_rdzv_values_get(v, key, strtoull(rest, NULL, 10), on_value, tag, &e);
    else if (strcmp(what, "check") == 0)
        err = ft_rdzv_values_check(v, keys, 1, on_check, tag, &e);
    if (err < 0)
        printf("%s: %s\n", tag, e.text);
    if (err < 0)
        free(tag);
}

static void obey(char *line)
{
    char *what = strtok(line, " \n"), *key = strtok(NULL, " \n"), *rest = strtok(NULL, "\n");

    if (!what)
        return;
    if (strcmp(what, "close") == 0)
        ft_rdzv_close(rdzv, 0);
    else if (strcmp(what, "leave") == 0)
        ft_rdzv_leave(rdzv);
    else if (strcmp(what, "renew") == 0)
        ft_rdzv_renew(rdzv);
    else if (strcmp(what, "publish") == 0 && key)
        ft_rdzv_publish(rdzv, key);
    else if (key)
        on_values(what, key, rest ? rest : "");
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    static char line[4096];
    static size_t n;
    ssize_t got = read(fd, line + n, sizeof line - 1 - n);
    char *end;

    (void)what;
    if (got <= 0) {
        event_del(arg);
        return;
    }
    n += (size_t)got;
    line[n] = 0;
    while ((end = strchr(line, '\n'))) {
        char one[sizeof line];

        snprintf(one, sizeof one, "%.*s", (int)(end - line), line);
        n -= (size_t)(end + 1 - line);
        memmove(line, end + 1, n + 1);
        obey(one);
    }
}

static const char *get(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

static int settings_of(struct ft_rdzv_settings *s, int argc, char **argv, struct ft_error *e)
{
    struct ft_rdzv_torchrun t;
    int err;

    if (strcmp(argv[1], "-") == 0) {
        err = ft_rdzv_settings_torchrun(s, &t, get, NULL, e);
        if (err == 0)
            return ft_err_set(e, FT_EINVAL, "no PET_NNODES");
        return err < 0 ? err : 0;
    }
    ft_rdzv_settings_init(s);
    err = ft_rdzv_settings_url(s, argv[1], e);
    ft_rdzv_settings_hide(argv[1]);
    if (err == 0 && argc > 3 && *argv[3])
        err = ft_rdzv_settings_nodes(s, argv[3], e);
    return err == 0 ? ft_rdzv_settings_check(s, e) : err;
}

int main(int argc, char **argv)
{
    struct ft_rdzv_settings settings;
    struct ft_rdzv_config config = {.settings = &settings, .address = "192.0.2.1:4711", .slots = 2, .say = &say,
                                    .calls = {on_joined, on_changed, on_void, on_led, on_controller, on_closed, on_failed, on_left, NULL}};
    struct ft_error e = {""};
    struct event *input;

    if (argc < 3)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    base = event_base_new();
    config.base = base;
    config.name = argv[2];
    config.secret_file = argc > 4 && *argv[4] ? argv[4] : NULL;
    config.password = getenv("MEMBER_PASSWORD");
    if (settings_of(&settings, argc, argv, &e) < 0 || ft_rdzv_open(&rdzv, &config, &e) < 0) {
        printf("cannot: %s\n", e.text);
        return 1;
    }
    input = event_new(base, 0, EV_READ | EV_PERSIST, on_input, event_self_cbarg());
    event_add(input, NULL);
    event_base_dispatch(base);
    event_free(input);
    ft_rdzv_free(rdzv);
    event_base_free(base);
    return code;
}
