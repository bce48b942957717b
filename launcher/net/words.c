/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/words.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/wire/description.h"

enum { PIECE = 1 << 20 };

static void send(struct ft_channel *c, enum ft_wire_type type, const char *bytes, size_t len)
{
    struct ft_wire_bytes b = ft_wire_new(type, len);

    if (b.data)
        memcpy(b.data + FT_WIRE_HEAD, bytes, len);
    ft_channel_send(c, b);
}

void ft_words_send(struct ft_channel *c, const struct ft_share_word *w, const char *text)
{
    char *word = ft_share_write(w);
    size_t len = text ? strlen(text) : 0;

    for (size_t at = 0; at < len; at += PIECE)
        send(c, FT_WIRE_TEXT, text + at, ft_min(PIECE, len - at));
    if (word)
        send(c, FT_WIRE_WORD, word, strlen(word));
    else
        ft_channel_send(c, (struct ft_wire_bytes){0});
    free(word);
}

static int take_text(struct ft_words *s, const struct ft_wire_frame *f, struct ft_error *e)
{
    char *more = s->len + f->length <= FT_DESCRIPTION_MAX ? realloc(s->text, s->len + f->length + 1) : NULL;

    if (!more)
        return ft_err_set(e, FT_EDAMAGED, "a text that is too long");
    memcpy(more + s->len, f->payload, f->length);
    s->text = more;
    s->len += f->length;
    s->text[s->len] = 0;
    return 0;
}

int ft_words_take(struct ft_words *s, const struct ft_wire_frame *f, struct ft_share_word *w, struct ft_error *e)
{
    if (f->type == FT_WIRE_TEXT)
        return take_text(s, f, e);
    if (f->type != FT_WIRE_WORD)
        return ft_err_set(e, FT_EDAMAGED, "a frame of type %d that is no word", (int)f->type);
    if (ft_share_read(w, (const char *)f->payload, f->length, e) == 0)
        return 1;
    ft_share_free(w);
    return FT_EDAMAGED;
}

void ft_words_forget(struct ft_words *s)
{
    free(s->text);
    *s = (struct ft_words){0};
}
