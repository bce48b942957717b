/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/tree.h"

#include <stdbool.h>

/* The root of nodes [from, to), which are part of the left or of the right half: a chain's is next to the root edge; in the balanced tree,
   of two middle ones, that which is nearer to it. */
static uint32_t top(enum ft_tree tree, bool left, uint32_t from, uint32_t to)
{
    if (tree == FT_TREE_CHAIN)
        return left ? to - 1 : from;
    return left ? (from + to) / 2 : (from + to - 1) / 2;
}

static void add(struct ft_shape *shape, uint32_t node, enum ft_role role, uint32_t from, uint32_t to)
{
    shape->of[shape->n++] = (struct ft_neighbour){ .node = node, .role = role, .from = from, .to = to };
}

void ft_tree_shape(struct ft_shape *shape, enum ft_tree tree, uint32_t nodes, uint32_t me)
{
    uint32_t half = nodes / 2;
    bool left = me < half;
    uint32_t from = left ? 0 : half, to = left ? half : nodes;
    uint32_t parent = 0, node = top(tree, left, from, to);

    *shape = (struct ft_shape){ 0 };
    while (node != me) {
        parent = node;
        if (me < node)
            to = node;
        else
            from = node + 1;
        node = top(tree, left, from, to);
        shape->depth++;
    }
    shape->from = from;
    shape->to = to;
    if (from < me)
        add(shape, top(tree, left, from, me), FT_ROLE_DOWN, from, me);
    if (me + 1 < to)
        add(shape, top(tree, left, me + 1, to), FT_ROLE_DOWN, me + 1, to);
    if (shape->depth)
        add(shape, parent, FT_ROLE_UP, 0, 0);
    else if (left)
        add(shape, top(tree, false, half, nodes), FT_ROLE_EDGE, half, nodes);
    else if (half)
        add(shape, top(tree, true, 0, half), FT_ROLE_EDGE, 0, half);
}

static bool has(const struct ft_shape *shape, uint32_t node)
{
    for (uint32_t i = 0; i < shape->n; i++)
        if (shape->of[i].node == node)
            return true;
    return false;
}

uint32_t ft_tree_peers(uint32_t nodes, uint32_t me)
{
    struct ft_shape shape[FT_TREES];
    uint32_t n = 0;

    for (int tree = 0; tree < FT_TREES; tree++) {
        ft_tree_shape(&shape[tree], (enum ft_tree)tree, nodes, me);
        for (uint32_t i = 0; i < shape[tree].n; i++) {
            int first = 0;

            while (!has(&shape[first], shape[tree].of[i].node))
                first++;
            n += first == tree;
        }
    }
    return n;
}

uint32_t ft_tree_height(enum ft_tree tree, uint32_t nodes)
{
    uint32_t n = nodes - nodes / 2;  /* the larger half */
    uint32_t height = 0;

    if (tree == FT_TREE_CHAIN)
        return n - 1;
    for (; n > 1; n /= 2)
        height++;
    return height;
}
