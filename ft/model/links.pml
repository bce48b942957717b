/* SPDX-License-Identifier: BSD-3-Clause */
/* Link resume with the answer rule, and replaced nodes (DESIGN section 3, RULES 24 to 30;
   docs/internals/between-nodes.md, docs/internals/links.md and docs/internals/nodes.md): what
   ft/core/exchange.c and those that drive it do between three nodes in a path, 0 = 1 - 2: the root edge is between 0 and 1, 2 is
   the child of 1. Connections break, representatives die, nodes are lost. Searched exhaustively by links.sh; docs/models.md says what is
   modelled, what a step is, and what the variants (-D) are.

   Names are those of exchange.h. An operation of units [0, S), then MPI_Finalize, whose unit is the last and has no payload. -DHALVES: the
   operation is combined by halves: node 0 combines even units, node 1 odd ones. */
#ifndef U
#define U 2 /* units */
#endif
#define S (U - 1)
#ifndef K
#define K 1 /* failures */
#endif
#ifndef H
#define H 1 /* ... of which nodes that are lost, at most */
#endif
#define D 2 /* depth of the window */
#ifndef Q
#define Q 1 /* frames on their way in each direction: 1 or 2 */
#endif

#define CHECK(c, text) if :: (c) -> skip :: else -> printf(text); assert(false) fi
#ifndef SEEK
#define SEEK 0
#endif
#define SEEN(n) if :: n == SEEK -> assert(false) :: else -> skip fi
#ifdef STORY
#define TELL(text, a, b) printf(text, a, b)
#else
#define TELL(text, a, b) skip
#endif

/* Link ends: node 0 has end 0; node 1 has 1, the root edge, and 2, to its child; node 2 has 3, to its parent. */
#define NODE(e) (((e) + 1) / 2)
#define FAR(e) ((e) ^ 1)
#define IS_CHILD(e) ((e) == 2)
#define ALL_ENDS(n, f, x) ((n) == 0 -> f(0, x) : ((n) == 1 -> (f(1, x) && f(2, x)) : f(3, x)))
#define ANY_END(n, f, x) ((n) == 0 -> f(0, x) : ((n) == 1 -> (f(1, x) || f(2, x)) : f(3, x)))
#define SOME_END(n, f, x) ((n) == 0 -> f(0, x) : ((n) == 1 -> (f(1, x) || f(2, x)) : f(3, x))) /* within ANY_END */
#define EACH_END(n, step) if :: (n) == 0 -> step(0) :: (n) == 1 -> step(1); step(2) :: else -> step(3) fi
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define LEAST2(a, b) ((a) < (b) -> (a) : (b))

/* ---- what outlives a representative, of node n ---- */
byte mine[3];       /* its commit count */
byte record[3 * U]; /* its log */
bit lost[3];        /* it has been lost, and not been started again yet */
bit left[3];        /* its representative has left MPI_Finalize: only its agent is there */
bit life[3];        /* its ranks contribute something else in each life: no program should, but none may fork (RULE 29) */
bit whole[3];       /* it is being replaced since a part of the log did not do */
#ifdef RELEASE
byte acked[4];      /* node RELEASE releases: of its end e: the peer has so many units */
byte next;          /* its keeper has found that it can release these, if not 0 */
byte floor;         /* said to be released, ... */
byte base;          /* ... and released */
#endif
bit given[4];       /* the agent has a new socket for this end */

/* ---- the representative's: struct ft_exchange ---- */
byte end[3], folded[3];
byte partial[3 * D];
byte inbox[4 * D];
byte on[4];         /* the end is on no connection, ... */
#define NONE 0
#define OLD 1       /* ... on one that is broken or replaced: what was on its way may still be read, what is sent is lost, ... */
#define NEW 2       /* ... or on the newest */
bit heard[4], gone[4], farewell[4], taking[4];
byte sending[4];    /* PART, unit + 1, + 4 * the head's count */
byte count[4], out[4], in[4];
#ifdef HALVES
byte made[2], ahead[2];  /* of nodes 0 and 1, and of ends 0 and 1 */
byte ready[2 * D];       /* what has been made and is not committed */
#endif
#ifdef RELEASE
bit noted[4];       /* HELLO has been looked at, and what it says been put down for the keeper */
#endif

/* ---- on the wire ---- */
byte hello[4];      /* to end e: count + 1 */
byte head[4 * Q], payload[4 * Q]; /* frames to each end, in order: type + 4 * unit + 16 * count; 0: none */
#define PART 1
#define RES 2
#define BYE 3
#define TYPE(e) (head[Q * (e)] % 4)
#define UNIT(e) (head[Q * (e)] / 4 % 4)
#define COUNT(e) (head[Q * (e)] / 16)

byte failures, losses;
bit fresh[4];       /* the peer whose HELLO this end has heard has not been lost since */
byte k, v, u;       /* 0 between steps */

/* What node n contributes to unit x: who; in which life; of which unit. */
#ifdef BCAST
#define IS_BCAST(x) ((x) < S)
#define OWN(n, x) (IS_BCAST(x) -> 7 + 64 * (x) : (1 << (n)) + 64 * (x)) /* a root that is replaced must not change its mind (RULE 29) */
#else
#define OWN(n, x) ((1 << (n)) + (life[n] << ((n) + 3)) + 64 * (x))
#define IS_BCAST(x) false
#endif
#define WHO(x) ((x) & 7)
#define OF(x) ((x) / 64)
#define SLOT(x) ((x) % D)

/* ---- what the exchange decides by ---- */

#define IS_THERE(n) (!lost[n] && !left[n])
#define ENDED (left[0] && left[1] && left[2])

#define OVER(n) (mine[n] >= end[n])
#define LEAVING(n) (end[n] == U)
#define LOW(e) MAX(out[e], count[e])
#ifdef HALVES
#define TURNS(e) ((e) < 2 && end[NODE(e)] == S)
#define OURS(n, x) ((n) == (x) % 2)
#define MADE(n, x) ((n) != 2 && end[n] == S && (x) < made[(n) % 2] && OURS(n, x))
#ifdef RES_AGAIN
#define NEXT(e) LOW(e)
#else
#define NEXT(e) (LOW(e) + (TURNS(e) && LOW(e) < ahead[(e) % 2] && !OURS(NODE(e), LOW(e))))
#endif
#define MAX_AHEAD(e) MAX(NEXT(e), ahead[(e) % 2])
#define NEXT_PART(e) (TURNS(e) && OURS(NODE(e), NEXT(e)) -> MAX_AHEAD(e) + OURS(NODE(e), MAX_AHEAD(e)) : NEXT(e))
#define NEXT_MADE(n) (MAX(mine[n], made[n]) + !OURS(n, MAX(mine[n], made[n])))
#define MAKE_DUE(n) (n != 2 && end[n] == S && NEXT_MADE(n % 2) < end[n] && NEXT_MADE(n % 2) <= mine[n] + 1 && NEXT_MADE(n % 2) < folded[n] && \
                     in[n] > NEXT_MADE(n % 2) && !TAKES_RESULT(n, NEXT_MADE(n % 2)))
#define GIVEN_EARLY(e) (TURNS(e) && MADE(NODE(e), NEXT(e)))
#define GETS_PART(e, x) (!IS_CHILD(e) && !(TURNS(e) && OURS(NODE(e), x)))
#define GIVES_PART(e, x) (IS_CHILD(e) || !(TURNS(e) && !OURS(NODE(e), x)))
#define RESULT_ONLY(e, x) (TURNS(e) && !OURS(NODE(e), x))
#define PART_SENT(e, x) if :: TURNS(e) -> ahead[(e) % 2] = (x) + 1; out[e] = NEXT(e) :: else -> out[e] = (x) + 1 fi
#define UNMADE(n) if :: n != 2 -> made[n % 2] = 0; ready[n % 2 * D] = 0; ready[n % 2 * D + 1] = 0 :: else -> skip fi
#define UNREADY(n, x) if :: n != 2 -> ready[n % 2 * D + SLOT(x)] = 0 :: else -> skip fi
#define MAKES_FROM(n) if :: n != 2 && mine[n] < S -> made[n % 2] = mine[n] :: else -> skip fi
#define TURNS_END(n) if :: n != 2 -> out[n % 2] = NEXT(n % 2); ahead[n % 2] = 0 :: else -> skip fi
#define FORGET_AHEAD(e) if :: e < 2 -> ahead[(e) % 2] = 0 :: else -> skip fi
#ifdef AHEAD_KEPT
#define AHEAD_IS(e, x) if :: TURNS(e) -> ahead[(e) % 2] = MAX(ahead[(e) % 2], x) :: else -> skip fi
#undef FORGET_AHEAD
#define FORGET_AHEAD(e) skip
#else
#define AHEAD_IS(e, x) if :: TURNS(e) -> ahead[(e) % 2] = x :: else -> skip fi
#endif
#define RESULT_OF(n, x) ((x) == U - 1 -> 7 + 64 * (x) : ((x) < mine[n] -> record[n * U + (x)] : ready[n % 2 * D + SLOT(x)]))
#else
#define NEXT(e) LOW(e)
#define NEXT_PART(e) NEXT(e)
#define MADE(n, x) false
#define GIVEN_EARLY(e) false
#define GETS_PART(e, x) (!IS_CHILD(e))
#define GIVES_PART(e, x) true
#define RESULT_ONLY(e, x) false
#define PART_SENT(e, x) out[e] = (x) + 1
#define UNMADE(n) skip
#define UNREADY(n, x) skip
#define MAKES_FROM(n) skip
#define TURNS_END(n) skip
#define FORGET_AHEAD(e) skip
#define AHEAD_IS(e, x) skip
#define RESULT_OF(n, x) ((x) == U - 1 -> 7 + 64 * (x) : record[n * U + (x)])
#endif
#define TAKES(e, x) (taking[e] && UNIT(e) == (x))
#define TAKES_RESULT(n, x) SOME_END(n, TAKES, x)
#define SENDS(e, x) (sending[e] % 4 == (x) + 1)
#define SENDS_PART(n, x) SOME_END(n, SENDS, x)
#ifdef COMMIT_EARLY
#define MAY_COMMIT(n, x) (!TAKES_RESULT(n, x))
#else
#define MAY_COMMIT(n, x) (!TAKES_RESULT(n, x) && !SENDS_PART(n, x))
#endif
#ifdef PART_LATE
#define MAY_SEND(n, x) true
#else
#define MAY_SEND(n, x) (!TAKES_RESULT(n, x))
#endif
#ifdef NO_RESULT_UP
#define GETS_RESULT(e) IS_CHILD(e)
#else
#define GETS_RESULT(e) true
#endif
#define RES_DUE(e) ((NEXT(e) < mine[NODE(e)] || GIVEN_EARLY(e)) && GETS_RESULT(e))
#define PART_DUE(e) (NEXT(e) >= mine[NODE(e)] && !GIVEN_EARLY(e) && NEXT_PART(e) < folded[NODE(e)] && NEXT_PART(e) < end[NODE(e)] && \
                     GETS_PART(e, NEXT_PART(e)) && !IS_BCAST(NEXT_PART(e)) && MAY_SEND(NODE(e), NEXT_PART(e)))
#define BYE_DUE(e) (NEXT(e) >= mine[NODE(e)] && LEAVING(NODE(e)) && OVER(NODE(e)) && !farewell[e])
#define OWES(e, x) (on[e] != NONE && (sending[e] || taking[e] || (heard[e] && (RES_DUE(e) || PART_DUE(e) || BYE_DUE(e)))))
#define MAY_RETURN(n) (OVER(n) && !ANY_END(n, OWES, 0))
#ifdef LEAVE_EARLY
#define IS_SETTLED(e, x) true
#else
#define IS_SETTLED(e, x) (gone[e] || count[e] >= mine[NODE(e)])
#endif
#define IS_GONE(e, x) gone[e]
#ifdef LAST_UNKNOWN
#define LAST_IS_KNOWN(n) false
#else
#define LAST_IS_KNOWN(n) (LEAVING(n) && mine[n] == U - 1 && ANY_END(n, IS_GONE, 0))
#endif
#define HAS_BOTH(n) (n != 2 && folded[n] > mine[n] && in[n] > mine[n]) /* the root edge's ends are 0 and 1 */
#ifdef HALVES
#define HAS_RESULT(n) (end[n] == S -> MADE(n, mine[n]) : HAS_BOTH(n))
#else
#define HAS_RESULT(n) (IS_BCAST(mine[n]) -> n == 2 : HAS_BOTH(n))
#endif
#define RESULT_DUE(n) (mine[n] < end[n] && MAY_COMMIT(n, mine[n]) && (LAST_IS_KNOWN(n) || HAS_RESULT(n)))
#define FOLD_DUE(n) (folded[n] < end[n] && folded[n] < mine[n] + D && !IS_BCAST(folded[n]) && (n != 1 || in[2] > folded[n]))

#define IS_NEXT(e) (heard[e] && !taking[e] && head[Q * (e)])
#ifdef OVERTAKEN
#define DROPS(e) (TYPE(e) == BYE || UNIT(e) < mine[NODE(e)] || (TYPE(e) == RES && UNIT(e) > mine[NODE(e)]) || HAS_FOLDED(e))
#else
#define DROPS(e) (TYPE(e) == BYE || UNIT(e) < mine[NODE(e)] || HAS_FOLDED(e))
#endif
#ifdef FOLD_AGAIN
#define HAS_FOLDED(e) false
#else
#define HAS_FOLDED(e) (TYPE(e) == PART && ((IS_CHILD(e) && UNIT(e) < folded[NODE(e)]) || MADE(NODE(e), UNIT(e))))
#endif
#define TAKES_RES(e) (!DROPS(e) && TYPE(e) == RES && UNIT(e) == mine[NODE(e)] && UNIT(e) < end[NODE(e)] && \
                      MAY_COMMIT(NODE(e), UNIT(e)) && !MADE(NODE(e), UNIT(e)))
#define TAKES_PART(e) (!DROPS(e) && TYPE(e) == PART && UNIT(e) < end[NODE(e)] && UNIT(e) < mine[NODE(e)] + D)
#define WAITS(e) (!DROPS(e) && !TAKES_RES(e) && !TAKES_PART(e))

/* ---- steps ---- */

#if Q == 1
#define CLEAR(e) head[e] = 0; payload[e] = 0
#define HAS_ROOM(e) !head[e]
#define PUSH(e, what, val) head[e] = what; payload[e] = val
#define POP(e) CLEAR(e)
#else
#define CLEAR(e) head[2 * (e)] = 0; head[2 * (e) + 1] = 0; payload[2 * (e)] = 0; payload[2 * (e) + 1] = 0
#define HAS_ROOM(e) !head[2 * (e) + 1]
#define PUSH(e, what, val) k = (head[2 * (e)] -> 1 : 0); head[2 * (e) + k] = what; payload[2 * (e) + k] = val; k = 0
#define POP(e) \
   head[2 * (e)] = head[2 * (e) + 1]; payload[2 * (e)] = payload[2 * (e) + 1]; head[2 * (e) + 1] = 0; payload[2 * (e) + 1] = 0
#endif
#ifdef OLD_COUNTS
#define FORGET_IN(e) skip
#else
#define FORGET_IN(e) in[e] = 0; inbox[(e) * D] = 0; inbox[(e) * D + 1] = 0
#endif
#ifdef RELEASE
#define UNNOTE(e) noted[e] = 0
#else
#define UNNOTE(e) skip
#endif

/* What has come over it and is not folded or committed is forgotten. (What does not matter any more is 0, here and elsewhere: fewer states.) */
#if defined(COUNT_KEPT)
#define FORGET_COUNT(e) skip
#else
#define FORGET_COUNT(e) count[e] = (count[e] == U -> U : 0)
#endif
#if defined(NO_PART_AGAIN)
#define FORGET_OUT(e) skip
#else
#define FORGET_OUT(e) out[e] = 0; FORGET_AHEAD(e)
#endif
#define FORGET(e) \
   heard[e] = 0; farewell[e] = 0; taking[e] = 0; sending[e] = 0; FORGET_OUT(e); FORGET_COUNT(e); FORGET_IN(e); UNNOTE(e); CLEAR(e); \
   if :: on[FAR(e)] != NEW -> hello[e] = 0 :: else -> skip fi /* else it is of the connection that comes */

inline adopts(e) {
   FORGET(e); given[e] = 0; on[e] = NEW; hello[FAR(e)] = mine[NODE(e)] + 1
}

inline greeted(e) {
   heard[e] = 1; fresh[e] = (on[e] == NEW);
#ifdef COUNT_KEPT
   count[e] = MAX(count[e], hello[e] - 1);
#else
   count[e] = hello[e] - 1;
#endif
#ifdef NO_PART_AGAIN
   out[e] = MAX(out[e], count[e]);
#else
   out[e] = count[e];
   AHEAD_IS(e, count[e]);
#endif
#ifndef GONE_KEPT
   gone[e] = 0;
#endif
   hello[e] = 0
}

inline push(e, what, val) {
   if
   :: on[e] == NEW -> PUSH(FAR(e), what, val)
   :: else -> skip
   fi
}

#define UNBOX(e) if :: in[e] <= u + 1 -> inbox[(e) * D + SLOT(u)] = 0 :: else -> skip fi
#define AGREES(m, x, val) (mine[m] <= (x) || record[m * U + (x)] == (val))
inline commit(n, val) {
   u = mine[n];
   CHECK(WHO(val) == 7 && OF(val) == u, "a result lacks somebody's contribution\n");
   CHECK(u == U - 1 || (AGREES(0, u, val) && AGREES(1, u, val) && AGREES(2, u, val)), "two living nodes have different results of a unit\n");
   CHECK(!SENDS_PART(n, u), "a partial's memory is used again while it is being sent\n");
   record[n * U + u] = (u == U - 1 -> 0 : val); mine[n] = u + 1; folded[n] = MAX(folded[n], mine[n]);
   EACH_END(n, UNBOX); partial[n * D + SLOT(u)] = 0; UNREADY(n, u);
   if :: mine[n] == S -> TURNS_END(n); end[n] = U; UNMADE(n) :: else -> skip fi; /* the next call */
   TELL("node %d has unit %d\n", n, u); u = 0
}

inline combine(a, b) {
   CHECK(OF(a) == OF(b) && (WHO(a) & WHO(b)) == 0, "partials of two units, or of one node twice, are combined\n");
   v = a | b
}

inline folds(n) {
   u = folded[n];
   CHECK(!ANY_END(n, SENDS, u) && (u < D || !ANY_END(n, SENDS, u - D)), "a partial's memory is used again while it is being sent\n");
   if
   :: n == 1 -> combine(inbox[2 * D + SLOT(u)], OWN(n, u))
   :: else -> v = OWN(n, u)
   fi;
   partial[n * D + SLOT(u)] = v; folded[n] = u + 1; v = 0; u = 0
}

inline makes_result(n) {
   u = mine[n];
   if
   :: LAST_IS_KNOWN(n) -> SEEN(1); v = 7 + 64 * u
   :: else ->
      if
#ifdef HALVES
      :: u < S -> v = ready[n % 2 * D + SLOT(u)]
#endif
      :: IS_BCAST(u) -> v = OWN(n, u)
      :: else -> combine(partial[n * D + SLOT(u)], inbox[n * D + SLOT(u)])
      fi
   fi;
   commit(n, v); v = 0
}

#ifdef HALVES
inline makes(n) {
   u = NEXT_MADE(n % 2); combine(partial[n * D + SLOT(u)], inbox[n * D + SLOT(u)]);
   ready[n % 2 * D + SLOT(u)] = v; made[n % 2] = u + 1;
   if :: u > mine[n] -> SEEN(4) :: else -> skip fi;
   v = 0; u = 0
}
#endif

#ifdef RELEASE
#define NOTE_COUNT(e) acked[e] = (NODE(e) == RELEASE -> LEAST2(count[e], S) : 0)
#else
#define NOTE_COUNT(e) skip
#endif
/* The head of the next frame, as ft_exchange_head checks it. */
inline looks_at(e) {
   CHECK(COUNT(e) >= count[e], "a node has less than it said\n");
   CHECK(TYPE(e) == BYE || UNIT(e) >= in[e] || (TYPE(e) == RES && (RESULT_ONLY(e, UNIT(e)) || UNIT(e) < mine[NODE(e)])), "a frame comes twice\n");
   CHECK(TYPE(e) != PART || (UNIT(e) >= COUNT(e) && e != 3), "a partial of a unit that is committed, or from a parent\n");
   CHECK(TYPE(e) != RES || UNIT(e) < COUNT(e) || UNIT(e) < mine[NODE(e)] || (RESULT_ONLY(e, UNIT(e)) && UNIT(e) <= COUNT(e) + 1),
         "a result of a unit that is not committed\n");
   count[e] = COUNT(e); NOTE_COUNT(e)
}

inline takes_partial(e) {
   CHECK(GIVES_PART(e, UNIT(e)), "a partial from who is to combine the unit\n");
   CHECK(UNIT(e) <= MAX(in[e], mine[NODE(e)]) + !GIVES_PART(e, MAX(in[e], mine[NODE(e)])), "there is a gap between partials\n");
   inbox[e * D + SLOT(UNIT(e))] = payload[Q * (e)];
#ifdef FOLD_AGAIN
   if :: IS_CHILD(e) && UNIT(e) < folded[NODE(e)] -> folded[NODE(e)] = UNIT(e) :: else -> skip fi;
#endif
   in[e] = MAX(in[e], UNIT(e) + 1); POP(e)
}

#ifdef RELEASE
#define IS_KEPT(n, x) ((n) != RELEASE || (x) >= base)
#else
#define IS_KEPT(n, x) true
#endif

/* The process of node n's representative is no more; what it has written may still be read. Who is left is given a new connection, if there
   is somebody to connect with. */
#define CLOSED(e) \
   if :: on[e] == NEW && on[FAR(e)] == NEW -> on[FAR(e)] = OLD :: on[e] == NEW && on[FAR(e)] != NEW -> hello[FAR(e)] = 0 :: else -> skip fi; \
   on[e] = NONE; FORGET(e); FORGET_AHEAD(e); in[e] = 0; gone[e] = 0; count[e] = 0; out[e] = 0; fresh[e] = 0; inbox[(e) * D] = 0; inbox[(e) * D + 1] = 0; hello[e] = 0
#define APART(e) given[e] = 0; given[FAR(e)] = 0; if :: on[FAR(e)] == NEW -> on[FAR(e)] = OLD :: else -> skip fi
#define LINKED(e) \
   if :: IS_THERE(NODE(FAR(e))) -> given[e] = 1; given[FAR(e)] = 1; if :: on[FAR(e)] == NEW -> on[FAR(e)] = OLD :: else -> skip fi :: else -> skip fi
#define EMPTY(n) folded[n] = 0; end[n] = 0; UNMADE(n); partial[n * D] = 0; partial[n * D + 1] = 0
#define STARTS(n) \
   EMPTY(n); end[n] = (mine[n] >= S -> U : S); folded[n] = mine[n]; MAKES_FROM(n); life[n] = 1 - life[n]; EACH_END(n, LINKED)
#ifdef RELEASE
#define UNACKED(e) acked[e] = 0
#define ALL_KEPT(n) if :: n == RELEASE -> next = 0; floor = 0; base = 0; EACH_END(n, UNACKED) :: else -> skip fi
#else
#define ALL_KEPT(n) skip
#endif
#define UNKNOWN(e) fresh[FAR(e)] = 0
inline is_lost(n) {
   EACH_END(n, CLOSED); EACH_END(n, APART); EACH_END(n, UNKNOWN);
   k = 0;
   do :: k < mine[n] -> record[n * U + k] = 0; k++ :: else -> break od;
   k = 0; mine[n] = 0; EMPTY(n); lost[n] = 1; ALL_KEPT(n)
}

/* All nodes are ended, and all begins again: here it ends with that. */
inline all_again() {
   CHECK(losses, "a node that has not been lost lacks what has been released\n");
   SEEN(2);
   k = 0;
   do :: k < 4 -> CLOSED(k); given[k] = 0; k++ :: else -> break od;
   k = 0;
   do :: k < 3 -> EMPTY(k); ALL_KEPT(k); lost[k] = 0; left[k] = 1; k++ :: else -> break od;
   k = 0
}

proctype End(byte e) {
   do
   :: d_step { given[e] -> adopts(e) }
   :: d_step { on[e] == OLD && !given[e] -> FORGET(e); on[e] = NONE }
   /* HELLO */
#define SAYS_HELLO(e) (hello[e] && !heard[e] && on[e] != NONE && (on[e] == NEW) == (on[FAR(e)] == NEW))
#ifndef RELEASE
   :: d_step { SAYS_HELLO(e) -> greeted(e) }
#else
   :: d_step { SAYS_HELLO(e) && NODE(e) != RELEASE -> greeted(e) }
#ifdef LOOK_FIRST
   :: d_step { SAYS_HELLO(e) && NODE(e) == RELEASE && !noted[e] ->
               if :: hello[e] > floor -> noted[e] = 1 :: else -> all_again() fi }
   :: d_step { SAYS_HELLO(e) && NODE(e) == RELEASE && noted[e] -> noted[e] = 0; acked[e] = LEAST2(hello[e] - 1, S); greeted(e) }
#else
   :: d_step { SAYS_HELLO(e) && NODE(e) == RELEASE && !noted[e] -> noted[e] = 1;
#ifndef ACK_KEPT
               acked[e] = LEAST2(hello[e] - 1, S)
#endif
             }
   :: d_step { SAYS_HELLO(e) && NODE(e) == RELEASE && noted[e] -> noted[e] = 0;
               if :: hello[e] > floor -> greeted(e) :: else -> all_again() fi }
#endif
#endif
   /* out */
#define ROOM(e) (on[e] == OLD || (on[e] == NEW && HAS_ROOM(FAR(e))))
#define SENDS_NOW(e) (heard[e] && !sending[e] && ROOM(e))
   :: d_step { SENDS_NOW(e) && RES_DUE(e) -> u = NEXT(e);
               CHECK(IS_KEPT(NODE(e), u), "a unit is asked for that has been released\n");
               v = RESULT_OF(NODE(e), u); push(e, RES + 4 * u + 16 * mine[NODE(e)], v); out[e] = u + 1; u = 0; v = 0 }
   :: d_step { SENDS_NOW(e) && PART_DUE(e) -> u = NEXT_PART(e); sending[e] = u + 1 + 4 * mine[NODE(e)];
               CHECK(OF(partial[NODE(e) * D + SLOT(u)]) == u, "another unit's partial is sent\n"); u = 0 }
   :: d_step { sending[e] && ROOM(e) -> u = sending[e] % 4 - 1;
               push(e, PART + 4 * u + 16 * (sending[e] / 4), partial[NODE(e) * D + SLOT(u)]); PART_SENT(e, u); sending[e] = 0; u = 0 }
   :: d_step { SENDS_NOW(e) && BYE_DUE(e) -> push(e, BYE + 16 * mine[NODE(e)], 0); farewell[e] = 1 }
   /* in */
   :: d_step { IS_NEXT(e) && DROPS(e) -> looks_at(e);
               if :: TYPE(e) == BYE -> gone[e] = 1 :: else -> in[e] = MAX(in[e], UNIT(e) + 1) fi; POP(e) }
   :: d_step { IS_NEXT(e) && TAKES_PART(e) -> looks_at(e); takes_partial(e) }
   :: d_step { IS_NEXT(e) && TAKES_RES(e) -> looks_at(e); taking[e] = 1 }
   :: d_step { taking[e] -> in[e] = MAX(in[e], UNIT(e) + 1); taking[e] = 0; v = payload[Q * (e)]; POP(e); commit(NODE(e), v); v = 0 }
   :: d_step { IS_NEXT(e) && WAITS(e) && COUNT(e) > count[e] -> looks_at(e) }
   /* the agent: its peer's representative has left, which is looked for in MPI_Finalize */
   :: d_step { on[e] == NONE && !gone[e] && LEAVING(NODE(e)) && left[NODE(FAR(e))] && IS_THERE(NODE(e)) -> gone[e] = 1 }
   :: ENDED -> break
   od
}

/* Its successor has all, or any beginning, of node s's log, and then starts. */
#ifdef RELEASE
#define HAS_LOG(s) (!lost[s] && ((s) != RELEASE || base == 0))
#else
#define HAS_LOG(s) (!lost[s])
#endif
inline fetches(n, s) {
   k = 0;
   do
   :: k < mine[s] -> record[n * U + k] = record[s * U + k]; k++
   :: k == mine[s] || !whole[n] -> break
   od;
   mine[n] = k; TELL("node %d is started again and has %d units\n", n, k);
   k = 0; whole[n] = 0; lost[n] = 0; STARTS(n)
}

/* A peer that has left gives no more, and nobody else is there who has more. */
#define HAS_LEFT(e, x) left[NODE(FAR(e))]
#define GIVES_MORE(e, x) (on[e] != NONE && count[e] > mine[NODE(e)])
#define IS_STUCK(n) (IS_THERE(n) && !LEAVING(n) && ANY_END(n, HAS_LEFT, 0) && !ANY_END(n, GIVES_MORE, 0))

#define UNSETTLED(e, x) (fresh[e] && mine[NODE(FAR(e))] < U)
#ifdef RELEASE
#if RELEASE == 1
#define LEAST_ACKED LEAST2(acked[1], acked[2])
#else
#define LEAST_ACKED acked[0]
#endif
#define RELEASABLE LEAST2(mine[RELEASE], LEAST_ACKED)
#endif

proctype Node(byte n) {
   do
   :: d_step { FOLD_DUE(n) && IS_THERE(n) -> folds(n) }
   :: d_step { RESULT_DUE(n) && IS_THERE(n) -> makes_result(n) }
#ifdef HALVES
   :: d_step { MAKE_DUE(n) && IS_THERE(n) -> makes(n) }
#endif
   :: d_step { IS_THERE(n) && LEAVING(n) && MAY_RETURN(n) && ALL_ENDS(n, IS_SETTLED, 0) ->
               CHECK(!ANY_END(n, UNSETTLED, 0), "a node leaves while its neighbour lacks a unit\n");
               EACH_END(n, CLOSED); EACH_END(n, APART); EMPTY(n); left[n] = 1; TELL("node %d leaves%c\n", n, ' ') }
   /* failures, and the agent */
   :: d_step { failures < K && IS_THERE(n) -> failures++; EACH_END(n, CLOSED); STARTS(n);
               TELL("the representative of node %d dies, which has %d units\n", n, mine[n]) }
   :: d_step { failures < K && losses < H && IS_THERE(n) -> failures++; losses++; is_lost(n); TELL("node %d is lost%c\n", n, ' ') }
#ifndef STAYS_STUCK
   :: d_step { IS_STUCK(n) -> SEEN(3); is_lost(n); whole[n] = 1; TELL("node %d lacks what nobody gives it%c\n", n, ' ') }
#endif
   :: atomic { lost[n] && HAS_LOG((n + 1) % 3) -> fetches(n, (n + 1) % 3) }
   :: atomic { lost[n] && HAS_LOG((n + 2) % 3) -> fetches(n, (n + 2) % 3) }
   :: d_step { lost[n] && !HAS_LOG((n + 1) % 3) && !HAS_LOG((n + 2) % 3) -> all_again() }
   /* the keeper: finds out how far, says so, looks again, and releases or takes it back */
#ifdef RELEASE
#ifdef UNACKNOWLEDGED
   :: d_step { n == RELEASE && IS_THERE(n) && base < LEAST2(mine[n], S) -> floor = mine[n]; base = mine[n] }
#else
   :: d_step { n == RELEASE && IS_THERE(n) && !next && floor == base && RELEASABLE > base -> next = RELEASABLE }
   :: d_step { n == RELEASE && next -> floor = next; next = 0 }
#ifdef NO_BACK
   :: d_step { n == RELEASE && floor != base -> base = floor }
#else
   :: d_step { n == RELEASE && floor != base && RELEASABLE >= floor -> base = floor }
   :: d_step { n == RELEASE && floor != base && RELEASABLE < floor -> floor = base }
#endif
#endif
#endif
   :: ENDED -> break
   od
}

/* The connection of ends e and e + 1 is lost, and with it what is on its way, or not. */
#define UNSAID(e) if :: on[e] != NEW -> hello[e] = 0 :: else -> skip fi /* that of the one that has just been made */
#define CUT(e) if :: on[e] == NEW -> on[e] = OLD; given[e] = 1 :: else -> skip fi
proctype Link(byte e) {
   do
   :: d_step { !ENDED && failures < K && (on[e] == NEW || on[e + 1] == NEW) -> failures++; UNSAID(e); UNSAID(e + 1); CUT(e); CUT(e + 1);
               TELL("link %d = %d breaks\n", NODE(e), NODE(e + 1)) }
   :: ENDED -> break
   od
}

init {
   atomic {
      end[0] = S; end[1] = S; end[2] = S;
      k = 0;
      do :: k < 4 -> on[k] = NEW; heard[k] = 1; fresh[k] = 1; k++ :: else -> break od;
      k = 0;
      run Node(0); run Node(1); run Node(2);
      run End(0); run End(1); run End(2); run End(3);
      run Link(0); run Link(2)
   }
}
