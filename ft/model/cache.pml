/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstrap cache with keys by call site (DESIGN section 4): a rank that has loaded a version calls again what is done once in
   a life, while the others are elsewhere, or everybody does. Is this call the log's next unit, or has it its result in the
   cache? Searched exhaustively by check.sh; docs/models.md says what is modelled and what the variants (-D) are.

   A life: BOOT, then ROUND and CHECKPOINT by turns. Version 0 is BOOT and CHECKPOINT; rank 0 puts the result into the cache in between. With
   RECURRING there is no BOOT in a life that has loaded a version; ROUND is called at BOOT's place in the program, and has another
   result each time. */
#ifndef R
#define R 3 /* ranks: 2 or 3 */
#endif
#ifndef K
#define K 3 /* kills */
#endif
/* NODES: each rank is a node of its own. Whether all are in doubt is found out by asking one after the other, and of each its trail first. */
#define LAST 2 /* version */
#ifdef RECURRING
#define U 5
#else
#define U (5 + K / R) /* units: BOOT is called again by everybody when everybody has been killed */
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

/* Places in the program, and what is called there: place + 8 * what the result depends on. */
#define BOOT 1
#define ROUND 3
#define CHECKPOINT 4
#ifdef RECURRING
#define PLACE(c) ((c) == ROUND -> BOOT : (c))
#else
#define PLACE(c) (c)
#endif
#define DEPENDS(c, v) ((c) == ROUND || (c) == CHECKPOINT -> (v) : 0)
#define CALL(r) (PLACE(todo[r]) + 8 * DEPENDS(todo[r], ver[r]))
#define SAME(a, b) ((a) % 8 == (b) % 8) /* all that can be compared */

/* What a rank's process is about to do. */
#define OP 0      /* call todo: by position, from the cache, or in doubt? */
#define DOUBT 1   /* wait for evidence */
#define UNIT 2    /* it is unit pos: say so, finish it, take the result */
#define SERVED 3  /* take it from the cache */
#define APPEND 4  /* rank 0: put it into the cache */
#define PUBLISH 5 /* ... and say so */
#define DEAD 6
#define EXIT 7

/* Shared memory, one writer per word. */
byte trail[R * U]; /* of each rank: what it says that a unit is. It has contributed then */
byte done[R];
byte doubt[R];     /* the unit in doubt + 1 (there is one key) */
byte after[3];     /* by version: the unit after its checkpoint */
byte data;         /* of the entry in the cache */
bit there;         /* the entry is published */
bit recurs;        /* the key is not for the cache */

byte st[R], pos[R], ver[R], todo[R], loaded[R];
byte kills;
#ifdef LIVE_ONLY
byte lives[R]; /* units that earlier lives had finished with */
#endif
#ifdef NODES
byte asked[R]; /* so many nodes have been found in doubt */
#endif
bit one; /* rank 1 has been killed: rank 2 is like it */

#if R == 2
#define EVERY(f, x) (f(0, x) && f(1, x))
#define SOME(f, x) (f(0, x) || f(1, x))
#else
#define EVERY(f, x) (f(0, x) && f(1, x) && f(2, x))
#define SOME(f, x) (f(0, x) || f(1, x) || f(2, x))
#endif
#define TRAIL(q, u) trail[(q) * U + (u)]
#define DONE_PAST(q, u) (done[q] > (u))
#define COMMITTED(u) EVERY(DONE_PAST, u)
#define HAS_CALLED(q, u) (TRAIL(q, u) != 0)
#define CALLS_SAME(q, r) (TRAIL(q, pos[r]) != 0 && SAME(TRAIL(q, pos[r]), CALL(r)))
#define CALLS_OTHER(q, r) (TRAIL(q, pos[r]) != 0 && !SAME(TRAIL(q, pos[r]), CALL(r)))
#ifdef NO_UNIT
#define DOUBTS(q, u) (doubt[q] != 0)
#else
#define DOUBTS(q, u) (doubt[q] == (u) + 1)
#endif
#define HAS_EXITED(q, x) (st[q] == EXIT)
#define OVER EVERY(HAS_EXITED, 0)
#define HAS(v) (after[v] != 0 && COMMITTED(after[v] - 1))
#define NEWEST (HAS(2) -> 2 : (HAS(1) -> 1 : 0))

/* May this call be one that the cache has? */
#define KEYED(r) (PLACE(todo[r]) == BOOT && loaded[r] > 0 && there && !recurs)
#if defined(ALONE_EVIDENT)
#define OTHERS_DOUBT(r) false
#elif defined(NODES)
#define OTHERS_DOUBT(r) (asked[r] == R)
#else
#define OTHERS_DOUBT(r) EVERY(DOUBTS, pos[r])
#endif

#ifdef NODES
#define BEGIN_ASKING(r) asked[r] = 0
#else
#define BEGIN_ASKING(r) skip
#endif
#ifdef SILENT_DOUBTS
#define IS_DOUBTED(q, u) true
#else
#define IS_DOUBTED(q, u) DOUBTS(q, u)
#endif

/* The call has its result: what is next? */
inline returned() {
   if
   :: todo[r] == BOOT && loaded[r] == 0 -> todo[r] = CHECKPOINT; st[r] = (r == 0 && !there -> APPEND : OP)
   :: todo[r] == BOOT && loaded[r] > 0 -> todo[r] = ROUND; st[r] = OP
   :: todo[r] == ROUND && ver[r] == LAST -> todo[r] = 0; st[r] = OP
   :: todo[r] == ROUND && ver[r] < LAST -> todo[r] = CHECKPOINT; st[r] = OP
   :: todo[r] == CHECKPOINT -> ver[r]++; todo[r] = ROUND; st[r] = OP
   fi
}

proctype Rank(byte r) {
   do
   /* which way? */
   :: d_step { st[r] == OP && todo[r] && !KEYED(r) -> st[r] = UNIT }
#ifdef NO_EVIDENCE
   :: d_step { st[r] == OP && todo[r] && KEYED(r) -> st[r] = (done[r] > pos[r] && CALLS_SAME(r, r) -> UNIT : SERVED) }
#else
   :: d_step { st[r] == OP && todo[r] && KEYED(r) && HAS_CALLED(r, pos[r]) -> st[r] = (CALLS_SAME(r, r) -> UNIT : SERVED) }
   :: d_step { st[r] == OP && todo[r] && KEYED(r) && !HAS_CALLED(r, pos[r]) -> doubt[r] = pos[r] + 1; BEGIN_ASKING(r); st[r] = DOUBT; TELL("rank %d is in doubt at unit %d\n", r, pos[r]) }
#endif
   :: d_step { st[r] == DOUBT && SOME(CALLS_SAME, r) -> st[r] = UNIT; SEEN(1) }
   :: d_step { st[r] == DOUBT && SOME(CALLS_OTHER, r) -> st[r] = SERVED; SEEN(2) }
#ifdef ALL_CACHED
   :: d_step { st[r] == DOUBT && OTHERS_DOUBT(r) -> st[r] = SERVED }
#else
   :: d_step { st[r] == DOUBT && OTHERS_DOUBT(r) -> st[r] = UNIT; SEEN(3); TELL("rank %d sees everybody in doubt at unit %d\n", r, pos[r]) }
#endif
#ifdef NODES
#ifdef OWN_NODE
   :: d_step { st[r] == DOUBT && asked[r] < R -> asked[r] = R }
#else
   :: d_step { st[r] == DOUBT && asked[r] < R && !HAS_CALLED(asked[r], pos[r]) && IS_DOUBTED(asked[r], pos[r]) -> asked[r]++ }
#endif
#endif
   /* from the cache */
   :: d_step { st[r] == SERVED -> CHECK(data == CALL(r), "wrong data out of the cache\n"); TELL("rank %d is served from the cache at unit %d\n", r, pos[r]); returned() }
   /* by position */
   :: d_step { st[r] == UNIT && !HAS_CALLED(r, pos[r]) ->
               TRAIL(r, pos[r]) = CALL(r);
               CHECK(!SOME(CALLS_OTHER, r), "two ranks are in different calls\n");
               if :: todo[r] == CHECKPOINT -> after[ver[r] + 1] = pos[r] + 1 :: else -> skip fi;
#ifdef MARK_ALL
               if :: ver[r] > 0 && PLACE(todo[r]) == BOOT -> recurs = 1 :: else -> skip fi;
#else
               if :: ver[r] > 0 && PLACE(todo[r]) == BOOT && loaded[r] == 0 -> recurs = 1; SEEN(4) :: else -> skip fi;
#endif
               TELL("rank %d calls unit %d\n", r, pos[r]) }
   :: d_step { st[r] == UNIT && HAS_CALLED(r, pos[r]) && !CALLS_SAME(r, r) -> CHECK(false, "a call matches neither log nor cache\n") }
   :: d_step { st[r] == UNIT && done[r] <= pos[r] && CALLS_SAME(r, r) && EVERY(HAS_CALLED, pos[r]) -> done[r] = pos[r] + 1 }
   :: d_step { st[r] == UNIT && done[r] > pos[r] && CALLS_SAME(r, r) && COMMITTED(pos[r]) ->
               CHECK(TRAIL(0, pos[r]) == CALL(r), "wrong data out of the log\n");
               pos[r]++;
               returned();
#ifdef LIVE_ONLY
               if :: st[r] == APPEND && lives[r] >= pos[r] -> st[r] = OP :: else -> skip fi
#endif
             }
   /* rank 0, before it goes on */
#ifdef END_FIRST
   :: d_step { st[r] == APPEND -> there = 1; st[r] = PUBLISH }
   :: d_step { st[r] == PUBLISH -> data = BOOT; st[r] = OP }
#else
   :: d_step { st[r] == APPEND -> data = BOOT; st[r] = PUBLISH }
   :: d_step { st[r] == PUBLISH -> there = 1; st[r] = OP }
#endif
   /* Finalize */
   :: d_step { st[r] == OP && todo[r] == 0 && pos[r] > 0 && COMMITTED(pos[r] - 1) -> st[r] = EXIT }
   /* failures, and the agent */
   :: d_step { kills < K && st[r] < DEAD && (r < 2 || one) ->
               st[r] = DEAD; pos[r] = 0; ver[r] = 0; todo[r] = 0; loaded[r] = 0; kills++;
               if :: r == 1 -> one = 1 :: else -> skip fi; TELL("rank %d is killed: %d\n", r, kills) }
   :: d_step { st[r] == DEAD ->
               loaded[r] = NEWEST; ver[r] = loaded[r]; pos[r] = after[loaded[r]]; st[r] = OP;
#ifdef LIVE_ONLY
               lives[r] = done[r];
#endif
#ifdef RECURRING
               todo[r] = (loaded[r] -> ROUND : BOOT);
#else
               todo[r] = BOOT;
#endif
               TELL("rank %d starts again and loads version %d\n", r, loaded[r]) }
   :: OVER -> break
   od
}

init {
   atomic {
      byte i = 0;
      do :: i < R -> todo[i] = BOOT; run Rank(i); i++ :: else -> break od
   }
}
