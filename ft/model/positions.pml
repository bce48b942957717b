/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts with several streams: the agent moves the cut to the positions of the oldest snapshot that can be woken, stream by stream;
   the keeper releases each stream below its cuts. Searched exhaustively by positions.sh; docs/models.md, "Cuts", says what is
   modelled, what a step is, and what the variants (-D) are.

   A unit is done when all ranks have reached it, and is read from the log then; release.pml has the rest of the engine. Position g
   of the program is that before its unit g: one number says where a rank is in both streams. */
#ifndef R
#define R 1 /* ranks; all are in both streams */
#endif
#ifndef K
#define K 2 /* kills */
#endif
#ifndef A
#define A 1 /* agents that are replaced, and their keepers */
#endif
#define G 4 /* units: of stream 0, 1, 1, 0 */
#define P(s, g) ((s) == 0 -> ((g) > 0) + ((g) > 3) : ((g) > 1) + ((g) > 2))
#define S(g) ((g) == 1 || (g) == 2)

#define CHECK(c, text) if :: (c) -> skip :: else -> printf(text); assert(false) fi
/* Is it seen at all? positions.sh asks for each n. */
#ifndef SEEK
#define SEEK 0
#endif
#define SEEN(n) if :: n == SEEK -> assert(false) :: else -> skip fi
#ifdef STORY /* to be told when the trail of an error is replayed */
#define TELL(text, a, b) printf(text, a, b)
#else
#define TELL(text, a, b) skip
#endif

/* What a rank's process is about to do. */
#define OP 0     /* the next unit, or a snapshot, or Finalize */
#define FORK 1
#define SAY 2    /* where it stands */
#define DEAD 3
#define EXIT 4

/* Shared memory; one writer per word. */
byte cut[R * 2];       /* of the agent: where a rank goes on from, of each stream */
#define CUT(r, s) cut[(r) * 2 + (s)]
byte at[R];            /* of the rank: where it stands and is going to fork */
byte reached[R];       /* of the rank: the furthest it has been */
byte saved[R];         /* where its newest checkpoint is; 0: it has none */
bit asked[R];          /* a snapshot has been asked for, and is not taken nor given up */
byte floor[2];         /* of the keeper */
byte gone[2];          /* units that are released */
#ifdef FORGET
byte left[R * 2];      /* of the rank, or the agent for it: it needs nothing below */
#define LEFT(r, s) left[(r) * 2 + (s)]
#define LEAVES(r) LEFT(r, 0) = P(0, pos[r]); LEFT(r, 1) = P(1, pos[r])
#else
#define LEAVES(r) skip
#endif

/* Processes: private memory, and who is there. A position + 1; 0: there is none, or it is dead. */
byte st[R], pos[R];
bit given_up[R];       /* the snapshot that the rank is making */
byte newest[R];        /* the snapshot to wake */
byte new[R];           /* one that has been forked and is not that yet */
byte copied[R];        /* where the one to wake stands, for all the agent knows */
bit zero[R];           /* the snapshot from before the beginning is there: woken if there is no other */
byte kills, replaced;
bit lost;              /* a snapshot was killed that could be woken */
bit all;               /* all ranks are restarted: the end of the search, release.pml goes on from there */

/* The agent, about rank r. */
#define MOVE0 1        /* the cut */
#define MOVE1 2
#define HOLD0 3        /* say what is needed, whatever the rank had left behind */
#define HOLD1 4
#define ASK0 5         /* for the floors */
#define ASK1 6
byte does[R];
byte to[R];            /* the cut is to be there; 0: at the start */
#define WAKE 1         /* then the newest snapshot, or zero, is woken */
#define START 2        /* ... or the rank is started */
byte then[R];

/* The keeper. */
#define LOOK 1
#define FLOOR 2
#define RELEASE 3
#define TAKE_BACK 4
#define FLOOR_LEFT 5
#define LOOK_LEFT 6
byte keeps, stream, member, least;
bit second;

#define DECIDED(r) does[r] = 0; to[r] = 0; then[r] = 0
#if R == 1
#define EVERY(f, x) f(0, x)
#define ALL_DECIDED DECIDED(0)
#define DOES (does[0] != 0)
#define IN_A_MOVE (does[0] == MOVE1)
#else
#define EVERY(f, x) (f(0, x) && f(1, x))
#define ALL_DECIDED DECIDED(0); DECIDED(1)
#define DOES (does[0] || does[1])
#define IN_A_MOVE (does[0] == MOVE1 || does[1] == MOVE1)
#endif
#define HAS_REACHED(r, g) (reached[r] >= (g))
#define HAS_EXITED(r, x) (st[r] == EXIT)
#define OVER (all || EVERY(HAS_EXITED, 0))
#define IS_CUT(r, g) (CUT(r, 0) == P(0, g) && CUT(r, 1) == P(1, g))
#define IS_THERE(g) (P(0, g) >= gone[0] && P(1, g) >= gone[1])
#ifdef ASKS_FIRST
#define HELD(r, s) (then[r] == START -> P(s, to[r]) : CUT(r, s))
#else
#define HELD(r, s) CUT(r, s)
#endif
#ifdef FORGET
#define KEEPS(r, s) true
#else
#define KEEPS(r, s) ((newest[r] == 0 || P(s, newest[r] - 1) >= gone[s]) && (!zero[r] || gone[s] == 0))
#endif
#define NEEDS_NOT(r, s) ((st[r] >= DEAD || P(s, pos[r]) >= gone[s]) && KEEPS(r, s))

#ifdef NOT_COPIED
#define IS_READ(r) skip
#else
#define IS_READ(r) at[r] = 0 /* nobody reads it again */
#endif

/* ---- the rank ---- */

#ifdef AT_LATE
#define AFTER_OP FORK
#define AFTER_FORK SAY
#define AFTER_SAY OP
#else
#define AFTER_OP SAY
#define AFTER_SAY FORK
#define AFTER_FORK OP
#endif

inline begins() { asked[r] = 1; st[r] = AFTER_OP; TELL("rank %d makes a snapshot at %d\n", r, pos[r]) }

inline stands() { if :: st[r] == OP -> given_up[r] = 0 :: else -> skip fi }

inline forks() {
   if
   :: given_up[r] -> IS_READ(r)
   :: else -> new[r] = pos[r] + 1
   fi;
   st[r] = AFTER_FORK; stands()
}

#ifdef CHECKPOINTS /* of rank 0 */
#define SAVES (r == 0 && (pos[r] == 1 || pos[r] == 3) && pos[r] > saved[r])
#else
#define SAVES false
#endif

inline works() {
   CHECK(gone[S(pos[r])] <= P(S(pos[r]), pos[r]), "a unit is read that has been released\n");
   pos[r]++;
   if :: reached[r] < pos[r] -> reached[r] = pos[r] :: else -> skip fi;
   if :: SAVES -> saved[r] = pos[r] :: else -> skip fi;
   LEAVES(r);
   TELL("rank %d is at %d\n", r, pos[r])
}

inline dies() { st[r] = DEAD; pos[r] = 0; given_up[r] = 0 }

/* ---- the agent: snapshots ---- */

inline gives_up() {
   new[r] = 0; asked[r] = 0; IS_READ(r);
   if :: st[r] == FORK || st[r] == SAY -> given_up[r] = 1 :: else -> skip fi;
   TELL("the agent gives up a snapshot of rank %d%c\n", r, ' ')
}

#define WOULD_LOWER(r, g) (P(0, g) < CUT(r, 0) || P(1, g) < CUT(r, 1))
#ifdef OVERTAKEN
#define IS_BEFORE(r, g) false
#elif defined(ONE_STREAM)
#define IS_BEFORE(r, g) (P(0, g) < CUT(r, 0))
#else
#define IS_BEFORE(r, g) WOULD_LOWER(r, g)
#endif
#ifdef UNCOMPARED
#define MAY_BE_CUT(r, g) true
#else
#define MAY_BE_CUT(r, g) (!WOULD_LOWER(r, g))
#endif
#define TAKEN (asked[r] && new[r])

inline takes() { newest[r] = new[r]; copied[r] = at[r]; new[r] = 0; asked[r] = 0; IS_READ(r); TELL("rank %d: the one to wake is that at %d\n", r, newest[r] - 1) }

#ifdef NOT_COPIED
#define STANDS(r) at[r]
#else
#define STANDS(r) copied[r]
#endif
#ifdef BY_NEWEST
#define OLDEST(r) (newest[r] == 0 -> 0 : STANDS(r))
#else
#define OLDEST(r) (zero[r] -> 0 : STANDS(r))
#endif

/* ---- the agent: cuts ---- */

inline cuts(g) { to[r] = (g); does[r] = MOVE0 }

#ifdef ONE_MOVED
#define IS_MOVED(r) (then[r] == START)
#else
#define IS_MOVED(r) false
#endif
#ifdef ONE_HELD
#define IS_HELD true
#else
#define IS_HELD false
#endif

#ifdef FORGET
#ifdef HOLDS_LATE
#define FIRST_OF_WAY ASK0
#else
#define FIRST_OF_WAY HOLD0
#endif
#else
#define FIRST_OF_WAY ASK0
#endif

inline withdraws() {
#ifndef DROP_LAST
   newest[r] = 0; zero[r] = 0; copied[r] = 0;
#endif
   then[r] = START;
#ifdef ASKS_FIRST
   to[r] = saved[r]; does[r] = ASK0;
#else
#ifdef CUT_KEPT
   does[r] = FIRST_OF_WAY;
#else
   cuts(saved[r]);
#endif
#endif
   TELL("rank %d goes back to %d, if it must\n", r, saved[r])
}

inline looks_for_a_way() {
   if
   :: newest[r] || zero[r] -> then[r] = WAKE; does[r] = FIRST_OF_WAY
   :: else -> withdraws()
   fi
}

inline restarts() {
   TELL("rank %d cannot go back to %d\n", r, to[r]);
#ifndef FORGET
   CHECK(lost, "no snapshot was lost, and all ranks are restarted\n");
#endif
   all = 1; SEEN(3)
}

inline has_no_way() {
   SEEN(6);
   if
   :: then[r] == WAKE -> withdraws()
   :: else -> restarts()
   fi
}

/* The process may be dead by now: then all again. */
inline goes_on() {
   if
   :: then[r] == WAKE && newest[r] -> pos[r] = newest[r] - 1; st[r] = OP; SEEN(1);
      TELL("rank %d: its snapshot is woken at %d\n", r, pos[r])
   :: then[r] == WAKE && !newest[r] && zero[r] -> st[r] = OP; SEEN(7);
      TELL("rank %d: zero is woken%c\n", r, ' ')
   :: then[r] == START -> pos[r] = to[r]; st[r] = OP; newest[r] = 0; zero[r] = 0; copied[r] = 0; SEEN(2);
      TELL("rank %d starts again at %d\n", r, pos[r])
   :: else -> skip
   fi;
   CHECK(st[r] == DEAD || IS_THERE(pos[r]), "what a rank needs that goes on is released\n");
   CHECK(st[r] == DEAD || P(0, pos[r]) >= CUT(r, 0) && P(1, pos[r]) >= CUT(r, 1), "a rank goes on before its cut\n");
   DECIDED(r)
}

inline has_moved() {
   if
#ifdef ASKS_FIRST
   :: then[r] == START -> goes_on()
#else
   :: then[r] == START -> does[r] = FIRST_OF_WAY
#endif
   :: else -> DECIDED(r)
   fi
}

inline has_asked() {
   if
#ifdef ASKS_FIRST
   :: then[r] == START -> cuts(to[r])
#endif
#ifdef HOLDS_LATE
   :: else -> does[r] = HOLD0
#else
   :: else -> goes_on()
#endif
   fi
}

#ifdef HOLDS_LATE
inline has_held() { goes_on() }
#else
inline has_held() { does[r] = ASK0 }
#endif

/* A living rank has a checkpoint that it has left behind in this life, and that is past its cut. */
#ifdef ON_ITS_WAY
#define IS_PAST(r) true
#else
#define IS_PAST(r) (pos[r] >= saved[r])
#endif
#define IS_WORN(r) (IS_PAST(r) && saved[r] > CUT(r, 0) + CUT(r, 1))
#define HAS_ANY(r) (newest[r] || zero[r])
/* ... or has no snapshot any more, and is to hold the log again for its checkpoint, or its start. */
#define IS_LOW(r) (!HAS_ANY(r) && saved[r] < CUT(r, 0) + CUT(r, 1))

inline drops() {
   if
   :: HAS_ANY(r) && asked[r] -> gives_up()
   :: else -> skip
   fi;
   newest[r] = 0; zero[r] = 0; copied[r] = 0
}

#ifdef BOUNDED
#ifndef SHOTS
#define SHOTS 2
#endif
byte shots[R];
#define MAY_SHOOT (shots[r] < SHOTS)
#define SHOOTS shots[r]++;
#else
#define MAY_SHOOT true
#define SHOOTS
#endif
#ifdef BOTH
#define MAY_DIE (r <= kills)
#else
#define MAY_DIE (r == 0)
#endif

proctype Rank(byte r) {
   do
   :: d_step { !all && st[r] == OP && pos[r] < G && EVERY(HAS_REACHED, pos[r]) -> works() }
   :: d_step { !all && st[r] == OP && pos[r] == G && EVERY(HAS_REACHED, G) -> st[r] = EXIT }
   :: d_step { !all && st[r] == OP && pos[r] < G && !asked[r] && does[r] == 0 && MAY_SHOOT -> SHOOTS begins() }
   :: d_step { !all && st[r] == SAY -> at[r] = pos[r]; st[r] = AFTER_SAY; stands() }
   :: d_step { !all && st[r] == FORK -> forks() }
   /* Kills. The first is rank 0's: the ranks are alike. */
   :: d_step { !all && kills < K && MAY_DIE && st[r] < DEAD -> dies(); kills++; TELL("rank %d is killed: %d\n", r, kills) }
   :: d_step { !all && kills < K && MAY_DIE && st[r] < EXIT && newest[r] ->
               newest[r] = 0; copied[r] = 0; lost = 1; kills++; TELL("the snapshot of rank %d is killed: %d\n", r, kills) }
   :: d_step { !all && kills < K && MAY_DIE && st[r] < EXIT && zero[r] -> zero[r] = 0; lost = 1; kills++; TELL("zero of rank %d is killed: %d\n", r, kills) }
   :: d_step { !all && kills < K && MAY_DIE && st[r] < EXIT && new[r] ->
               new[r] = 0; kills++; TELL("the new snapshot of rank %d is killed: %d\n", r, kills) }
   /* the agent, about rank r: a snapshot that is there */
#ifdef CUT_FIRST
   :: d_step { !all && TAKEN && does[r] == 0 && !zero[r] && !IS_BEFORE(r, at[r]) && !IS_CUT(r, at[r]) -> cuts(at[r]) }
   :: d_step { !all && TAKEN && does[r] == 0 && (zero[r] || IS_CUT(r, at[r])) -> takes() }
#elif defined(DROP_FIRST)
   :: d_step { !all && TAKEN && does[r] == 0 && !IS_BEFORE(r, at[r]) && newest[r] -> newest[r] = 0; copied[r] = 0 }
   :: d_step { !all && TAKEN && does[r] == 0 && !IS_BEFORE(r, at[r]) && !newest[r] -> takes() }
#else
   :: d_step { !all && TAKEN && does[r] == 0 && !IS_BEFORE(r, at[r]) -> takes() }
#endif
   :: d_step { !all && asked[r] && does[r] == 0 -> gives_up() }
   :: d_step { !all && does[r] == 0 && zero[r] && newest[r] -> zero[r] = 0; TELL("zero of rank %d ends%c\n", r, ' ') }
   /* the cut is that of the oldest */
   :: d_step { !all && does[r] == 0 && HAS_ANY(r) && !IS_CUT(r, OLDEST(r)) && MAY_BE_CUT(r, OLDEST(r)) -> cuts(OLDEST(r)) }
   :: d_step { !all && st[r] < DEAD && does[r] == 0 && IS_WORN(r) -> drops(); cuts(saved[r]) }
   :: d_step { !all && st[r] < DEAD && does[r] == 0 && IS_LOW(r) -> cuts(saved[r]) }
   /* a rank that is dead */
   :: d_step { !all && st[r] == DEAD && !asked[r] && does[r] == 0 -> looks_for_a_way() }
   :: d_step { !all && does[r] == MOVE0 -> CUT(r, 0) = P(0, to[r]); if :: IS_MOVED(r) -> has_moved() :: else -> does[r] = MOVE1 fi }
   :: d_step { !all && does[r] == MOVE1 -> CUT(r, 1) = P(1, to[r]); has_moved() }
#ifdef FORGET
   :: d_step { !all && does[r] == HOLD0 -> LEFT(r, 0) = HELD(r, 0); if :: IS_HELD -> has_held() :: else -> does[r] = HOLD1 fi }
   :: d_step { !all && does[r] == HOLD1 -> LEFT(r, 1) = HELD(r, 1); has_held() }
#endif
#ifdef ONE_FLOOR
   :: d_step { !all && does[r] == ASK0 -> if :: floor[0] <= HELD(r, 0) -> has_asked() :: else -> has_no_way() fi }
#else
   :: d_step { !all && does[r] == ASK0 -> if :: floor[0] <= HELD(r, 0) -> does[r] = ASK1 :: else -> has_no_way() fi }
#endif
   :: d_step { !all && does[r] == ASK1 -> if :: floor[1] <= HELD(r, 1) -> has_asked() :: else -> has_no_way() fi }
   :: OVER -> break
   od
}

/* ---- the keeper ---- */

#ifdef OTHER_FLOOR
#define READS 0
#else
#define READS stream
#endif
#ifdef NO_BACK
#define IS_ENOUGH true
#else
#define IS_ENOUGH (least >= floor[stream])
#endif

inline idles() { keeps = 0; stream = 0; member = 0; least = 0; second = 0 }

inline begins_to_look() { keeps = LOOK; member = 0; least = G }

inline looks() {
   if :: CUT(member, READS) < least -> least = CUT(member, READS) :: else -> skip fi;
   if
   :: member + 1 < R -> member++; keeps = LOOK
   :: else ->
      member = 0;
      if
      :: !second && least <= gone[stream] -> idles()
      :: !second && least > gone[stream] -> keeps = FLOOR
      :: second && IS_ENOUGH -> keeps = RELEASE; least = 0
      :: else -> keeps = TAKE_BACK; least = 0
      fi
   fi
}

#ifdef BOUNDED /* it is told that there is something to do */
#define ABOVE(r, s) (CUT(r, s) > gone[s])
#define MAY_LOOK(s) EVERY(ABOVE, s)
#else
#define MAY_LOOK(s) true
#endif

#ifdef FORGET
#define HAS_LEFT(r, s) (LEFT(r, s) > gone[s])
#ifdef FORGETS_BLINDLY
#define IS_STILL_LEFT true
#else
#define IS_STILL_LEFT EVERY(HAS_LEFT, stream)
#endif
#ifdef FORGETS_UNSAID
#define SAYS_FLOOR skip
#else
#define SAYS_FLOOR floor[stream] = gone[stream] + 1
#endif
#endif

proctype Keeper() {
   do
   :: d_step { !all && keeps == 0 && MAY_LOOK(0) -> begins_to_look() }
   :: d_step { !all && keeps == 0 && MAY_LOOK(1) -> stream = 1; begins_to_look() }
   :: d_step { !all && keeps == LOOK -> looks() }
   :: d_step { !all && keeps == FLOOR -> floor[stream] = least; second = 1; begins_to_look() }
   :: d_step { !all && keeps == RELEASE -> gone[stream] = (least -> least : floor[stream]); TELL("released: %d units of stream %d\n", gone[stream], stream);
               CHECK(EVERY(NEEDS_NOT, stream), "what somebody still needs is released\n"); floor[stream] = gone[stream]; idles() }
   :: d_step { !all && keeps == TAKE_BACK -> floor[stream] = gone[stream]; idles(); SEEN(5) }
#ifdef FORGET
   :: d_step { !all && keeps == 0 && EVERY(HAS_LEFT, 0) -> keeps = FLOOR_LEFT }
   :: d_step { !all && keeps == 0 && EVERY(HAS_LEFT, 1) -> stream = 1; keeps = FLOOR_LEFT }
   :: d_step { !all && keeps == FLOOR_LEFT -> SAYS_FLOOR; keeps = LOOK_LEFT }
   :: d_step { !all && keeps == LOOK_LEFT && IS_STILL_LEFT -> least = gone[stream] + 1; keeps = RELEASE }
   :: d_step { !all && keeps == LOOK_LEFT && !IS_STILL_LEFT -> keeps = TAKE_BACK; SEEN(8) }
#endif
   /* it and the agent die; their successors know what is in shared memory */
   :: d_step { !all && replaced < A && (keeps || DOES) ->
               if :: IN_A_MOVE -> SEEN(4) :: else -> skip fi;
               replaced++; idles(); floor[0] = gone[0]; floor[1] = gone[1];
               ALL_DECIDED; TELL("agent %d is replaced%c\n", replaced, ' ') }
   :: OVER -> break
   od
}

init {
   atomic {
      byte i = 0;
      do
      :: i < R -> if :: zero[i] = 1 :: zero[i] = 0 fi; run Rank(i); i++
      :: else -> break
      od;
      run Keeper()
   }
}
