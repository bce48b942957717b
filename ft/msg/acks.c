/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/acks.h"

#include <stdlib.h>

#include "ft/shm/acks.h"
#include "ft/shm/word.h"

/* False: it is not its lap yet. */
static bool say_it(struct ft_acks *a, uint64_t number, ft_acks_say *say, void *arg)
{
    _Atomic uint64_t *word = &a->words[ft_acks_at(number)];
    uint64_t is = ft_peek(word);

    if (ft_acks_has(is, number))
        return true;
    if (is >> FT_ACKS_EACH != ft_acks_lap(number))
        return false;
    say(arg, word, ft_acks_with(is, number));
    return true;
}

static int withhold(struct ft_acks *a, uint64_t number)
{
    if (a->n == a->room) {
        uint64_t room = a->room ? 2 * a->room : 64, *more = realloc(a->withheld, room * sizeof *more);

        if (!more)
            return -1;
        a->withheld = more;
        a->room = room;
    }
    a->withheld[a->n++] = number;
    return 0;
}

/* Those whose lap has come; one may end another lap. */
static void say_withheld(struct ft_acks *a, ft_acks_say *say, void *arg)
{
    uint64_t before;

    do {
        before = a->n;
        for (uint64_t i = 0; i < a->n;)
            if (say_it(a, a->withheld[i], say, arg))
                a->withheld[i] = a->withheld[--a->n];
            else
                i++;
    } while (a->n < before);
}

int ft_acks_match(struct ft_acks *a, uint64_t number, ft_acks_say *say, void *arg)
{
    if (!say_it(a, number, say, arg))
        return withhold(a, number);
    if (a->n && ft_peek(&a->words[ft_acks_at(number)]) >> FT_ACKS_EACH != ft_acks_lap(number))
        say_withheld(a, say, arg);
    return 0;
}

void ft_acks_close(struct ft_acks *a)
{
    free(a->withheld);
    *a = (struct ft_acks){0};
}
