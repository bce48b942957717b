/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/base.h"

#include <stdlib.h>

#include "ft/shm/models.h"
#include "launcher/ckpt/writer.h"
#include "launcher/controller/peers.h"
#include "launcher/wire/models.h"

int ft_controller_base_load(struct ft_controller_base *b, struct ft_ckpt_series *s, struct ft_error *e)
{
    struct ft_ckpt_header h;
    int found = ft_ckpt_series_load(s, b->models, &h, e);

    if (found <= 0)
        return found;
    if (ft_ckpt_header_sections(&h) > 1 + h.nranks) {
        ft_ckpt_header_free(&h);
        return ft_err_set(e, FT_EINVAL, "--resume: checkpoint %llu was made by ranks that send messages to each other or have made communicators: it is "
                          "for a job on one host", (unsigned long long)s->totals.resumed);
    }
    found = ft_ckpt_series_hash(b->models, &h, e);
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
    if (!data || ft_models_read(b->models, ft_ckpt_area(section, 0), m.at, data, m.length, e) < 0) {
        free(bytes.data);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    ft_peers_send(peers, node, bytes);
    return 0;
}
