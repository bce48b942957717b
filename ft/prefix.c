/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/prefix.h"

#include <stdlib.h>

#include "ft/base/site.h"
#include "ft/shm/models.h"

enum { PIECE = 1 << 20 };

/* A long one would be better replayed: the store is memory. */
static bool is_kept(const struct ft_stream *s)
{
    return s->end <= s->params->nextents * s->params->extent_bytes / 2;
}

/* False: something is not there, or cannot be written. */
static bool copy(struct ft_stream *s, int models, char *piece)
{
    struct ft_error e;

    for (uint64_t at = 0, n; at < s->end; at += n) {
        n = ft_min(ft_min(PIECE, s->params->extent_bytes), s->end - at); /* both are powers of two: it lies in one extent */
        if (!ft_log_try_read(&s->log, at, piece, n) || ft_models_write(models, FT_MODELS_PREFIX, at, piece, n, &e) != 0)
            return false;
    }
    ft_models_end(models, FT_MODELS_PREFIX, s->end);
    return true;
}

int ft_prefix_keep(struct ft_stream *s, int models, _Atomic uint64_t *kept, struct ft_error *e)
{
    char *piece;
    int err = s->unit && s->n > 1 ? ft_stream_await_commit(s, s->unit - 1, e) : 0;
    bool whole = !err && is_kept(s);

    if (ft_peek(kept) == s->end + 1) /* by an earlier incarnation, and others may go by it */
        return err;
    if (whole && s->end) {
        piece = malloc(PIECE);
        whole = piece && copy(s, models, piece);
        free(piece);
    }
    if (!err)
        ft_publish(kept, whole ? s->end + 1 : 0);
    return err;
}

void ft_prefix_follow(struct ft_stream *s, int models, uint64_t end, uint64_t load)
{
    s->log.models_fd = models;
    s->log.prefix_end = end;
    s->loading = true;
    s->load = load;
}

void ft_prefix_leave(struct ft_stream *s)
{
    s->log.prefix_end = 0;
    s->loading = false;
}

int ft_prefix_check(const struct ft_stream *s, const struct ft_sig *sig, uint64_t site, struct ft_error *e)
{
    char call[128], where[96];

    if (!s->loading || s->unit < s->load || sig->call == FT_CALL_LOAD)
        return 0;
    return ft_err_set(e, FT_EDIVERGED, "rank %u was restarted and calls %s at %s before its checkpoint is loaded, where it had called "
                      "MPIX_Checkpoint_load: what a program calls before it loads must be the same in each of its lives", s->me,
                      ft_sig_print(sig, call, sizeof call), ft_site_print(site, where, sizeof where));
}
