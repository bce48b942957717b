/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints with messages under way: one rank sends, the other receives later and in another order, and both make checkpoints in between. Each is
   killed at any step and goes on from the newest checkpoint, alone, or both begin with it. Searched exhaustively by underway.sh; docs/models.md
   says what is modelled, what a step is, and what the variants (-D) are. The names are those of ft/checkpoint.c and ft/carry.c. */
#ifndef K
#define K 2 /* kills */
#endif
#define V 2 /* checkpoints */
#define S 0 /* the rank that sends: 0, 1, checkpoint 1, 2, 3, checkpoint 2 */
#define R 1 /* ... that receives: 0, checkpoint 1, 1, 3, checkpoint 2, 2 */
#define END 6

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

/* ---- shared memory ---- */
byte done;               /* messages below are in the log ... */
byte floor;              /* ... and those below were released */
byte come[2], there[2];  /* that rank has come to this checkpoint, and has kept its part and contributed */
byte behind[2], cut[2];    /* this incarnation has left that checkpoint behind; where the log begins that the rank needs */
byte vsent[V + 1], vtaken[V + 1], vkept[V + 1], vgot[V + 1], vneeds[V + 1];
byte base;               /* what both began with */

/* ---- the processes ---- */
byte at[2], phase[2];    /* in its program, and in a checkpoint */
byte sent;
byte taken, kept, got;   /* messages out of the log; those that no receive has taken, and those that one has */
byte own, from;          /* those whose bytes came out of the checkpoint; the others are read in the log. Where it took the first one */

byte kills;

#define OUT 0
#define CAME 1
#define KEPT 2
#define SAID 3

#define NEWEST (there[S] >= 2 && there[R] >= 2 -> 2 : (there[S] >= 1 && there[R] >= 1 -> 1 : 0))
#define BIT(m) (1 << (m))
#define MAKES(i, k) (at[i] == (i == S -> (k == 1 -> 2 : 5) : (k == 1 -> 1 : 4)))
#define AFTER(i, k) (k == 0 -> 0 : (i == S -> (k == 1 -> 3 : 6) : (k == 1 -> 2 : 5)))
#define WANTS (at[R] == 0 -> 0 : (at[R] == 2 -> 1 : (at[R] == 3 -> 3 : (at[R] == 5 -> 2 : 9))))

inline take() {
   CHECK(taken >= floor, "a message is read that has been released\n");
   CHECK(!(kept & BIT(taken)) && !(got & BIT(taken)), "a message comes twice\n");
   kept = kept | BIT(taken); taken++
}

/* Below that no message is read any more. */
#define NEEDS (kept & own -> from : (kept & 1 -> 0 : (kept & 2 -> 1 : (kept & 4 -> 2 : taken))))

/* A new incarnation goes on from there. */
inline begin(i, k) {
   at[i] = AFTER(i, k); phase[i] = OUT; behind[i] = k;
   if
   :: i == S -> sent = vsent[k]
   :: i == R -> taken = vtaken[k]; kept = vkept[k]; got = vgot[k]; own = kept; from = taken;
#ifdef LOG_TOO
      /* as a snapshot does: from the oldest one that is kept */
      if :: kept & 2 -> taken = 1 :: !(kept & 2) && kept & 4 -> taken = 2 :: else -> skip fi
#endif
   fi
}

/* There is nothing of the log, and its numbers go on. */
inline begin_all(k) {
   base = k; done = vsent[k]; floor = done;
   cut[S] = done; cut[R] = done;
   come[S] = k; come[R] = k; there[S] = k; there[R] = k;
   begin(S, k); begin(R, k)
}

inline makes(i, k) {
   if
   :: phase[i] == OUT && come[i] < k -> come[i] = k; phase[i] = CAME
   :: phase[i] == OUT && come[i] >= k -> phase[i] = CAME
   :: phase[i] == CAME && there[i] >= k -> phase[i] = SAID
   :: phase[i] == CAME && there[i] < k ->
      if
      :: i == S -> vsent[k] = sent
      :: i == R -> vtaken[k] = taken; vgot[k] = got;
#ifdef CUT_TAKEN
         vneeds[k] = taken;
#else
         vneeds[k] = NEEDS;
#endif
#ifdef KEPT_LOST
         vkept[k] = 0
#else
         vkept[k] = kept
#endif
      fi;
      phase[i] = KEPT
   :: phase[i] == KEPT -> there[i] = (there[i] < k -> k : there[i]); phase[i] = SAID
#ifdef LEAVES_EARLY
   :: phase[i] == SAID && come[1 - i] >= k ->
#else
   :: phase[i] == SAID && there[1 - i] >= k ->
#endif
      phase[i] = OUT; behind[i] = k; at[i]++
   fi
}

/* The receiver goes on in a checkpoint: it keeps its part, or finds that a predecessor has. */
#ifdef NO_MEET
#define MAY_KEEP(k) (taken == done)
#else
#ifdef NO_TAKE
#define MAY_KEEP(k) (come[S] >= k)
#else
#define MAY_KEEP(k) (there[R] >= k || (come[S] >= k && taken == done))
#endif
#endif

proctype Job() {
   do
   /* the sender */
   :: d_step { phase[S] == OUT && (at[S] == 0 || at[S] == 1 || at[S] == 3 || at[S] == 4) ->
               if
               :: sent < done -> CHECK(sent >= floor, "a message is compared that has been released\n")
               :: sent >= done -> done = sent + 1; TELL("message %d is sent%c\n", sent, ' ')
               fi;
               sent++; at[S]++ }
   /* the receiver: takes, receives */
   :: d_step { taken < done && at[R] < END -> take(); }
   :: d_step { phase[R] == OUT && WANTS < 9 && (kept & BIT(WANTS)) ->
               CHECK(own & BIT(WANTS) || WANTS >= floor, "a message is read that has been released\n");
               got = got | BIT(WANTS); kept = kept & ~BIT(WANTS); TELL("message %d is received%c\n", WANTS, ' '); at[R]++ }
   /* checkpoints */
   :: d_step { MAKES(S, 1) && (phase[S] != CAME || there[S] >= 1 || come[R] >= 1) && (phase[S] != SAID || there[R] >= 1) -> makes(S, 1) }
   :: d_step { MAKES(S, 2) && (phase[S] != CAME || there[S] >= 2 || come[R] >= 2) && (phase[S] != SAID || there[R] >= 2) -> makes(S, 2) }
#ifdef LEAVES_EARLY
   :: d_step { MAKES(S, 1) && phase[S] == SAID && come[R] >= 1 -> makes(S, 1) }
   :: d_step { MAKES(S, 2) && phase[S] == SAID && come[R] >= 2 -> makes(S, 2) }
#endif
   :: d_step { MAKES(R, 1) && (phase[R] != CAME || MAY_KEEP(1)) && (phase[R] != SAID || there[S] >= 1) -> makes(R, 1) }
   :: d_step { MAKES(R, 2) && (phase[R] != CAME || MAY_KEEP(2)) && (phase[R] != SAID || there[S] >= 2) -> makes(R, 2) }
   /* the agent: cuts, and the keeper */
#ifdef CUT_EARLY
#define BEHIND(i) there[i]
#else
#define BEHIND(i) behind[i]
#endif
   :: d_step { BEHIND(S) > base && cut[S] < vsent[BEHIND(S)] -> cut[S] = vsent[BEHIND(S)] }
   :: d_step { BEHIND(R) > base && cut[R] < vneeds[BEHIND(R)] -> cut[R] = vneeds[BEHIND(R)] }
   :: d_step { floor < cut[S] && floor < cut[R] -> floor = (cut[S] < cut[R] -> cut[S] : cut[R]); TELL("below %d the log is released%c\n", floor, ' ') }
   /* death */
   :: d_step { kills < K && !(at[S] == END && at[R] == END) -> kills++; TELL("the sender is killed at %d, phase %d\n", at[S], phase[S]); begin(S, NEWEST) }
   :: d_step { kills < K && !(at[S] == END && at[R] == END) -> kills++; TELL("the receiver is killed at %d, phase %d\n", at[R], phase[R]);
               if :: NEWEST > base && vkept[NEWEST] && taken > vtaken[NEWEST] -> SEEN(1) :: else -> skip fi;
               begin(R, NEWEST) }
   :: d_step { kills < K && !(at[S] == END && at[R] == END) -> kills++; TELL("both are killed at %d and %d\n", at[S], at[R]);
               if :: NEWEST > base && vkept[NEWEST] -> SEEN(2) :: else -> skip fi;
               if :: NEWEST && done > vsent[NEWEST] && (there[S] > NEWEST || there[R] > NEWEST) -> SEEN(3) :: else -> skip fi;
               begin_all(NEWEST) }
   :: d_step { at[S] == END && at[R] == END -> CHECK(kept == 0 && got == 15, "a message is left\n") } break
   od
}

init { run Job() }
