/* SPDX-License-Identifier: BSD-3-Clause */
/* The cut of a checkpoint (DESIGN section 4, RULES 6 and 22): ranks are killed anywhere, go on from models in memory that is
   half written when they die, and the log is released behind the cuts. Searched exhaustively by check.sh; docs/models.md says
   what is modelled, what a step is, and what the variants (-D) are.

   Unit 0 is called before the load, unit 1 is the load, all others are checkpoints. Rank 0 stores the model that all read,
   the others one of their own (and the agent, with it, how much the rank has printed). */
#ifndef R
#define R 3 /* ranks: 2 or 3 */
#endif
#ifndef N
#define N 5 /* units */
#endif
#ifndef K
#define K 2 /* failures */
#endif
#define LOAD 1
#define TORN 99

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
#define RAISE(word, to) if :: word < (to) -> word = to :: else -> skip fi

/* What a rank's process is about to do. */
#define OP 0     /* unit pos: what is next of it */
#define PIN 1    /* the slot's words are no version any more; is somebody reading it? */
#define HALF 2   /* write the model's first half, and where the version will be */
#define WHOLE 3  /* the second half */
#define SAY 4    /* say that the slot holds the version */
#define GIVE 5   /* contribute */
#define READ 6   /* the version is chosen: read the first half */
#define JUMP 7   /* read the second half, go to where the version was made */
#define COPY 8   /* copy unit 0 from the log */
#define DEAD 9
#define EXIT 10

/* Shared memory, one writer per word. Of rank r: */
byte con[R], done[R];                /* units contributed, finished with */
byte cons[R];                        /* the newest version it has finished or loaded */
byte data[R * 2];                    /* its models, by slot: the version that the bytes are of */
byte ver[R * 2], unit[R * 2];        /* words of the slot: version, and the unit after its checkpoint */
bit prefix;                          /* of rank 0: units before the load are kept apart */
/* Of the agent, and its keeper: */
byte cut[R];                         /* what the log is released by */
byte floor, sure;                    /* units below `floor` it says it releases, below `sure` it has released */
byte base;                           /* the version that everybody began with */
bit baseslot;
byte who;                            /* it is about to register the cut of rank who - 1 */

/* Processes: private memory, and who is there. */
byte st[R], pos[R], now[R];          /* now: the version it has */
bit slot[R];                         /* that it writes or reads */
byte kills;
bit all;                             /* everybody is being restarted */
bit one;                             /* rank 1 has been killed: rank 2 is like it, so it is killed only later */

/* ---- what a search may have besides ---- */
#ifdef FULL /* no memory for a model, once */
byte bad[N];                         /* the unit's result: somebody had none */
bit nomem, fails[R];
#define BAD(u) bad[u]
#else
#define BAD(u) false
#endif
#ifdef WRITE_AGAIN
bit wrote[R];
#define STORED(r) (done[r] > pos[r] || wrote[r])
#else
#define STORED(r) (con[r] > pos[r])
#endif
#ifdef LAZY /* rank 0 may have no use for a version */
bit kept[2];
#define KEPT(s) kept[s]
#else
#define KEPT(s) true
#endif
#ifdef SNAPSHOTS
byte snap[R], snapver[R];            /* position + 1 of its snapshot, and version */
bit asked[R];                        /* it is dead, and its cut taken back */
byte next;                           /* what the keeper has found it can release */
#ifdef WAKE_BELOW
#define WAKEABLE(r) (snap[r] && floor <= cut[r])
#else
#define WAKEABLE(r) (snap[r] > cut[r])
#endif
#ifdef WAKE_FIRST
#define KNOWN(r) true
#else
#define KNOWN(r) NOTHING_TO_REGISTER(r)
#endif
#endif
#ifdef DURABLE /* the agent copies versions to disk */
byte pin;                            /* the slot it reads + 1 */
#define FREE(s) (pin != (s) + 1)
#else
#define FREE(s) true
#endif
#if R == 2
#define EVERY(f, x) (f(0, x) && f(1, x))
#else
#define EVERY(f, x) (f(0, x) && f(1, x) && f(2, x))
#endif
#define CON_PAST(r, u) (con[r] > (u))
#define DONE_PAST(r, u) (done[r] > (u))
#define COMMITTED(u) EVERY(DONE_PAST, u)
#define CONS_FROM(r, k) (cons[r] >= (k))
#define CONS_TO(r, k) (cons[r] <= (k))
#define IS_DEAD(r, x) (st[r] == DEAD)
#define HAS_EXITED(r, x) (st[r] == EXIT)
#define OVER (!all && EVERY(HAS_EXITED, 0))
#define REPLAYS(r) (done[r] > pos[r])
#define MAY_DIE(r) (kills < K && !all && ((r) < 2 || one))
#define AT(r, s) ((r) * 2 + (s))

/* Does the slot hold a version that can be loaded, by what rank r sees? Everybody's words say the same, and its unit is committed. */
#define FINISHED(q, s) (done[q] >= unit[AT(q, s)])
#define AS_MINE(q, i) (ver[AT(q, (i) % 2)] == ver[i] && unit[AT(q, (i) % 2)] == unit[i])
#if defined(OWN_WORDS)
#define WORDS(r, s) COMMITTED(unit[AT(r, s)] - 1)
#elif defined(UNCOMMITTED)
#define WORDS(r, s) true
#else
#define WORDS(r, s) (EVERY(AS_MINE, AT(r, s)) && EVERY(FINISHED, s))
#endif
#define VALID(r, s) (ver[AT(r, s)] != 0 && KEPT(s) && WORDS(r, s))
/* Where the newest is: slot + 1; 0: nowhere. */
#define NEWEST(r) (VALID(r, 0) -> (VALID(r, 1) && ver[AT(r, 1)] > ver[AT(r, 0)] -> 2 : 1) : (VALID(r, 1) -> 2 : 0))
#define NEWEST_SLOT(r) ((NEWEST(r) + 1) % 2)
#define NEWEST_UNIT(r) (NEWEST(r) -> unit[AT(r, NEWEST_SLOT(r))] : 0)
#define NEWEST_VER(r) (NEWEST(r) -> ver[AT(r, NEWEST_SLOT(r))] : base)

/* Where rank r's next version goes: where the newest is not. */
#if defined(ONE_COPY)
#define NEXT_SLOT(r) 0
#elif defined(IN_TURN)
#define NEXT_SLOT(r) ((now[r] + 1) % 2)
#else
#define NEXT_SLOT(r) (NEWEST(r) -> 2 - NEWEST(r) : 1 - baseslot)
#endif
#ifdef NO_WAIT
#define MAY_WRITE(r) true
#else
#define MAY_WRITE(r) EVERY(CONS_FROM, now[r])
#endif

/* Which slot's words are those of the version that rank q says it has? */
#ifdef CUT_EARLY
#define SAYS(q) (ver[AT(q, 0)] > ver[AT(q, 1)] -> ver[AT(q, 0)] : ver[AT(q, 1)])
#else
#define SAYS(q) cons[q]
#endif
#ifdef LAZY_FLAG
#define STORED_SO(q, s, v) (ver[AT(q, s)] == (v) && KEPT(s))
#else
#define STORED_SO(q, s, v) (ver[AT(q, s)] == (v) && KEPT(s) && ver[AT(0, s)] == (v))
#endif
#ifdef NO_LOOK
#define STILL(q, s, v) true
#else
#define STILL(q, s, v) STORED_SO(q, s, v)
#endif
#define HAS_MOVED(q, s) (SAYS(q) && STORED_SO(q, s, SAYS(q)) && cut[q] < unit[AT(q, s)])
#define NOTHING_TO_REGISTER(q) (who == 0 && !HAS_MOVED(q, 0) && !HAS_MOVED(q, 1))

inline begins() {
#if defined(VERSION_FIRST)
   ver[AT(r, slot[r])] = now[r] + 1;
#elif !defined(NO_CLEAR)
   ver[AT(r, slot[r])] = 0;
#endif
#ifdef WRITE_AGAIN
   wrote[r] = 1;
#endif
   skip
}

inline half() { data[AT(r, slot[r])] = TORN; unit[AT(r, slot[r])] = pos[r] + 1 }
inline whole() { data[AT(r, slot[r])] = now[r] + 1 }

inline gives() {
#ifdef FULL
   if :: con[r] <= pos[r] && fails[r] -> bad[pos[r]] = 1 :: else -> skip fi;
   fails[r] = 0;
#endif
   RAISE(con[r], pos[r] + 1); slot[r] = 0; st[r] = OP;
   TELL("rank %d contributes to unit %d\n", r, pos[r])
}

/* Unit pos is committed, so its result is known. */
inline finished() {
   CHECK(sure <= pos[r], "a unit is read that has been released\n");
   TELL("rank %d has finished unit %d\n", r, pos[r]);
   if
   :: pos[r] > LOAD && !BAD(pos[r]) -> now[r]++; RAISE(cons[r], now[r])
   :: else -> skip
   fi;
#ifdef WRITE_AGAIN
   wrote[r] = 0;
#endif
   pos[r]++
}

inline right_model(s, v) {
   CHECK(data[AT(0, s)] == v && data[AT(1, s)] == v && data[AT(R - 1, s)] == v, "a model is read that is torn, or of another version\n")
}

inline dies() {
   st[r] = DEAD; pos[r] = 0; now[r] = 0; slot[r] = 0;
#ifdef SNAPSHOTS
   asked[r] = 0;
#endif
#ifdef FULL
   fails[r] = 0;
#endif
#ifdef WRITE_AGAIN
   wrote[r] = 0
#endif
}

proctype Rank(byte r) {
   do
   /* unit 0 */
#define FIRST(r) (st[r] == OP && pos[r] == 0)
   :: d_step { FIRST(r) && !REPLAYS(r) -> con[r] = 1; done[r] = 1 }
#ifdef PREFIX_LAST
   :: d_step { FIRST(r) && REPLAYS(r) && COMMITTED(0) && sure == 0 -> st[r] = COPY }
   :: d_step { FIRST(r) && REPLAYS(r) && COMMITTED(0) && sure > 0 && prefix -> pos[r] = LOAD }
#else
   :: d_step { FIRST(r) && REPLAYS(r) && COMMITTED(0) && !prefix -> st[r] = COPY }
   :: d_step { FIRST(r) && REPLAYS(r) && COMMITTED(0) && prefix -> pos[r] = LOAD; if :: sure > 0 -> SEEN(1) :: else -> skip fi }
#endif
   :: d_step { st[r] == COPY -> finished(); st[r] = OP }
   /* unit 1 if there is no version: a unit like any other */
#define LOADS(r) (st[r] == OP && pos[r] == LOAD)
   :: d_step { LOADS(r) && NEWEST(r) == 0 && !REPLAYS(r) && r == 0 && !prefix -> prefix = 1 }
   :: d_step { LOADS(r) && NEWEST(r) == 0 && !REPLAYS(r) && (r != 0 || prefix) -> con[r] = LOAD + 1; done[r] = LOAD + 1 }
   :: d_step { LOADS(r) && NEWEST(r) == 0 && REPLAYS(r) && COMMITTED(LOAD) ->
               finished(); now[r] = base; RAISE(cons[r], now[r]);
               if :: base > 0 -> st[r] = READ; slot[r] = baseslot :: else -> skip fi }
   /* ... else the newest */
   :: d_step { LOADS(r) && NEWEST(r) != 0 ->
               slot[r] = NEWEST_SLOT(r); now[r] = ver[AT(r, slot[r])]; st[r] = READ; TELL("rank %d loads version %d\n", r, now[r]) }
   :: d_step { st[r] == READ -> CHECK(data[AT(r, slot[r])] == now[r] && data[AT(0, slot[r])] == now[r], "a model is read that is torn, or of another version\n"); st[r] = JUMP }
   :: d_step { st[r] == JUMP ->
               CHECK(data[AT(r, slot[r])] == now[r] && data[AT(0, slot[r])] == now[r], "a model is read that is torn, or of another version\n");
               if :: pos[r] == LOAD -> pos[r] = unit[AT(r, slot[r])]; SEEN(2) :: else -> SEEN(3) fi;
#ifndef LOAD_UNSAID
               RAISE(cons[r], now[r]);
#endif
               slot[r] = 0; st[r] = OP }
   /* a checkpoint */
#define AT_CHECKPOINT(r) (st[r] == OP && LOAD < pos[r] && pos[r] < N)
#ifdef FINE
#ifdef PIN_FIRST
   :: d_step { AT_CHECKPOINT(r) && !STORED(r) && MAY_WRITE(r) && FREE(NEXT_SLOT(r)) -> slot[r] = NEXT_SLOT(r); st[r] = PIN }
   :: d_step { st[r] == PIN -> begins(); st[r] = HALF }
#else
   :: d_step { AT_CHECKPOINT(r) && !STORED(r) && MAY_WRITE(r) -> slot[r] = NEXT_SLOT(r); begins(); st[r] = PIN }
   :: d_step { st[r] == PIN && FREE(slot[r]) -> st[r] = HALF }
#endif
#ifdef LAZY
   :: d_step { st[r] == HALF && r == 0 -> unit[AT(r, slot[r])] = pos[r] + 1; kept[slot[r]] = 0; st[r] = SAY }
   :: d_step { st[r] == HALF && r == 0 -> half(); kept[slot[r]] = 1; st[r] = WHOLE }
   :: d_step { st[r] == HALF && r != 0 -> half(); st[r] = WHOLE }
#else
   :: d_step { st[r] == HALF -> half(); st[r] = WHOLE }
#endif
   :: d_step { st[r] == WHOLE -> whole(); st[r] = SAY }
#ifdef FULL
   :: d_step { st[r] == WHOLE && !nomem -> nomem = 1; fails[r] = 1; st[r] = GIVE; TELL("rank %d has no memory for version %d\n", r, now[r] + 1) }
#endif
   :: d_step { st[r] == SAY -> ver[AT(r, slot[r])] = now[r] + 1; st[r] = GIVE }
   :: d_step { st[r] == GIVE -> gives() }
#else
   :: d_step { AT_CHECKPOINT(r) && !STORED(r) && MAY_WRITE(r) -> slot[r] = NEXT_SLOT(r); begins(); half(); st[r] = WHOLE }
   :: d_step { st[r] == WHOLE -> whole(); ver[AT(r, slot[r])] = now[r] + 1; gives() }
#endif
   :: d_step { AT_CHECKPOINT(r) && STORED(r) && done[r] <= pos[r] && EVERY(CON_PAST, pos[r]) ->
               done[r] = pos[r] + 1; TELL("rank %d is done with unit %d\n", r, pos[r]) }
#ifdef EARLY
   :: d_step { AT_CHECKPOINT(r) && REPLAYS(r) -> finished() }
#else
   :: d_step { AT_CHECKPOINT(r) && REPLAYS(r) && COMMITTED(pos[r]) -> finished() }
#endif
   /* Finalize */
   :: d_step { st[r] == OP && pos[r] == N && COMMITTED(N - 1) -> st[r] = EXIT }
   /* failures */
   :: d_step { MAY_DIE(r) && st[r] < DEAD -> dies(); kills++; if :: r == 1 -> one = 1 :: else -> skip fi; TELL("rank %d is killed: %d\n", r, kills) }
#if !defined(SNAPSHOTS) && !defined(ALONE)
   :: d_step { MAY_DIE(r) && r == 0 && st[r] < DEAD -> all = 1; kills++; TELL("everybody is killed: %d%c\n", kills, ' ') }
#endif
   :: d_step { all && st[r] != DEAD -> dies() }
   /* the agent, about rank r */
#ifndef SNAPSHOTS
   :: d_step { st[r] == DEAD && !all ->
               RAISE(cut[r], NEWEST_UNIT(r));
               CHECK(floor <= cut[r], "the log is gone that a rank needs to go on from its checkpoint\n");
               st[r] = OP; TELL("rank %d starts again, %d units are released\n", r, sure) }
#else
   :: d_step { AT_CHECKPOINT(r) && con[r] <= pos[r] && snap[r] <= pos[r] ->
               snap[r] = pos[r] + 1; snapver[r] = now[r]; RAISE(cut[r], pos[r]); TELL("rank %d has a snapshot at unit %d\n", r, pos[r]) }
   :: d_step { MAY_DIE(r) && st[r] < EXIT && snap[r] -> snap[r] = 0; kills++; TELL("the snapshot of rank %d is killed: %d\n", r, kills) }
   :: d_step { st[r] == DEAD && !all && KNOWN(r) && !asked[r] && WAKEABLE(r) ->
               pos[r] = snap[r] - 1; now[r] = snapver[r]; st[r] = OP; TELL("rank %d: its snapshot is woken at unit %d\n", r, pos[r]) }
   /* without: back to the newest checkpoint, and then: is the log there from that on? */
#ifdef ASK_FIRST
   :: d_step { st[r] == DEAD && !all && KNOWN(r) && !asked[r] && !WAKEABLE(r) && floor <= NEWEST_UNIT(r) -> asked[r] = 1 }
   :: d_step { st[r] == DEAD && !all && KNOWN(r) && !asked[r] && !WAKEABLE(r) && floor > NEWEST_UNIT(r) -> all = 1 }
   :: d_step { st[r] == DEAD && !all && asked[r] ->
               cut[r] = NEWEST_UNIT(r); snap[r] = 0; asked[r] = 0; st[r] = OP; TELL("rank %d starts again, %d units are released\n", r, sure) }
#else
   :: d_step { st[r] == DEAD && !all && KNOWN(r) && !asked[r] && !WAKEABLE(r) -> asked[r] = 1; snap[r] = 0; cut[r] = NEWEST_UNIT(r) }
   :: d_step { st[r] == DEAD && !all && asked[r] && floor <= cut[r] ->
               asked[r] = 0; st[r] = OP; TELL("rank %d starts again, %d units are released\n", r, sure) }
#endif
   :: d_step { st[r] == DEAD && !all && asked[r] && floor > cut[r] ->
               CHECK(kills > 1, "after one failure all ranks have to be restarted\n");
               all = 1; SEEN(4); TELL("rank %d has no way back, %d units are released: all ranks are restarted\n", r, floor) }
#endif
   :: OVER -> break
   od
}

#define HOLDS_NOT(r, u) (cut[r] > (u))
#define RELEASABLE(u) EVERY(HOLDS_NOT, u)

#define REGISTERS(q, s) d_step { !all && who == 0 && HAS_MOVED(q, s) -> who = q + 1; where = s; version = SAYS(q) }

/* Registers cuts, and does what concerns all ranks. */
proctype Agent() {
   byte k, version, at;
   bit where, decided;
#ifdef DURABLE
   byte durable, copied, stage;
   bit from;
#endif
   do
   /* rank who - 1 has a version: where does it begin? */
   :: REGISTERS(0, 0)
   :: REGISTERS(0, 1)
   :: REGISTERS(1, 0)
   :: REGISTERS(1, 1)
#if R > 2
   :: REGISTERS(2, 0)
   :: REGISTERS(2, 1)
#endif
#ifdef FINE
   :: d_step { who && !at -> at = unit[AT(who - 1, where)] }
#define NOTES at
#else
#define NOTES who -> at = unit[AT(who - 1, where)]
#endif
   :: d_step { NOTES ->
               if
               :: STILL(who - 1, where, version) && cut[who - 1] < at -> cut[who - 1] = at; TELL("rank %d will go on from unit %d\n", who - 1, at)
               :: else -> skip
               fi;
               who = 0; where = 0; version = 0; at = 0 }
   /* the keeper */
#ifdef SNAPSHOTS
   :: d_step { !all && next == 0 && floor == sure && floor < N && RELEASABLE(floor) ->
               k = floor; do :: k < N && RELEASABLE(k) -> k++ :: else -> break od; next = k; k = 0 }
   :: d_step { !all && next != 0 -> floor = next; next = 0 }
   :: d_step { !all && floor != sure && RELEASABLE(floor - 1) -> sure = floor; TELL("released: %d units%c\n", floor, ' ') }
   :: d_step { !all && floor != sure && !RELEASABLE(floor - 1) -> floor = sure }
#else
   :: d_step { !all && floor < N && RELEASABLE(floor) ->
               do :: floor < N && RELEASABLE(floor) -> floor++ :: else -> break od; sure = floor; TELL("released: %d units%c\n", floor, ' ') }
#endif
#ifdef DURABLE
   :: d_step { !all && stage == 0 && NEWEST(0) && NEWEST_VER(0) > durable -> from = NEWEST_SLOT(0); copied = NEWEST_VER(0); stage = 1 }
   :: d_step { stage == 1 -> pin = from + 1; stage = 2 }
#ifdef PIN_ONLY
   :: d_step { stage == 2 -> stage = 3 }
#else
#define STILL_THERE(q, s) (ver[AT(q, s)] == copied)
   :: d_step { stage == 2 && EVERY(STILL_THERE, from) -> stage = 3 }
   :: d_step { stage == 2 && !EVERY(STILL_THERE, from) -> pin = 0; stage = 0; SEEN(5) }
#endif
   :: d_step { stage == 3 -> right_model(from, copied); stage = 4 }
   :: d_step { stage == 4 -> right_model(from, copied); durable = copied; pin = 0; stage = 0 }
#endif
   /* everybody, from the newest version. First it is said which that is */
   :: d_step { all && EVERY(IS_DEAD, 0) && !decided -> decided = 1; if :: NEWEST(0) -> base = NEWEST_VER(0); baseslot = NEWEST_SLOT(0) :: else -> skip fi }
#ifdef DECIDE_AGAIN /* the agent is killed, and another one finds a part cleared */
   :: d_step { all && decided -> ver[AT(0, baseslot)] = 0; decided = 0 }
#endif
   :: d_step { all && decided ->
#ifndef LAZY
               CHECK(EVERY(CONS_TO, base), "all go back before a checkpoint that somebody has finished\n");
#endif
               k = 0;
               do
               :: k < R ->
                  con[k] = 0; done[k] = 0; cut[k] = 0; st[k] = OP;
#ifndef OLD_WORDS
                  ver[AT(k, 0)] = 0; ver[AT(k, 1)] = 0; unit[AT(k, 0)] = 0; unit[AT(k, 1)] = 0; cons[k] = base;
#endif
#ifdef SNAPSHOTS
                  snap[k] = 0; snapver[k] = 0;
#endif
                  k++
               :: else -> break
               od;
#ifdef FULL
               k = 0;
               do :: k < N -> bad[k] = 0; k++ :: else -> break od;
#endif
#ifdef SNAPSHOTS
               next = 0;
#endif
               k = 0; floor = 0; sure = 0; prefix = 0; who = 0; where = 0; version = 0; at = 0; decided = 0; all = 0;
               TELL("everybody starts again from version %d%c\n", base, ' ') }
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
