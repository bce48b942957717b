/* SPDX-License-Identifier: BSD-3-Clause */
/* Log release behind uncoordinated snapshots (DESIGN section 5, RULES 6 and 14): ranks and snapshots are killed, the log has
   fewer places than the job has units. Searched exhaustively by check.sh; docs/models.md says what is modelled, what a step
   is and why that is fine enough, and what the variants (-D) are.

   A unit is live as in ft/core: slot, contributed, fold everybody's slots into the own chunk of the entry, done.
   SHORT(u): the result is what was folded (short.c). Else it is read from the entry after the commit (chunked.c).
   What `done` of an earlier incarnation is past is replayed: read from the entry after the commit. */
#ifndef R
#define R 3 /* ranks: 2 or 3 */
#endif
#ifndef N
#define N 4 /* units */
#endif
#ifndef M
#define M 2 /* places for entries: unit u has place u % M */
#endif
#ifndef K
#define K 2 /* kills */
#endif
#define D 2 /* slots per rank */
#define SHORT(u) ((u) % 2 == 1)

#define CHECK(c, text) if :: (c) -> skip :: else -> printf(text); assert(false) fi
/* Is it seen at all? check.sh asks for each n. */
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
#define OP 0    /* unit pos: wait for what is next and do it; Finalize if there is none left */
#define COPY 1  /* copy the entry from where it was, and look again */
#define CON 2   /* say that the slot is filled */
#define SAY 3   /* say done */
#define NAME 4  /* it has forked: name the new snapshot as the one to wake */
#define CUT 5   /* say the position of that, and discard the one before */
#define DEAD 6
#define EXIT 7

/* Shared memory; one writer per word. Of rank r: */
byte con[R], done[R]; /* units contributed, finished with */
byte slot[R * D];     /* unit + 1 */
byte ent[M * R];      /* the unit + 1 that its chunk is of, by place */
byte cut[R];          /* the position of the snapshot that is named */
/* Of the keeper: units below `assigned` have or had memory, those below `low` have none any more: they are in the spill
   file, or released. */
byte assigned, low;
#if defined(RACE) || defined(THREADS)
byte next;            /* what the keeper has found it can release */
#endif
byte floor;           /* of the agent: units below are released */

/* Processes: private memory, and who is there. */
byte st[R], pos[R];
bit spilled[R];       /* where COPY copies from: the spill file */
byte reg[R];          /* the snapshot that is named: its position + 1; 0: there is none, or it is dead */
byte new[R];          /* the one that has been forked and is not named yet, likewise */
byte kills;
bit all;              /* all ranks are being restarted */
#ifdef SPAWN
bit snapshot_killed;
#endif

#ifdef NO_MINE
byte mine[R], regmine[R], newmine[R];
#define REPLAYS(r) (mine[r] > pos[r])
#else
#define REPLAYS(r) (done[r] > pos[r]) /* `mine` is `done` as it was when it attached: the same until this unit is done */
#endif

#if R == 2
#define EVERY(f, x) (f(0, x) && f(1, x))
#define SOME(f, x) (f(0, x) || f(1, x))
#else
#define EVERY(f, x) (f(0, x) && f(1, x) && f(2, x))
#define SOME(f, x) (f(0, x) || f(1, x) || f(2, x))
#endif
#define CON_PAST(r, u) (con[r] > (u))
#define DONE_PAST(r, u) (done[r] > (u))
#define POS_PAST(r, u) (st[r] == DEAD || pos[r] > (u))
#define COMMITTED(u) EVERY(DONE_PAST, u)
#define SLOT_OF(r, u) (slot[(r) * D + (u) % D] == (u) + 1)
#define CHUNK_OF(r, u) (ent[(u) % M * R + (r)] == (u) + 1)
#define IN_MEMORY(u) (low <= (u) && (u) < assigned)
#define IS_DEAD(r, x) (st[r] == DEAD)
#define HAS_EXITED(r, x) (st[r] == EXIT)
#define OVER EVERY(HAS_EXITED, 0)
#define WANTS(r, u) (pos[r] == (u) && (u) < N && !REPLAYS(r) && st[r] == OP)
#define WANTED (!all && SOME(WANTS, assigned))

/* How far the log must be kept for rank r. Without a snapshot it can only start again. */
#if defined(BY_DONE)
#define HOLDS(r) done[r]
#elif defined(NO_HOLD)
#define HOLDS(r) (reg[r] -> cut[r] : (cut[r] -> N : 0))
#elif defined(KEEP_CUT) || defined(THREADS)
#define HOLDS(r) cut[r]
#else
#define HOLDS(r) (reg[r] -> cut[r] : 0)
#endif
#define HOLDS_NOT(r, u) (HOLDS(r) > (u))
#ifdef NEWEST
#define RELEASABLE(u) SOME(HOLDS_NOT, u)
#else
#define RELEASABLE(u) EVERY(HOLDS_NOT, u)
#endif

/* Whoever runs, or can be woken, needs nothing below x. */
#ifdef FORGET
#define NEEDS_NOT(r, x) (st[r] == DEAD || pos[r] >= (x))
#define WAKEABLE(r) (reg[r] > floor) /* position + 1 */
#else
#define NEEDS_NOT(r, x) ((st[r] == DEAD || pos[r] >= (x)) && (reg[r] == 0 || reg[r] > (x)))
#define WAKEABLE(r) (reg[r] != 0)
#endif
#if defined(DROP_UNSAID)
byte lost; /* units whose memory was given away, said or not */
#define LOST lost
#elif defined(THREADS) /* the keeper says what it is about to release, and looks at the cuts again before it does */
byte sure;
bit withdrawn[R];
#define LOST sure
#else
#define LOST floor
#endif
inline needed_not() { CHECK(EVERY(NEEDS_NOT, LOST), "what somebody still needs is released\n") }

/* The order in which a snapshot is registered. */
#ifdef CUT_FIRST
#define AFTER_FORK CUT
#define AFTER_CUT NAME
#define AFTER_NAME OP
#else
#define AFTER_FORK NAME
#define AFTER_NAME CUT
#define AFTER_CUT OP
#endif

/* At the end of an operation, before the next: only here. Not at all is always possible, too. */
inline forks() {
   new[r] = pos[r] + 1; st[r] = AFTER_FORK;
#ifdef NO_MINE
   newmine[r] = mine[r];
#endif
#ifdef DROP_FIRST
   reg[r] = 0;
#endif
   TELL("rank %d forks a snapshot at unit %d\n", r, pos[r])
}

inline named() {
   reg[r] = new[r]; new[r] = 0;
#ifdef NO_MINE
   regmine[r] = newmine[r]; newmine[r] = 0;
#endif
   st[r] = AFTER_NAME
}

inline copied() {
   if :: spilled[r] -> SEEN(3) :: else -> skip fi;
   CHECK(LOST <= pos[r], "a unit is read that has been released\n");
   CHECK(spilled[r] || EVERY(CHUNK_OF, pos[r]), "an entry is read that is another unit's\n");
   TELL("rank %d has unit %d out of the log\n", r, pos[r]);
   pos[r]++; spilled[r] = 0; st[r] = OP
}

inline folded() {
   CHECK(EVERY(SLOT_OF, pos[r]), "a slot is read that has another unit's contribution\n");
   CHECK(pos[r] == 0 || COMMITTED(pos[r] - 1), "everybody has contributed, but not finished with the unit before\n");
   ent[pos[r] % M * R + r] = pos[r] + 1; st[r] = SAY
}

inline said() {
   done[r] = pos[r] + 1; st[r] = OP;
   TELL("rank %d is done with unit %d\n", r, pos[r]);
   if
   :: SHORT(pos[r]) -> pos[r]++
   :: else
#ifdef NO_MINE
      -> mine[r] = done[r]
#endif
   fi
}

inline dies() { st[r] = DEAD; pos[r] = 0; spilled[r] = 0 }

/* The agent has reaped rank r, and ends what is not the snapshot that is named. */
inline woken() {
   new[r] = 0; pos[r] = reg[r] - 1; st[r] = OP; SEEN(4);
#ifdef NO_MINE
   mine[r] = regmine[r]; newmine[r] = 0;
#endif
   TELL("rank %d: its snapshot is woken at unit %d\n", r, pos[r]);
#ifndef SPAWN
#ifdef STAYS_NAMED
   reg[r] = 99 /* a process that is no snapshot any more */
#else
   reg[r] = 0
#endif
#endif
}

inline started() {
#ifdef THREADS
   withdrawn[r] = 0;
#endif
   new[r] = 0; st[r] = OP;
#ifdef NO_MINE
   mine[r] = done[r]; regmine[r] = 0; newmine[r] = 0;
#endif
#ifndef STALE_CUT
   cut[r] = 0;
#endif
   TELL("rank %d starts again, %d units are released\n", r, floor)
}

inline given_up() {
#ifndef FORGET
   CHECK(kills > 1, "after one failure all ranks have to be restarted\n");
#endif
#ifdef SPAWN
   CHECK(snapshot_killed, "no snapshot was killed, and all ranks have to be restarted\n");
#endif
   all = 1; SEEN(2);
   TELL("rank %d has no way back, %d units are released: all ranks are restarted\n", r, floor)
}

#ifdef START_ANYWAY
#define FROM_START true
#else
#define FROM_START (floor == 0)
#endif

proctype Rank(byte r) {
   do
   /* out of the log */
   :: d_step { st[r] == OP && pos[r] < N && REPLAYS(r) && COMMITTED(pos[r]) -> spilled[r] = pos[r] < low; st[r] = COPY }
#ifndef NO_RECHECK
   :: d_step { st[r] == COPY && spilled[r] != (pos[r] < low) -> st[r] = OP; spilled[r] = 0 }
#define UNMOVED (spilled[r] == (pos[r] < low))
#else
#define UNMOVED true
#endif
   :: d_step { st[r] == COPY && UNMOVED -> copied() }
   :: d_step { st[r] == COPY && UNMOVED && pos[r] + 1 < N -> copied(); forks() }
   /* live; the short way looks for memory before it contributes, the standard way after that */
#define HAS_SPACE(u) (!SHORT(u) || IN_MEMORY(u))
   :: d_step { st[r] == OP && pos[r] < N && !REPLAYS(r) && HAS_SPACE(pos[r]) && con[r] <= pos[r] &&
               (pos[r] < D || COMMITTED(pos[r] - D)) -> slot[r * D + pos[r] % D] = pos[r] + 1; st[r] = CON }
   :: d_step { st[r] == CON -> con[r] = pos[r] + 1; st[r] = OP }
#ifdef NO_MINE /* as produce() has it */
   :: d_step { st[r] == OP && pos[r] < N && !REPLAYS(r) && !SHORT(pos[r]) && done[r] > pos[r] -> mine[r] = pos[r] + 1 }
#define PRODUCES (SHORT(pos[r]) || done[r] <= pos[r])
#else
#define PRODUCES true
#endif
   :: d_step { st[r] == OP && pos[r] < N && !REPLAYS(r) && con[r] > pos[r] && PRODUCES && IN_MEMORY(pos[r]) && EVERY(CON_PAST, pos[r]) -> folded() }
   :: d_step { st[r] == SAY -> said() }
   :: d_step { st[r] == SAY && SHORT(pos[r]) && pos[r] + 1 < N -> said(); forks() }
   /* a snapshot is registered */
   :: d_step { st[r] == NAME -> named() }
   :: d_step { st[r] == CUT -> cut[r] = pos[r]; st[r] = AFTER_CUT; TELL("rank %d says it has a snapshot at unit %d\n", r, pos[r]) }
   /* Finalize */
   :: d_step { st[r] == OP && pos[r] == N && COMMITTED(N - 1) -> st[r] = EXIT }
   /* Kills. The ranks are alike, so the first is rank 0's, the second rank 0's or rank 1's ... */
   :: d_step { kills < K && r <= kills && !all && st[r] < DEAD ->
               dies(); kills++; TELL("rank %d is killed: %d\n", r, kills) }
   :: d_step { kills < K && r <= kills && !all && st[r] < EXIT && reg[r] ->
               reg[r] = 0; kills++; TELL("the snapshot of rank %d is killed: %d\n", r, kills);
#ifdef SPAWN
               snapshot_killed = 1
#endif
             }
   :: d_step { kills < K && r <= kills && !all && st[r] == AFTER_FORK && new[r] ->
               new[r] = 0; kills++; TELL("the new snapshot of rank %d is killed: %d\n", r, kills);
#ifdef SPAWN
               snapshot_killed = 1
#endif
             }
   /* the agent, about rank r */
   :: d_step { st[r] == DEAD && !all && WAKEABLE(r) && reg[r] != 99 -> woken() }
#ifndef SPAWN
   :: d_step { st[r] == DEAD && !all && WAKEABLE(r) && reg[r] != 99 -> woken(); forks() }
#endif
#ifdef THREADS
   :: d_step { st[r] == DEAD && !all && !WAKEABLE(r) && !withdrawn[r] -> cut[r] = 0; withdrawn[r] = 1 }
#define WITHDRAWN (withdrawn[r])
#else
#define WITHDRAWN true
#endif
   :: d_step { st[r] == DEAD && !all && !WAKEABLE(r) && WITHDRAWN && FROM_START -> started() }
   :: d_step { st[r] == DEAD && !all && !WAKEABLE(r) && WITHDRAWN && !FROM_START -> given_up() }
   :: d_step { all && st[r] != DEAD -> dies() }
   :: OVER -> break
   od
}

#ifdef NO_MINE
#define WIPE_MINE mine[k] = 0; regmine[k] = 0; newmine[k] = 0
#else
#define WIPE_MINE skip
#endif
inline wipe() {
   k = 0;
   do :: k < R -> con[k] = 0; done[k] = 0; cut[k] = 0; reg[k] = 0; new[k] = 0; WIPE_MINE; k++ :: else -> break od;
   k = 0;
   do :: k < R * D -> slot[k] = 0; k++ :: else -> break od;
   k = 0;
   do :: k < R * M -> ent[k] = 0; k++ :: else -> break od;
#ifdef THREADS
   k = 0;
   do :: k < R -> withdrawn[k] = 0; k++ :: else -> break od;
   sure = 0; next = 0;
#endif
   k = 0; assigned = 0; low = 0; floor = 0
}

/* The agent, about all ranks, and its keeper. */
proctype Agent() {
   byte k;
#ifdef WIPE_EARLY
   bit wiped;
#endif
   do
   /* what is behind every snapshot is released; memory follows when it is wanted */
#ifdef THREADS
   :: d_step { !all && next == 0 && floor == sure && floor < N && RELEASABLE(floor) ->
               next = floor; do :: next < N && RELEASABLE(next) -> next++ :: else -> break od }
   :: d_step { !all && next != 0 -> floor = next; next = 0 }
   :: d_step { !all && floor != sure && RELEASABLE(floor - 1) -> sure = floor; TELL("released: %d units%c\n", floor, ' '); needed_not() }
#ifndef NO_BACK
   :: d_step { !all && floor != sure && !RELEASABLE(floor - 1) -> floor = sure }
#else
   :: d_step { !all && floor != sure && !RELEASABLE(floor - 1) -> sure = floor; needed_not() }
#endif
#elif defined(RACE)
   :: d_step { !all && next == 0 && floor < N && RELEASABLE(floor) ->
               next = floor; do :: next < N && RELEASABLE(next) -> next++ :: else -> break od }
   :: d_step { next != 0 -> floor = next; next = 0; TELL("released: %d units%c\n", floor, ' '); needed_not() }
#else
   :: d_step { !all && floor < N && RELEASABLE(floor) -> do :: floor < N && RELEASABLE(floor) -> floor++ :: else -> break od;
               TELL("released: %d units%c\n", floor, ' '); needed_not() }
#endif
   :: d_step { WANTED && assigned - low < M -> assigned++ }
   :: d_step { WANTED && assigned - low == M && low < LOST -> low++; SEEN(1) }
#ifdef DROP_UNSAID
   :: d_step { WANTED && assigned - low == M && low >= floor && RELEASABLE(low) ->
               low++; lost = low; TELL("given away: unit %d%c\n", low - 1, ' '); needed_not() }
#endif
#if defined(FORGET)
   /* the limit is reached: the oldest is forgotten */
#ifdef FORGET_DONE
   :: d_step { WANTED && assigned - low == M && low >= floor && !RELEASABLE(low) && COMMITTED(low) ->
               low++; floor = low; TELL("forgotten: %d units%c\n", low, ' '); needed_not() }
#else
   :: d_step { WANTED && assigned - low == M && low >= floor && !RELEASABLE(low) && COMMITTED(low) && EVERY(POS_PAST, low) ->
               low++; floor = low; TELL("forgotten: %d units%c\n", low, ' '); needed_not() }
#endif
#elif !defined(NO_SPILL)
   /* ... or spilled */
   :: d_step { WANTED && assigned - low == M && low >= LOST && !RELEASABLE(low) && COMMITTED(low) ->
               CHECK(EVERY(CHUNK_OF, low), "an entry is spilled that is not whole\n"); low++; TELL("spilled: unit %d%c\n", low - 1, ' ') }
#endif
   /* all ranks from the start */
#ifdef WIPE_EARLY
   :: d_step { all && !wiped -> wipe(); wiped = 1 }
   :: d_step { all && wiped && EVERY(IS_DEAD, 0) -> k = 0; do :: k < R -> st[k] = OP; k++ :: else -> break od; k = 0; all = 0; wiped = 0 }
#else
   :: d_step { all && EVERY(IS_DEAD, 0) -> wipe(); do :: k < R -> st[k] = OP; k++ :: else -> break od; k = 0; all = 0 }
#endif
   :: OVER -> break
   od
}

init {
   atomic {
      byte i = 0;
      do :: i < R -> run Rank(i); i++ :: else -> break od;
      run Agent()
   }
}
