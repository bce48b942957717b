/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a store is the one that it was. Nothing in etcd says so: one that is started again without its data has the same cluster's
   number, which is made of its options; its revisions begin anew, but others write there, too, and may have gone beyond the old ones
   before anybody looks; and a member that lags says an older revision, though nothing is lost.

   So the job has a key of its own there with a random value, the mark, which whoever finds none writes. Each transaction is compared with
   it, so that on another store nothing is done and nothing is read. A transaction is linearizable, since the mark is read in it: no member
   answers from what it was. Whoever may write into the store can change the mark: that is as if he had deleted what the job has there. */
#ifndef LAUNCHER_RDZV_MARK_H
#define LAUNCHER_RDZV_MARK_H

#include "launcher/rdzv/gateway.h"
#include "launcher/rdzv/kvs.h"

enum { FT_MARK_DRAWN = 25 };   /* bytes of a new one, its end included */

/* Any bytes. value NULL: not known yet. */
struct ft_rdzv_mark {
    unsigned char *value;
    size_t n;
};

void ft_rdzv_mark_free(struct ft_rdzv_mark *m);
bool ft_rdzv_mark_is(const struct ft_rdzv_mark *a, const struct ft_rdzv_mark *b);

/* A new one. -1: no random numbers. */
int ft_rdzv_mark_draw(char drawn[FT_MARK_DRAWN]);

/* The request for txn, on the store of this mark alone; of a mark that is not known, it is done on none. NULL: no memory. */
char *ft_rdzv_mark_txn(const char *key, const struct ft_rdzv_mark *m, const struct ft_kvs_txn *txn);

/* Likewise, for a txn without comparisons, on whatever store it is: if that has no mark, the one that was drawn is written. */
char *ft_rdzv_mark_first(const char *key, const char *drawn, const struct ft_kvs_txn *txn);

/* Such a request, which is asked again: another one is drawn, if it can be, for the store may be another one than before. */
void ft_rdzv_mark_again(char *request, char drawn[FT_MARK_DRAWN]);

/* The mark that was read for a request whose comparisons did not hold; it is no part of the answer any more. The caller's. */
struct ft_rdzv_mark ft_rdzv_mark_take(const char *key, struct ft_gateway_reply *r);

#endif
