/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts in two banks, with several streams: a rank writes its positions beside the cut that is named, the agent names them when the
   snapshot is there, the keeper releases below what is named. Searched exhaustively by positions.sh; docs/models.md says what is
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
#define ENTRY0 1 /* write the position in stream 0 into the bank */
#define ENTRY1 2
#define NUMBER 3 /* publish the snapshot's number in the bank */
#define FORK 4
#define DEAD 5
#define EXIT 6

/* Shared memory; one writer per word. Banks 0 and 1 are the rank's, 2 and 3 the agent's. */
#define NONE 4
byte entry[R * 4 * 2];
#define OF(r, b, s) entry[((r) * 4 + (b)) * 2 + (s)]
byte fresh[R] = NONE;  /* the bank whose number is that of the snapshot asked for; NONE: no bank's is */
byte reached[R];       /* of the rank: the furthest it has been */
byte saved[R];         /* where its newest checkpoint is; 0: it has none */
byte named[R] = NONE;  /* of the agent */
bit asked[R];          /* a snapshot has been asked for, and is not named nor given up */
byte floor[2];         /* of the keeper */
byte gone[2];          /* units that are released */

/* Processes: private memory, and who is there. */
byte st[R], pos[R];
byte bank[R];          /* which the rank writes */
bit given_up[R];       /* the snapshot that the rank is making */
byte reg[R];           /* the snapshot to wake: its position + 1; 0: there is none, or it is dead */
byte new[R];           /* the one that has been forked and is not that yet, likewise */
byte kills, replaced;
bit lost;              /* a snapshot was killed that was the one to wake */
bit all;               /* all ranks are restarted: the end of the search, release.pml goes on from there */

#ifdef ZERO
bit zero[R] = 1;       /* the snapshot from before the beginning is there: it can be woken, too, and needs all of the log */
byte held[R] = NONE;   /* the bank of the one to wake */
#define HAS_ZERO(r) zero[r]
#else
#define HAS_ZERO(r) false
#endif

/* The agent, about rank r. */
#define COPY0 1        /* the checkpoint's position in stream 0 into its bank */
#define COPY1 2
#define SELECT 3       /* name it, or nothing */
#define ASK0 4         /* for the floors */
#define ASK1 5
byte does[R];
byte back[R];          /* to where */
byte own[R];           /* the bank that is written */

/* The keeper. */
#define LOOK 1
#define READ 2
#define AGAIN 3
#define FLOOR 4
#define RELEASE 5
#define TAKE_BACK 6
byte keeps, stream, member, its, least, value;
bit second;
bit moved;             /* the count that is in `named` with the bank is not what it was at LOOK */

#if R == 1
#define EVERY(f, x) f(0, x)
#define DECIDED does[0] = 0; back[0] = 0; own[0] = 0
#define DOES (does[0] != 0)
#else
#define EVERY(f, x) (f(0, x) && f(1, x))
#define DECIDED does[0] = 0; back[0] = 0; own[0] = 0; does[1] = 0; back[1] = 0; own[1] = 0
#define DOES (does[0] || does[1])
#endif
#define HAS_REACHED(r, g) (reached[r] >= (g))
#define HAS_EXITED(r, x) (st[r] == EXIT)
#define OVER (all || EVERY(HAS_EXITED, 0))
#define NEEDS(r, s) (named[r] == NONE -> 0 : OF(r, named[r], s))
#define NEEDS_NOT(r, s) ((st[r] >= DEAD || P(s, pos[r]) >= gone[s]) && (reg[r] == 0 || P(s, reg[r] - 1) >= gone[s]))
#define IS_THERE(g) (P(0, g) >= gone[0] && P(1, g) >= gone[1])
#define IS_WRITING(r) (ENTRY0 <= st[r] && st[r] <= FORK)

#define NAMES(b) named[r] = (b); if :: member == r -> moved = 1 :: else -> skip fi

/* ---- the rank ---- */

#if defined(NUMBER_FIRST)
#define AFTER_OP NUMBER
#define AFTER_NUMBER ENTRY0
#define AFTER_ENTRIES FORK
#define AFTER_FORK OP
#elif defined(FORK_FIRST)
#define AFTER_OP FORK
#define AFTER_FORK ENTRY0
#define AFTER_ENTRIES NUMBER
#define AFTER_NUMBER OP
#elif defined(AGENT_CHOOSES)
#define AFTER_OP ENTRY0
#define AFTER_ENTRIES FORK
#define AFTER_NUMBER OP
#define AFTER_FORK OP
#else
#define AFTER_OP ENTRY0
#define AFTER_ENTRIES NUMBER
#define AFTER_NUMBER FORK
#define AFTER_FORK OP
#endif

#ifdef BY_PARITY
bit parity[R];
#endif
#ifdef REMEMBERED
bit last[R];
#endif

inline begins() {
#if defined(SAME_BANK)
   bank[r] = 0;
#elif defined(REMEMBERED)
   bank[r] = !last[r]; last[r] = bank[r];
#elif defined(ZERO) && !defined(BY_NAMED)
   bank[r] = (held[r] == 0 -> 1 : 0);
#else
   bank[r] = (named[r] == 0 -> 1 : 0);
#endif
#ifdef BY_PARITY
   parity[r] = !parity[r];
#endif
#ifdef AGENT_CHOOSES
   fresh[r] = bank[r]; /* said with the request */
#endif
   asked[r] = 1; st[r] = AFTER_OP;
   TELL("rank %d makes a snapshot at %d\n", r, pos[r])
}

#ifdef LEFT_OUT
#define WRITES(s) (named[r] == NONE || OF(r, named[r], s) != P(s, pos[r]))
#else
#define WRITES(s) true
#endif
inline writes(s) { if :: WRITES(s) -> OF(r, bank[r], s) = P(s, pos[r]) :: else -> skip fi }

inline stands() { if :: st[r] == OP -> bank[r] = 0; given_up[r] = 0 :: else -> skip fi }

inline forks() {
   if
   :: given_up[r] -> skip
   :: else -> new[r] = pos[r] + 1
   fi;
#ifdef UNTAKEN
   if :: !asked[r] && !given_up[r] -> reg[r] = new[r]; new[r] = 0 :: else -> skip fi;
#endif
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
   TELL("rank %d is at %d\n", r, pos[r])
}

inline dies() { st[r] = DEAD; pos[r] = 0; bank[r] = 0; given_up[r] = 0 }

/* ---- the agent ---- */

#ifdef BY_PARITY
#define ITS_BANK parity[r]
#elif defined(OTHER_BANK)
#define ITS_BANK (named[r] == 0 -> 1 : 0)
#else
#define ITS_BANK fresh[r]
#endif
#ifdef OTHER_BANK
#define HAS_BANK true
#else
#define HAS_BANK (fresh[r] != NONE)
#endif
#ifdef UNTAKEN
#define TAKEN (asked[r] && HAS_BANK)
#else
#define TAKEN (asked[r] && HAS_BANK && new[r])
#endif
#ifdef OVERTAKEN
#define IS_OLDER false
#elif defined(ONE_STREAM)
#define IS_OLDER (OF(r, fresh[r], 0) < NEEDS(r, 0))
#else
#define IS_OLDER (OF(r, fresh[r], 0) < NEEDS(r, 0) || OF(r, fresh[r], 1) < NEEDS(r, 1))
#endif

inline gives_up() {
   new[r] = 0; asked[r] = 0; fresh[r] = NONE;
   if :: IS_WRITING(r) -> given_up[r] = 1 :: else -> skip fi;
   TELL("the agent gives up a snapshot of rank %d%c\n", r, ' ')
}

/* One word says which process is to be woken, another one which bank that is (two steps with BANK_FIRST and PROCESS_FIRST). */
inline to_wake() { reg[r] = new[r]; new[r] = 0; TELL("rank %d: the one to wake is that at %d\n", r, reg[r] - 1) }
#ifdef ZERO
inline to_hold() { held[r] = ITS_BANK; if :: !zero[r] -> NAMES(held[r]) :: else -> skip fi }
#else
inline to_hold() { NAMES(ITS_BANK); TELL("rank %d: bank %d is named\n", r, named[r]) }
#endif
inline settled() { asked[r] = 0; fresh[r] = NONE }

inline wakes() {
   pos[r] = reg[r] - 1; st[r] = OP; SEEN(1);
   TELL("rank %d: its snapshot is woken at %d\n", r, pos[r]);
   CHECK(IS_THERE(pos[r]), "what a woken rank needs is released\n");
#ifndef PROCESS_FIRST
   CHECK(HAS_ZERO(r) || named[r] < 2 && OF(r, named[r], 0) == P(0, pos[r]) && OF(r, named[r], 1) == P(1, pos[r]),
         "a rank is woken elsewhere than its bank says\n")
#endif
}

#ifdef ASK_FIRST
#define FIRST_OF_DEAD ASK0
#define AFTER_ASKED (back[r] -> COPY0 : SELECT)
#else
#define FIRST_OF_DEAD (back[r] -> COPY0 : SELECT)
#endif

#ifdef OWN_ONE
#define OWN_BANK 2
#else
#define OWN_BANK (named[r] == 2 -> 3 : 2)
#endif

#ifdef ON_ITS_WAY
#define IS_PAST(r) true
#else
#define IS_PAST(r) (pos[r] >= saved[r])
#endif

inline goes_back() {
   back[r] = saved[r]; own[r] = (back[r] -> OWN_BANK : 0); does[r] = (st[r] == DEAD -> FIRST_OF_DEAD : COPY0);
   TELL("rank %d goes back to %d, if it must\n", r, back[r])
}

inline decided() { does[r] = 0; back[r] = 0; own[r] = 0 }

inline starts() {
   pos[r] = back[r]; st[r] = OP; decided(); SEEN(2);
   TELL("rank %d starts again at %d\n", r, pos[r]);
   CHECK(IS_THERE(pos[r]), "what a rank needs that starts again is released\n")
}

inline restarts() {
   TELL("rank %d cannot go back to %d\n", r, back[r]);
   CHECK(lost, "no snapshot was lost, and all ranks are restarted\n");
   all = 1; SEEN(3)
}

inline selects() {
#ifdef STAYS_NAMED
   if :: back[r] -> NAMES(own[r]) :: else -> skip fi;
#else
   NAMES((back[r] -> own[r] : NONE));
#endif
   if
#ifdef ASK_FIRST
   :: st[r] == DEAD && !asked[r] -> starts()
#else
   :: st[r] == DEAD && !asked[r] -> does[r] = ASK0
#endif
   :: else -> decided()
   fi
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
   :: d_step { !all && st[r] == ENTRY0 -> writes(0); st[r] = ENTRY1 }
   :: d_step { !all && st[r] == ENTRY1 -> writes(1); st[r] = AFTER_ENTRIES; stands() }
   :: d_step { !all && st[r] == NUMBER -> if :: given_up[r] -> skip :: else -> fresh[r] = bank[r] fi; st[r] = AFTER_NUMBER; stands() }
   :: d_step { !all && st[r] == FORK -> forks() }
   /* Kills. The first is rank 0's: the ranks are alike. */
   :: d_step { !all && kills < K && MAY_DIE && st[r] < DEAD -> dies(); kills++; TELL("rank %d is killed: %d\n", r, kills) }
   :: d_step { !all && kills < K && MAY_DIE && st[r] < EXIT && reg[r] ->
               reg[r] = 0; lost = 1; kills++; TELL("the snapshot of rank %d is killed: %d\n", r, kills) }
   :: d_step { !all && kills < K && MAY_DIE && st[r] < EXIT && new[r] ->
               new[r] = 0; kills++; TELL("the new snapshot of rank %d is killed: %d\n", r, kills) }
   /* the agent, about rank r: a snapshot that is there */
#if defined(BANK_FIRST)
   :: d_step { !all && TAKEN && does[r] == 0 && named[r] != ITS_BANK -> to_hold() }
   :: d_step { !all && TAKEN && does[r] == 0 && named[r] == ITS_BANK -> to_wake(); settled() }
#elif defined(PROCESS_FIRST)
   :: d_step { !all && TAKEN && does[r] == 0 && !IS_OLDER -> to_wake() }
   :: d_step { !all && asked[r] && HAS_BANK && !new[r] && reg[r] && does[r] == 0 && OF(r, fresh[r], 0) == P(0, reg[r] - 1) && OF(r, fresh[r], 1) == P(1, reg[r] - 1) -> to_hold(); settled() }
#elif defined(DROP_FIRST)
   :: d_step { !all && TAKEN && does[r] == 0 && !IS_OLDER && reg[r] -> reg[r] = 0 }
   :: d_step { !all && TAKEN && does[r] == 0 && !IS_OLDER && !reg[r] -> to_hold(); to_wake(); settled() }
#else
   :: d_step { !all && TAKEN && does[r] == 0 && !IS_OLDER -> to_hold(); to_wake(); settled() }
#endif
   :: d_step { !all && asked[r] && does[r] == 0 -> gives_up() }
   /* a rank that is dead */
#ifdef BANK_FIRST
   :: d_step { !all && st[r] == DEAD && reg[r] -> wakes() }
#else
   :: d_step { !all && st[r] == DEAD && !asked[r] && does[r] == 0 && reg[r] -> wakes() }
#endif
   :: d_step { !all && st[r] == DEAD && !asked[r] && does[r] == 0 && !reg[r] && !HAS_ZERO(r) -> goes_back() }
#ifdef ZERO
   :: d_step { !all && st[r] == DEAD && !asked[r] && !reg[r] && zero[r] -> st[r] = OP; TELL("rank %d: zero is woken%c\n", r, ' ');
               CHECK(IS_THERE(0), "what a woken rank needs is released\n") }
   :: d_step { !all && zero[r] && reg[r] && does[r] == 0 -> zero[r] = 0; TELL("rank %d: zero ends, bank %d is named\n", r, held[r]); NAMES(held[r]) }
#endif
   /* one that lives, has no snapshot, and a checkpoint past its cut that it is past itself */
   :: d_step { !all && st[r] < DEAD && does[r] == 0 && !reg[r] && IS_PAST(r) && saved[r] > NEEDS(r, 0) + NEEDS(r, 1) -> goes_back() }
   :: d_step { !all && does[r] == COPY0 -> OF(r, own[r], 0) = P(0, back[r]); does[r] = COPY1 }
   :: d_step { !all && does[r] == COPY1 -> OF(r, own[r], 1) = P(1, back[r]); does[r] = SELECT }
   :: d_step { !all && does[r] == SELECT -> selects() }
   :: d_step { !all && does[r] == ASK0 -> if :: floor[0] <= P(0, back[r]) -> does[r] = ASK1 :: else -> restarts() fi }
#ifdef ASK_FIRST
   :: d_step { !all && does[r] == ASK1 -> if :: floor[1] <= P(1, back[r]) -> does[r] = AFTER_ASKED :: else -> restarts() fi }
#else
   :: d_step { !all && does[r] == ASK1 -> if :: floor[1] <= P(1, back[r]) -> starts() :: else -> restarts() fi }
#endif
   :: OVER -> break
   od
}

/* ---- the keeper ---- */

#ifdef NOT_AGAIN
#define HAS_MOVED false
#elif defined(FIRST_LOOSE)
#define HAS_MOVED (moved && second)
#elif defined(NO_COUNT)
#define HAS_MOVED (named[member] != its)
#else
#define HAS_MOVED moved
#endif
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

inline idles() { keeps = 0; stream = 0; member = 0; its = 0; least = 0; value = 0; second = 0; moved = 0 }

inline begins_to_look() { keeps = LOOK; member = 0; least = G }

inline has_looked() {
   value = 0; its = 0; moved = 0;
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
#define ABOVE(r, s) (NEEDS(r, s) > gone[s])
#define MAY_LOOK(s) EVERY(ABOVE, s)
#else
#define MAY_LOOK(s) true
#endif

proctype Keeper() {
   do
   :: d_step { !all && keeps == 0 && MAY_LOOK(0) -> begins_to_look() }
   :: d_step { !all && keeps == 0 && MAY_LOOK(1) -> stream = 1; begins_to_look() }
   :: d_step { !all && keeps == LOOK && named[member] != NONE -> its = named[member]; moved = 0; keeps = READ }
   :: d_step { !all && keeps == LOOK && named[member] == NONE -> least = 0; has_looked() }
   :: d_step { !all && keeps == READ -> value = OF(member, its, READS); keeps = AGAIN }
   :: d_step { !all && keeps == AGAIN && HAS_MOVED -> value = 0; its = 0; moved = 0; keeps = LOOK; SEEN(4) }
   :: d_step { !all && keeps == AGAIN && !HAS_MOVED -> least = (value < least -> value : least); has_looked() }
   :: d_step { !all && keeps == FLOOR -> floor[stream] = least; second = 1; begins_to_look() }
   :: d_step { !all && keeps == RELEASE -> gone[stream] = floor[stream]; TELL("released: %d units of stream %d\n", gone[stream], stream);
               CHECK(EVERY(NEEDS_NOT, stream), "what somebody still needs is released\n"); idles() }
   :: d_step { !all && keeps == TAKE_BACK -> floor[stream] = gone[stream]; idles(); SEEN(5) }
   /* it and the agent die; their successors know what is in shared memory */
   :: d_step { !all && replaced < A && (keeps || DOES) ->
               replaced++; idles(); floor[0] = gone[0]; floor[1] = gone[1];
               DECIDED; TELL("agent %d is replaced%c\n", replaced, ' ') }
   :: OVER -> break
   od
}

init {
   atomic {
      byte i = 0;
      do :: i < R -> run Rank(i); i++ :: else -> break od;
      run Keeper()
   }
}
