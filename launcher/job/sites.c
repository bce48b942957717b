/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/sites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/site.h"

static const char deleted[] = " (deleted)";

static bool is_module(uint64_t site, pid_t pid, char *name, size_t size)
{
    char path[40], *line = NULL;
    bool found = false;
    size_t room = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0) {
        char *slash = strrchr(line, '/');

        line[strcspn(line, "\n")] = 0;
        if (!slash || !ft_site_is_in(site, slash + 1))
            continue;
        snprintf(name, size, "%s", slash + 1);
        if (strlen(name) > strlen(deleted) && !strcmp(name + strlen(name) - strlen(deleted), deleted))
            name[strlen(name) - strlen(deleted)] = 0; /* the file has been replaced since */
        found = true;
    }
    if (file)
        fclose(file);
    free(line);
    return found;
}

const char *ft_sites_print(struct ft_sites *s, uint64_t site, pid_t pid)
{
    char name[FT_SITE_TEXT - 32], *text;

    for (unsigned i = 0; i < s->n && i < FT_SITES; i++)
        if (s->known[i].site == site)
            return s->known[i].text;
    if (!is_module(site, pid, name, sizeof name))
        strcpy(name, "?");
    text = s->known[s->n % FT_SITES].text;
    s->known[s->n++ % FT_SITES].site = site;
    snprintf(text, FT_SITE_TEXT, "%s+0x%llx", name, (unsigned long long)ft_site_offset(site));
    return text;
}
