/* SPDX-License-Identifier: BSD-3-Clause */
/* The logical trees between nodes: pure arithmetic of the number of nodes (RULE 8), so that all nodes and all incarnations agree, and
   a result depends on the logical layout only (invariant 4).

   Both trees are in-order: a subtree is an interval of nodes, and operators need not commute. Neither has a root but a *root edge*: the
   two halves [0, K/2) and [K/2, K) have a root each, these give each other what their halves come to, and both combine it, or by turns
   one of them (FT_UNIT_HALVES). So two nodes are one hop apart, and nobody is idle while another one computes.
   Balanced: a binary tree in each half, for what is small: height log2(K). Chain: nodes in line, for what is large: each node has two
   neighbours, and every link is used in both directions at a time. Up to 4 nodes they are the same. */
#ifndef FT_CORE_TREE_H
#define FT_CORE_TREE_H

#include <stdint.h>

enum ft_tree { FT_TREE_BALANCED, FT_TREE_CHAIN, FT_TREES };

enum ft_role {
    FT_ROLE_NONE,  /* no neighbour in this tree */
    FT_ROLE_UP,    /* my parent */
    FT_ROLE_DOWN,  /* a child */
    FT_ROLE_EDGE   /* the other end of the root edge */
};

struct ft_neighbour {
    uint32_t node;
    enum ft_role role;
    uint32_t from, to;  /* nodes [from, to): whose contributions it has for me (DOWN: its subtree; EDGE: its half); UP: none */
};

enum { FT_NEIGHBOURS = 3 };  /* of a node in one tree, at most */

struct ft_shape {
    uint32_t from, to;   /* nodes of my own subtree (at the root edge: of my half), me included */
    uint32_t depth;      /* hops from me to the root edge's near end */
    uint32_t n;
    struct ft_neighbour of[FT_NEIGHBOURS];  /* children from left to right, then UP or EDGE, if there is one */
};

/* What node `me` of `nodes` has around it. The fold of its subtree is, from the right: right child, own, left child
   (acc = right; acc = own op acc; acc = left op acc); over the root edge: left half op right half. */
void ft_tree_shape(struct ft_shape *shape, enum ft_tree tree, uint32_t nodes, uint32_t me);

/* How many nodes are a neighbour of node `me` in any of the trees: links that it needs. */
uint32_t ft_tree_peers(uint32_t nodes, uint32_t me);

/* The largest depth of a node. */
uint32_t ft_tree_height(enum ft_tree tree, uint32_t nodes);

#endif
