/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the data of elements with gaps lie in memory: of derived datatypes, as far as copying needs it
   (MPI 3.1 section 4.1). Packed, an element's data lie side by side, in the order of its parts.

   A layout is not changed once it is used. It lives as long as somebody holds it: a type, another
   layout that is made of it, a receive that is under way. NULL is the layout of data without gaps. */
#ifndef FT_BASE_LAYOUT_H
#define FT_BASE_LAYOUT_H

#include <stdint.h>

struct ft_layout_part {
    struct ft_layout *of;    /* held; NULL: bytes */
    int64_t at;              /* bytes from where an element begins to the first block */
    int64_t stride;          /* bytes from one block to the next */
    uint64_t blocks;
    uint64_t n;              /* of a block: elements, one extent apart, or bytes */
    uint64_t before;         /* packed bytes of the parts before it */
};

struct ft_layout {
    uint32_t references;
    uint64_t packed;         /* bytes of an element, more than 0 */
    int64_t extent;          /* bytes from one element to the next */
    uint64_t n_parts;
    struct ft_layout_part parts[];
};

/* Room for so many parts, one reference; ft_layout_add adds them, none of them empty. NULL: no memory. */
struct ft_layout *ft_layout_new(uint64_t parts, int64_t extent);
void ft_layout_add(struct ft_layout *l, struct ft_layout_part part);

/* One reference more, or less. NULL has none. */
struct ft_layout *ft_layout_hold(const struct ft_layout *l);
void ft_layout_release(const struct ft_layout *l);

/* Bytes [from, from + n) of the packed ones of elements that begin at `memory`; packed: where the first
   of these is. */
void ft_layout_pack(const struct ft_layout *l, const void *memory, uint64_t from, uint64_t n,
                    void *packed);
void ft_layout_unpack(const struct ft_layout *l, void *memory, uint64_t from, uint64_t n,
                      const void *packed);

#endif
