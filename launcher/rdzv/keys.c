/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/keys.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [FT_RK_STATE] = "round/state", [FT_RK_LIST] = "list", [FT_RK_LEADER] = "round/leader", [FT_RK_CONTROLLER] = "round/controller",
    [FT_RK_MEMBER] = "member/"};

const char *ft_rdzv_key(const struct ft_rdzv_settings *s, char *text, enum ft_rdzv_round_key key, const char *name)
{
    snprintf(text, FT_RDZV_KEY, "%s/%s/%s%s", s->prefix, s->job, names[key], key == FT_RK_MEMBER ? name : "");
    return text;
}

const char *ft_rdzv_key_prefix(const struct ft_rdzv_settings *s, char *text, bool members)
{
    snprintf(text, FT_RDZV_KEY, "%s/%s/%s", s->prefix, s->job, members ? "member/" : "round/");
    return text;
}

const char *ft_rdzv_key_mark(const struct ft_rdzv_settings *s, char *text)
{
    snprintf(text, FT_RDZV_KEY, "%s/%s/store", s->prefix, s->job);
    return text;
}

const char *ft_rdzv_key_values(const struct ft_rdzv_settings *s, char *text, uint64_t version)
{
    snprintf(text, FT_RDZV_KEY, "%s/%s/values/%020llu/", s->prefix, s->job, (unsigned long long)version);
    return text;
}

bool ft_rdzv_key_read(const struct ft_rdzv_settings *s, const char *key, enum ft_rdzv_round_key *what, const char **name)
{
    char base[FT_RDZV_KEY];
    int n = snprintf(base, sizeof base, "%s/%s/", s->prefix, s->job);

    if (strncmp(key, base, (size_t)n) != 0)
        return false;
    key += n;
    *name = "";
    for (int i = FT_RK_STATE; i < FT_RK_MEMBER; i++)
        if (strcmp(key, names[i]) == 0) {
            *what = (enum ft_rdzv_round_key)i;
            return true;
        }
    n = (int)strlen(names[FT_RK_MEMBER]);
    if (strncmp(key, names[FT_RK_MEMBER], (size_t)n) != 0)
        return false;
    *what = FT_RK_MEMBER;
    *name = key + n;
    return true;
}
