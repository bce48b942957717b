/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/base.h"

#include <stdlib.h>

#include "ft/shm/models.h"
#include "launcher/controller/peers.h"
#include "launcher/wire/models.h"

static uint64_t area_of(uint32_t section)
{
    return section ? ft_models_local(section - 1, 0) : ft_models_global(0);
}

static int begin_models(void *arg, const struct ft_ckpt_header *h, struct ft_error *e)
{
    const struct ft_controller_base *b = arg;

    (void)e;
    for (uint32_t i = 0; i <= h->nranks; i++)
        ft_models_end(b->models, area_of(i), 0);
    return 0;
}

static int put_model(void *arg, uint32_t section, uint64_t at, const void *data, size_t n, struct ft_error *e)
{
    const struct ft_controller_base *b = arg;

    return ft_models_write(b->models, area_of(section), at, data, n, e);
}

/* The file's hashes are of another kind. */
static int hash_sections(const struct ft_controller_base *b, struct ft_ckpt_header *h, struct ft_error *e)
{
    int err = 0;

    for (uint32_t i = 0; i <= h->nranks && !err; i++)
        err = ft_models_hash(b->models, area_of(i), h->sections[i].bytes, &h->sections[i].hash, e);
    return err;
}

int ft_controller_base_load(struct ft_controller_base *b, struct ft_ckpt_series *s, struct ft_error *e)
{
    struct ft_ckpt_header h;
    int found = ft_ckpt_series_load(s, &h, &(struct ft_ckpt_sink){begin_models, put_model, b}, e);

    if (found <= 0)
        return found;
    found = hash_sections(b, &h, e);
    if (!found) {
        b->version = h.version;
        b->sections = h.sections;
        h.sections = NULL;
    }
    ft_ckpt_header_free(&h);
    return found;
}

void ft_controller_base_free(struct ft_controller_base *b)
{
    free(b->sections);
    b->sections = NULL;
}

void ft_controller_base_say(const struct ft_controller_base *b, struct ft_peers *peers, uint32_t node)
{
    struct ft_wire_held m = {.version = b->version, .nmodels = ft_controller_models(b->map, node)};
    struct ft_wire_bytes none = {.data = NULL};

    if (!b->version)
        return;
    m.models = calloc(m.nmodels, sizeof *m.models);
    for (uint32_t i = 0; m.models && i < m.nmodels; i++)
        m.models[i] = b->sections[ft_controller_section(b->map, node, i)];
    ft_peers_send(peers, node, m.models ? ft_wire_put_held(&m) : none); /* none: the connection breaks, and it is tried again */
    free(m.models);
}

int ft_controller_base_give(const struct ft_controller_base *b, struct ft_peers *peers, uint32_t node, const struct ft_wire_frame *f,
                            struct ft_error *e)
{
    struct ft_wire_bytes bytes;
    struct ft_wire_part m;
    uint8_t *data;
    uint32_t section;

    if (ft_wire_get_give(f, &m, e) < 0)
        return FT_EDAMAGED;
    if (!b->version || m.round || m.model >= ft_controller_models(b->map, node))
        return ft_err_set(e, FT_EDAMAGED, "a GIVE of what is not here");
    section = ft_controller_section(b->map, node, m.model);
    if (m.at > b->sections[section].bytes || m.length > b->sections[section].bytes - m.at)
        return ft_err_set(e, FT_EDAMAGED, "a GIVE of more than there is");
    bytes = ft_wire_put_piece(&m, &data);
    if (!data || ft_models_read(b->models, area_of(section), m.at, data, m.length, e) < 0) {
        free(bytes.data);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    ft_peers_send(peers, node, bytes);
    return 0;
}
