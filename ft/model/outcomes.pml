/* SPDX-License-Identifier: BSD-3-Clause */
/* Outcomes and copies (DESIGN-ranks sections 0, 3 and 6): one rank whose calls are recorded, copies of it that share its descriptor
   table, the agent that wakes them, others who look at the world and change it. Everybody dies at any step. Searched
   exhaustively by outcomes.sh; docs/models.md says what is modelled, what a step is, and what the variants (-D) are.

   A program is a list of calls, one record for each: record k is that of step k. */
#ifndef PROGRAM
#define PROGRAM 1
#endif
#ifndef K
#define K 2 /* kills */
#endif
#ifndef CUTS
#define CUTS 1 /* ... beside those that a full log asks for */
#endif
#ifdef LIMIT_LARGE
#define LIMIT M
#else
#define LIMIT 2 /* zero goes when the log since zero is longer */
#endif

/* Calls. The world: a word that others change, a file that is appended to, one that is written, names, a mapping, descriptors, a lock. */
#define EXIT 0
#define READ 1
#define MSG 2    /* contribute what was last told; what the survivor contributes is the result */
#define APPEND 3 /* two units */
#define WRITE 4  /* positioned, two halves */
#define RENAME 5 /* a to b */
#define MMAP 6   /* shared and writable; each later step begins with adding one to both halves of it */
#define OPEN 7
#define CLOSE 8
#define KEEP 9   /* a whole function that is executed again in a replay: it opens a descriptor and keeps it, ... */
#define DROP 10  /* ... and closes it */
#define LOCK 11
#define EXEC 12

#if PROGRAM == 1
#define STEP(k) ((k) == 0 -> READ : ((k) == 1 -> MSG : ((k) == 2 || (k) == 3 -> APPEND : ((k) == 4 -> WRITE : EXIT))))
#define M 3 /* records that there is memory for */
#define IS_MSG(k) ((k) == 1)
#define APPENDS 2
#elif PROGRAM == 2
#define STEP(k) ((k) == 0 -> READ : ((k) == 1 -> RENAME : ((k) == 2 -> MSG : EXIT)))
#define M 3
#define IS_MSG(k) ((k) == 2)
#elif PROGRAM == 3
#define STEP(k) ((k) == 0 -> MMAP : ((k) == 2 -> READ : ((k) == 1 || (k) == 3 -> MSG : EXIT)))
#define M 3
#define IS_MSG(k) ((k) == 1 || (k) == 3)
#define HAS_MAPPING(k) ((k) > 0)
#elif PROGRAM == 4
#define STEP(k) ((k) == 0 -> KEEP : ((k) == 1 || (k) == 4 -> OPEN : ((k) == 2 -> CLOSE : ((k) == 3 -> DROP : EXIT))))
#define M 4
#elif PROGRAM == 5
#define STEP(k) ((k) == 0 -> LOCK : ((k) == 1 || (k) == 4 -> APPEND : ((k) == 2 -> EXEC : ((k) == 3 -> MSG : EXIT))))
#define M 3
#define IS_MSG(k) ((k) == 3)
#define HAS_LOCK(k) ((k) > 0)
#define APPENDS 2
#endif
#ifndef IS_MSG
#define IS_MSG(k) false
#endif
#ifndef HAS_MAPPING
#define HAS_MAPPING(k) false
#endif
#ifndef HAS_LOCK
#define HAS_LOCK(k) false
#endif
#ifndef APPENDS
#define APPENDS 0
#endif
#define STEPS 6
#define IS_ACT(k) (STEP(k) != READ && STEP(k) != MSG && STEP(k) != EXIT)

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

/* ---- the log: outlives every process ---- */
#define BEGUN 1 /* intent */
#define TORN 2  /* it is known how much of it was done: its rest is an intent of its own */
#define DONE 3
byte rec[M], val[M];
byte recof[M]; /* which record it is, + 1: for checking */
byte note;     /* in the last one: what was noted for its resolution */
byte n;        /* records */
byte base;     /* those below are released */
#define R(k) ((k) % M)
#define ROOM (n - base < M)
byte con[STEPS], res[STEPS]; /* the engine's log: contribution and result of a message + 1 */

/* ---- the world ---- */
byte weather;
#define LEN 7
#define OTHER 15
byte app[LEN], size, off; /* whose unit: step + 1, or another process's; our descriptor's offset */
#define SENTINEL 99
byte half0, half1;
byte na, nb, fa, fb;     /* inode numbers of the names a and b, 0: not there; which file it is, 1: the program's */
bit held;                /* a descriptor of the library holds the inode that was noted */
byte pub0, pub1;         /* the mapped file */
short fds[4];            /* descriptor tables: two bits for each number */
#define FREE 0
#define PIPE 1           /* the peer waits for its end */
#define FILE 2
#define LIBRARY 3
byte lock;               /* its owner: a table + 1 */
byte others;             /* what other processes may still do */

/* ---- the rank ---- */
#define DEAD 0
#define BORN 1 /* a copy has cloned it, nobody knows it */
#define RUN 2
#define EXITED 3
byte life, phase, pc, last, ret;
bit switched;  /* the world is as the program believes, and calls reach it */
short own;     /* the descriptors that outcomes account for */
byte lib;      /* the one that a function of a library keeps + 1 */
byte im0, im1; /* image of the mapping, before the switch */
byte rtab;
/* Phases: */
#define CTOR 0
#define CTOR2 1
#define STORE 2
#define STORE2 3
#define CALL 4
#define PREPARED 5
#define CALLING 6
#define CALLED 7
#define WAIT 8
#define INSIDE 9
#define EXECING 10
#define LATE 11
#define VERIFY 12
#define REST 13
#define FIRST(k) (HAS_MAPPING(k) -> STORE : CALL)

/* ---- copies: 0 is zero ---- */
#define NONE 0
#define MAKING 1 /* cloned, not announced */
#define WAITS 2
#define WOKEN 3
byte cst[3], cpc[3], cph[3], clast[3], clib[3], cim[3], ctab[3];
short cown[3];
bit csw[3]; /* CUT_INSIDE: it goes on inside of the call */

/* ---- the agent: in shared memory ---- */
byte named, fresh, waking; /* slot; waking: slot + 1 */
bit ending, closed, over;
byte stale;                /* what has lost its claim and ends by itself */

/* ---- for checking ---- */
byte kills, cuts;
byte told[STEPS];  /* what the program was told at step k, + 1 */
bit lost;          /* a copy was killed that could have been woken */
bit window;        /* between the end of the copies for exec and the next zero */
byte renames, expected;
byte i, x, v;      /* 0 between steps */

/* The rank stands still until the new copy has its image of the mapping. */
#ifdef IMAGE_LATE
#define TAKING false
#else
#define TAKING (HAS_MAPPING(pc) && fresh && cst[fresh] == MAKING)
#endif
#define AT(p) (life == RUN && phase == (p) && !TAKING)
#define HERE STEP(pc)
#define LIVE (pc == n)
#define GIVEN (pc < n && rec[R(pc)] == DONE)
#define UNDER_WAY (pc < n && rec[R(pc)] != DONE)
#define REEXECUTED(c) ((c) == KEEP || (c) == DROP)
#define KIND(w, k) (((w) >> (2 * (k))) & 3)
#define WITH(w, k, what) (((w) & ~(3 << (2 * (k)))) | ((what) << (2 * (k))))
#define LOWEST(w, what) (KIND(w, 0) == what -> 0 : (KIND(w, 1) == what -> 1 : (KIND(w, 2) == what -> 2 : (KIND(w, 3) == what -> 3 : (KIND(w, 4) == what -> 4 : (KIND(w, 5) == what -> 5 : 6))))))
#define TABLE fds[rtab]
#define BELIEVED (own | (lib -> LIBRARY << (2 * (lib - 1)) : 0))
#define NO_COPIES (cst[0] == NONE && cst[1] == NONE && cst[2] == NONE)
#define ALIVE (life == BORN || life == RUN)
#define HAS_TABLE(t) ((ALIVE && rtab == (t)) || (cst[0] && ctab[0] == (t)) || (cst[1] && ctab[1] == (t)) || (cst[2] && ctab[2] == (t)))

/* A process has ended: its table goes with the last that has it. */
inline let_go(t) {
   if
   :: !HAS_TABLE(t) -> fds[t] = 0; if :: lock == (t) + 1 -> lock = 0 :: else -> skip fi
   :: else -> skip
   fi
}

inline dies() {
   x = rtab; life = DEAD; phase = 0; pc = 0; last = 0; ret = 0; switched = 0; own = 0; lib = 0; im0 = 0; im1 = 0; ending = 0; rtab = 0;
   let_go(x); x = 0
}

inline ends(c) {
   x = ctab[c]; cst[c] = NONE; cpc[c] = 0; cph[c] = 0; clast[c] = 0; clib[c] = 0; cim[c] = 0; cown[c] = 0; csw[c] = 0; ctab[c] = 0;
   let_go(x); x = 0
}

inline cut(c) {
   cst[c] = MAKING; cpc[c] = pc; cph[c] = phase; clast[c] = last; clib[c] = lib; cown[c] = own; csw[c] = (phase == CALLING);
#ifdef PLAIN_FORK
   ctab[c] = c + 1; fds[c + 1] = TABLE;
#else
   ctab[c] = rtab;
#endif
   TELL("copy %d is made at step %d\n", c, pc)
}

/* Step pc is over, the program goes on with v. */
inline goes_on() {
   CHECK(told[pc] == 0 || told[pc] == v + 1, "the program is told something else\n");
   told[pc] = v + 1;
   if
   :: HERE == READ || HERE == MSG -> last = v
   :: HERE == OPEN -> own = WITH(own, v, FILE)
   :: HERE == CLOSE -> own = WITH(own, v, FREE)
   :: HERE == MMAP && !switched ->
#ifdef MAP_NOW
      im0 = pub0; im1 = pub1
#else
      im0 = v; im1 = v
#endif
   :: else -> skip
   fi;
   v = 0; ret = 0; pc++; phase = FIRST(pc)
}

#define KEPT(k) CHECK((k) >= base && recof[R(k)] == (k) + 1, "a record that is needed has been released\n")

inline begins() {
   CHECK((BELIEVED & TABLE) == BELIEVED, "a descriptor has been lost\n");
   CHECK(BELIEVED == TABLE, "a descriptor that nobody knows stays open\n");
   CHECK(!HAS_LOCK(pc) || lock == rtab + 1, "the rank has lost its lock\n");
}

inline record(what) {
   if :: n == pc -> if :: recof[R(n)] -> SEEN(5) :: else -> skip fi; recof[R(n)] = n + 1; n++ :: else -> skip fi;
   rec[R(pc)] = what;
   if :: what == DONE -> val[R(pc)] = v; note = 0; held = 0 :: else -> val[R(pc)] = 0 fi
}

/* ---- the kernel ---- */
#define UNITS(s) ((app[0] == (s)) + (app[1] == (s)) + (app[2] == (s)) + (app[3] == (s)) + (app[4] == (s)) + (app[5] == (s)) + (app[6] == (s)))
inline append_unit() {
   CHECK(UNITS(pc + 1) < 2, "a unit is appended twice\n");
   app[size] = pc + 1; size++; off = size
}
inline kernel() {
   if
   :: HERE == READ -> ret = weather
   :: HERE == APPEND -> if :: rec[R(pc)] == TORN -> skip :: else -> append_unit() fi; append_unit()
   :: HERE == WRITE -> CHECK(half0 != OTHER, "what others wrote in answer is overwritten\n"); half0 = last + 1; half1 = last + 1; expected = last + 1
   :: HERE == RENAME -> CHECK(fa == 1, "another file is renamed, or none\n"); nb = na; fb = fa; na = 0; fa = 0; renames++
   :: HERE == MMAP -> ret = pub0
   :: HERE == OPEN -> ret = LOWEST(TABLE, FREE); TABLE = WITH(TABLE, ret, FILE)
   :: HERE == CLOSE -> ret = LOWEST(own, FILE); CHECK(KIND(TABLE, ret) == FILE, "a descriptor in use is closed\n"); TABLE = WITH(TABLE, ret, FREE)
   :: HERE == LOCK -> CHECK(lock == 0 || lock == rtab + 1, "somebody else has the lock\n"); lock = rtab + 1
   fi
}
#ifdef NO_VERIFY
#define IS_WHOLE CALLED
#else
#define IS_WHOLE (rec[R(pc)] == TORN -> VERIFY : CALLED)
#endif
/* It is killed inside of the call. */
inline kernel_in_part() {
   if
   :: HERE == APPEND -> append_unit()
   :: HERE == WRITE -> half0 = last + 1; expected = last + 1
   fi
}
#define IS_TEARABLE (HERE == WRITE || (HERE == APPEND && rec[R(pc)] != TORN))

/* ---- a call under way at a kill: was it done, in part, or not? The rows of the table. ---- */
#ifdef NO_SIZE
#define LOW 0
#else
#define LOW note
#endif
#define OURS(k) (off >= (k) + LOW && off - (k) < LEN && app[off - (k)] != 0 && app[off - (k)] != OTHER) /* by its bytes, which are the same each time */
#define FOUND (off == SENTINEL -> 0 : (OURS(1) -> (OURS(2) -> 2 : 1) : 0))
inline again() { phase = CALLING }
inline line() { closed = 1; TELL("the job ends with a line: step %d%c\n", pc, ' '); dies(); SEEN(6) }
inline resolves() {
   if
   :: HERE == READ || HERE == WRITE || HERE == MMAP || HERE == LOCK -> again()
#ifdef NO_CHECK
   :: HERE == APPEND -> again()
#else
   :: HERE == APPEND && rec[R(pc)] == BEGUN ->
      if
      :: off == SENTINEL -> again()
      :: off != SENTINEL && FOUND == 2 -> phase = CALLED
      :: off != SENTINEL && FOUND == 1 && size != off -> line()
      :: off != SENTINEL && FOUND == 1 && size == off -> SEEN(1);
#ifdef TORN_AGAIN
         phase = REST
#else
         rec[R(pc)] = TORN; note = off
#endif
      :: off != SENTINEL && FOUND == 0 -> CHECK(false, "nothing is found of an append that was begun\n")
      fi
   :: HERE == APPEND && rec[R(pc)] == TORN ->
      if
      :: off == note && size == note -> again()
      :: off == note && size != note -> line()
      :: off != note -> phase = IS_WHOLE
      fi
#endif
#if defined(NO_IDENTITY)
   :: HERE == RENAME -> phase = (na != 0 -> CALLING : CALLED)
#elif defined(TARGET)
   :: HERE == RENAME -> phase = (nb != note -> CALLING : CALLED)
#else
   :: HERE == RENAME -> phase = (na == note -> CALLING : CALLED)
#endif
   :: HERE == OPEN -> i = 0;
      do
      :: i < 6 && !(KIND(TABLE, i) == FILE && KIND(own, i) == FREE) -> i++
      :: else -> break
      od;
      if :: i < 6 -> ret = i; phase = CALLED; SEEN(4) :: else -> again() fi;
      i = 0
   :: HERE == CLOSE -> ret = LOWEST(own, FILE);
#ifdef NUMBER_ONLY
      phase = (KIND(TABLE, ret) != FREE -> CALLING : CALLED)
#else
      phase = (KIND(TABLE, ret) == FILE -> CALLING : CALLED)
#endif
   fi
}

/* ---- the switch: where the log ends ---- */
#ifdef SWEEP_ALL
#define IN_USE(k) (KIND(own, k) == KIND(TABLE, k))
#elif defined(SWEEP_NUMBER)
#define IN_USE(k) (KIND(own, k) != FREE || lib == (k) + 1)
#else
#define IN_USE(k) (KIND(own, k) == KIND(TABLE, k) || lib == (k) + 1)
#endif
#define MAY_CLAIM(k) (UNDER_WAY && HERE == OPEN && KIND(TABLE, k) == FILE)
#ifdef NO_SWEEP
#define IS_STRAY(k) false
#else
#define IS_STRAY(k) (KIND(TABLE, k) != FREE && !IN_USE(k) && !MAY_CLAIM(k))
#endif
#define STRAY (IS_STRAY(0) -> 0 : (IS_STRAY(1) -> 1 : (IS_STRAY(2) -> 2 : (IS_STRAY(3) -> 3 : (IS_STRAY(4) -> 4 : (IS_STRAY(5) -> 5 : 6))))))
#ifdef NO_SWITCH_MSG
#define NEEDS_SWITCH (HERE != MSG)
#else
#define NEEDS_SWITCH true
#endif
#ifdef EARLY_SWITCH
#define SWITCHES (life == RUN && (phase == CALL || phase == STORE) && !switched && (LIVE || UNDER_WAY) && NEEDS_SWITCH)
#else
#define SWITCHES (AT(CALL) && !switched && (LIVE || UNDER_WAY) && NEEDS_SWITCH)
#endif
#define IMAGE0 (HAS_MAPPING(pc) && im0 != pub0)
#define IMAGE1 (HAS_MAPPING(pc) && im1 != pub1)
#ifdef NO_SWITCH_EXIT
#define READY (switched || HERE == EXIT)
#else
#define READY (switched || !NEEDS_SWITCH)
#endif
#define BEGINS (AT(CALL) && LIVE && READY && ROOM)

#define ADD(p, im) if :: switched -> p = p + 1 :: else -> im = im + 1 fi

#define SLOT (named == 1 -> 2 : 1)
#ifdef UNAUDITED
#define ELIGIBLE true
#else
#define ELIGIBLE (lib == 0)
#endif
#ifdef CUT_INSIDE
#define CUT_POINT (phase == CALL || phase == STORE || (phase == CALLING && rec[R(pc)] == BEGUN))
#define AT_END (LIVE || phase == CALLING)
#else
#define CUT_POINT (phase == CALL || phase == STORE)
#define AT_END LIVE
#endif
#define CUTS_NOW (life == RUN && CUT_POINT && AT_END && switched && ELIGIBLE && HERE != EXIT && !fresh && cst[SLOT] == NONE && \
                  !(named && cst[named] && cpc[named] == pc) && (cuts < CUTS || !ROOM))

proctype Rank() {
   do
   /* the constructor: zero, and main not before zero waits */
   :: d_step { AT(CTOR) && cst[0] == NONE -> cut(0); cpc[0] = pc; cph[0] = FIRST(pc);
#ifdef ZERO_UNAWAITED
               window = 0; phase = FIRST(pc)
#else
               phase = CTOR2
#endif
             }
   :: d_step { AT(CTOR2) && cst[0] == NONE -> phase = CTOR }
   :: d_step { AT(CTOR2) && cst[0] == WAITS -> window = 0; phase = FIRST(pc) }
   /* stores to the mapping */
   :: d_step { AT(STORE) -> ADD(pub0, im0); phase = STORE2 }
   :: d_step { AT(STORE2) -> ADD(pub1, im1); phase = CALL }
   /* a cut */
   :: d_step { CUTS_NOW -> if :: cuts < CUTS -> cuts++ :: else -> skip fi; x = SLOT; fresh = x; cut(x); x = 0 }
   /* replay */
   :: d_step { AT(CALL) && GIVEN && !REEXECUTED(HERE) -> KEPT(pc); v = val[R(pc)]; TELL("step %d is given%c\n", pc, ' '); goes_on() }
   /* the switch, and the call that was under way */
   :: d_step { SWITCHES && STRAY < 6 -> x = STRAY; TABLE = WITH(TABLE, x, FREE); TELL("descriptor %d is swept%c\n", x, ' '); x = 0 }
   :: d_step { SWITCHES && STRAY == 6 && IMAGE0 -> CHECK(im0 > pub0, "the world is set back\n"); pub0 = im0; SEEN(7) }
   :: d_step { SWITCHES && STRAY == 6 && !IMAGE0 && IMAGE1 -> CHECK(im1 > pub1, "the world is set back\n"); pub1 = im1 }
   :: d_step { SWITCHES && STRAY == 6 && !IMAGE0 && !IMAGE1 -> switched = 1; im0 = 0; im1 = 0; held = (UNDER_WAY -> held : 0) }
   :: d_step { AT(CALL) && UNDER_WAY && switched -> KEPT(pc); TELL("step %d was under way%c\n", pc, ' '); resolves() }
   /* executed again, and counted as seen */
   :: d_step { AT(CALL) && REEXECUTED(HERE) && (GIVEN || (BEGINS && switched)) ->
               if
               :: HERE == KEEP -> ret = LOWEST(TABLE, FREE); CHECK(ret < 6, "no descriptor is free\n"); TABLE = WITH(TABLE, ret, LIBRARY)
               :: HERE == DROP ->
                  CHECK(KIND(TABLE, lib - 1) == LIBRARY, "a function that is executed again closes the program's descriptor\n");
                  TABLE = WITH(TABLE, lib - 1, FREE); lib = 0
               fi;
               phase = INSIDE }
   :: d_step { AT(INSIDE) -> if :: HERE == KEEP -> lib = ret + 1 :: else -> skip fi;
               v = 0; if :: LIVE -> record(DONE) :: else -> skip fi; goes_on() }
   /* a call: prepare, intent, call, outcome */
#define IS_CALL (HERE != MSG && HERE != EXEC && HERE != EXIT && !REEXECUTED(HERE))
#define IS_PREPARED (HERE == APPEND || HERE == RENAME)
   :: d_step { BEGINS && IS_CALL && IS_PREPARED ->
               if
               :: HERE == APPEND -> note = size;
#ifndef SENTINEL_LATE
                  off = SENTINEL
#endif
               :: HERE == RENAME -> note = na;
#ifndef NO_HOLD
                  held = 1
#endif
               fi;
               phase = PREPARED }
   :: d_step { ((BEGINS && !IS_PREPARED) || AT(PREPARED)) && IS_CALL -> begins();
#ifndef NO_INTENT
               record(BEGUN);
#endif
#ifdef OUTCOME_FIRST
               v = (HERE == READ -> weather : (HERE == OPEN -> LOWEST(TABLE, FREE) : 0)); record(DONE); v = 0;
#endif
#ifdef SENTINEL_LATE
               phase = (HERE == APPEND -> LATE : CALLING)
#else
               phase = CALLING
#endif
             }
#ifdef SENTINEL_LATE
   :: d_step { AT(LATE) -> off = SENTINEL; phase = CALLING }
#endif
   :: d_step { AT(CALLING) -> kernel(); phase = IS_WHOLE; TELL("step %d is called%c\n", pc, ' ') }
#ifdef TORN_AGAIN
   :: d_step { AT(REST) -> append_unit(); phase = VERIFY }
#define CAME_NEXT (app[off - 2] == pc + 1)
#else
#define CAME_NEXT (off == note + 1)
#endif
   :: d_step { AT(VERIFY) -> if :: CAME_NEXT -> phase = CALLED :: else -> line() fi }
   :: d_step { AT(CALLED) -> CHECK(HERE != APPEND || UNITS(pc + 1) == 2, "half of an append is missing\n");
               CHECK(HERE != APPEND || (app[off - 1] == pc + 1 && app[off - 2] == pc + 1), "an append is in two parts\n");
               v = ret; record(DONE); goes_on() }
   /* a message: contribute, and wait for the result */
   :: d_step { BEGINS && HERE == MSG -> begins();
               CHECK(con[pc] == 0 || con[pc] == last + 1, "another contribution than before\n");
               con[pc] = last + 1; phase = WAIT }
   :: d_step { AT(WAIT) && res[pc] -> v = res[pc] - 1; record(DONE); goes_on() }
   /* exec, which unshares the table: copies go first */
   :: d_step { BEGINS && HERE == EXEC -> begins(); ending = 1; phase = EXECING }
#ifdef ZERO_STAYS
   :: d_step { AT(EXECING) && cst[1] == NONE && cst[2] == NONE && !fresh ->
               if :: cst[0] -> rtab = 1; fds[1] = fds[0] :: else -> skip fi;
               ending = 0; told[pc] = 1; pc++; n = pc; phase = FIRST(pc); last = 0 }
#else
   :: d_step { AT(EXECING) && NO_COPIES && !fresh && !stale -> ending = 0; told[pc] = 1; pc++; n = pc; base = pc; phase = CTOR; last = 0 }
#endif
   /* exit */
   :: d_step { AT(CALL) && LIVE && READY && HERE == EXIT ->
               if :: switched -> begins() :: else -> skip fi;
               CHECK(size - UNITS(OTHER) == 2 * APPENDS, "an append is missing\n");
               CHECK(half0 == half1 && half0 == expected, "a write is missing\n");
               CHECK(PROGRAM != 2 || renames == 1, "a rename is missing\n");
               CHECK(!HAS_MAPPING(pc) || (pub0 == 1 + pc && pub1 == 1 + pc), "a store is missing\n");
               x = rtab; life = EXITED; let_go(x); x = 0; pc = 0; last = 0; own = 0; phase = 0; switched = 0 }
   /* death */
   :: d_step { kills < K && ALIVE -> kills++; TELL("the rank is killed at step %d, phase %d\n", pc, phase);
               if :: pc < n && life == RUN -> SEEN(3) :: else -> skip fi; dies() }
   :: d_step { kills < K && AT(CALLING) && IS_TEARABLE -> kills++; kernel_in_part(); TELL("the rank is killed inside of step %d%c\n", pc, ' '); dies() }
   :: over -> break
   od
}

/* A copy never becomes the rank: it clones one and sleeps on. What a copy clones has no right to run before it has claimed it. */
proctype Copy(byte c) {
   do
   :: d_step { cst[c] == MAKING -> cst[c] = WAITS; cim[c] = (HAS_MAPPING(cpc[c]) -> pub0 : 0) }
   :: d_step { cst[c] == WOKEN ->
               CHECK(!ALIVE, "two incarnations of the rank run\n");
               life = BORN; pc = cpc[c]; phase = cph[c]; last = clast[c]; own = cown[c]; lib = clib[c]; im0 = cim[c]; im1 = cim[c]; switched = csw[c]; ret = 0;
#ifdef PLAIN_FORK
               rtab = 0; fds[0] = fds[c + 1];
#else
               rtab = ctab[c];
#endif
               TELL("copy %d clones the rank at step %d\n", c, pc);
#ifdef BECOMES
               ends(c)
#else
               cst[c] = WAITS
#endif
             }
   :: d_step { kills < K && cst[c] != NONE -> kills++; TELL("copy %d is killed%c\n", c, ' ');
               if :: (c == 0 && cst[c] != MAKING) || (c && named == c) -> lost = 1 :: else -> skip fi; ends(c) }
   :: over -> break
   od
}

#define STANDS(c) (cst[c] == WAITS)
#define SETTLED (!fresh && (named == 0 || STANDS(named)) && cst[SLOT] == NONE && cst[3 - SLOT] == (named -> WAITS : NONE))
#define FLOOR (cst[0] != NONE -> cpc[0] : cpc[named])
#define IS_SAFE (base == 0 && (n < 1 || !IS_ACT(0)) && (n < 2 || !IS_ACT(1)) && (n < 3 || !IS_ACT(2)))

inline wakes(c) {
   CHECK(cpc[c] >= base || cpc[c] == n, "a record that is needed has been released\n");
   cst[c] = WOKEN; waking = c + 1; window = 0; TELL("copy %d is woken%c\n", c, ' ')
}

proctype Agent() {
   do
   /* name, end the one before, end zero, release: in this order */
   :: d_step { fresh && STANDS(fresh) && !waking && life != EXITED -> named = fresh; fresh = 0; TELL("copy %d is named%c\n", named, ' ') }
   :: d_step { fresh && cst[fresh] == NONE -> fresh = 0 }
#ifdef OLD_FORGOTTEN
   :: d_step { named && cst[named] == NONE -> named = 0 }
#else
   :: d_step { named && cst[named] == NONE && !fresh && STANDS(3 - named) -> named = 3 - named; TELL("copy %d is named again%c\n", named, ' ') }
   :: d_step { named && cst[named] == NONE && (fresh || !STANDS(3 - named)) -> named = 0 }
#endif
#ifdef END_FIRST
   :: d_step { fresh && named && cst[named] != NONE && !waking -> ends(named) }
#else
   :: d_step { named && cst[named] != NONE && !fresh && !waking && cst[SLOT] != NONE -> x = SLOT; v = x; x = 0; ends(v); v = 0 }
#endif
#ifndef END_FIRST
   :: d_step { named && STANDS(named) && !waking && STANDS(0) && n - cpc[0] > LIMIT -> ends(0); TELL("zero goes%c%c\n", ' ', ' ') }
#else
   :: d_step { fresh && STANDS(0) && !waking && n - cpc[0] > LIMIT -> ends(0) }
#endif
#ifdef NEWEST
#define RELEASED cpc[named]
#else
#define RELEASED FLOOR
#endif
   :: d_step { named && STANDS(named) && SETTLED && RELEASED > base -> base = RELEASED;
               CHECK(cst[0] == NONE || cpc[0] >= base, "what a copy needs is released\n");
               CHECK(!ALIVE || pc >= base, "what a replay needs is released\n") }
   /* the rank is about to exec */
#ifdef ZERO_STAYS
#define GOES_FIRST(c) (c)
#else
#define GOES_FIRST(c) true
#endif
   :: d_step { ending && !fresh && named && cst[named] != NONE && cst[SLOT] == NONE -> window = 1; ends(named); named = 0 }
   :: d_step { ending && !fresh && !named && GOES_FIRST(0) && cst[0] != NONE -> window = 1; ends(0) }
   /* the rank is dead: what has not announced itself loses its claim; then one is woken */
#ifndef LATE_COPY
   :: d_step { life == DEAD && !waking && fresh && cst[fresh] == MAKING -> x = fresh; v = x; ends(v); v = 0; fresh = 0; stale++ }
#define NOTHING_COMES !fresh
#else
#define NOTHING_COMES (!fresh || cst[fresh] == MAKING)
#endif
   :: d_step { life == DEAD && !waking && cst[0] == MAKING -> ends(0); stale++ }
#define DECIDES (life == DEAD && !waking && !closed && NOTHING_COMES && cst[0] != MAKING && (named == 0 || cst[named] != NONE) && (fresh || cst[SLOT] == NONE))
   :: d_step { DECIDES && named -> SEEN(8); wakes(named) }
   :: d_step { DECIDES && !named && cst[0] != NONE -> SEEN(2); wakes(0) }
   :: d_step { DECIDES && !named && cst[0] == NONE && !stale && IS_SAFE ->
               life = RUN; phase = CTOR; pc = 0; own = PIPE; fds[0] = PIPE; rtab = 0; switched = (n == 0); TELL("the rank is started from its beginning, %d records%c\n", n, ' ');
#ifdef START_ANEW
               n = 0; switched = 1; told[0] = 0;
#endif
               SEEN(9) }
   :: d_step { DECIDES && !named && cst[0] == NONE && !stale && !IS_SAFE ->
               if :: window && !lost -> SEEN(10) :: else -> skip fi;
               CHECK(lost || window, "no copy is left, and none was killed\n");
               TELL("the job ends with a line: no copy is left%c%c\n", ' ', ' '); closed = 1 }
   /* who was woken claims its right to run, or has lost it since its copy is dead */
#ifdef NO_CLAIM
   :: d_step { life == BORN -> life = RUN; waking = 0 }
   :: d_step { waking && cst[waking - 1] == NONE && life != RUN -> waking = 0;
               x = (named && STANDS(named) -> named + 1 : (STANDS(0) -> 1 : 0));
               if :: x -> v = x - 1; x = 0; wakes(v); v = 0 :: else -> skip fi; x = 0 }
#else
   :: d_step { life == BORN && waking -> life = RUN; waking = 0 }
   :: d_step { waking && cst[waking - 1] == NONE -> waking = 0; if :: life == BORN -> dies(); stale++ :: else -> skip fi }
#endif
   /* a child that nobody has told of is dead: that was the incarnation */
#ifndef UNKNOWN_CHILD
   :: d_step { waking && life == DEAD && STANDS(waking - 1) -> waking = 0 }
#endif
   :: d_step { stale -> stale-- }
   /* it has exited or is not to come back: the copies go at once */
#ifndef OUTLIVE
   :: d_step { (life == EXITED || closed) && cst[0] != NONE -> ends(0) }
   :: d_step { (life == EXITED || closed) && cst[1] != NONE -> ends(1) }
   :: d_step { (life == EXITED || closed) && cst[2] != NONE -> ends(2) }
#endif
   :: d_step { (life == EXITED || closed) && !over && NO_COPIES && !stale && fds[0] == 0 -> over = 1 } /* the peer has the end of its pipe */
   :: over -> break
   od
}

inline looks(k) {
   CHECK(pub0 == 1 + (HAS_MAPPING(k) -> k : 0) && pub1 == pub0, "a survivor sees another world than the rank\n");
   res[k] = 1 + weather
}

proctype Others() {
   do
   :: d_step { IS_MSG(1) && con[1] && !res[1] && !over -> looks(1) }
   :: d_step { IS_MSG(2) && con[2] && !res[2] && !over -> looks(2) }
   :: d_step { IS_MSG(3) && con[3] && !res[3] && !over -> looks(3) }
   :: d_step { !over && weather == 0 && (PROGRAM == 1 || PROGRAM == 3) -> weather = 1 }
   :: d_step { !over && !(others & 1) && PROGRAM == 1 -> others = others | 1; app[size] = OTHER; size++ }
   :: d_step { !over && !(others & 2) && fb == 1 -> others = others | 2; nb = 0; fb = 0 } /* takes b */
   :: d_step { !over && !(others & 4) && PROGRAM == 2 && na == 0 -> others = others | 4; fa = 2; na = (nb == 1 || held -> 2 : 1) } /* numbers are used again */
#ifdef MAILBOX
   :: d_step { !over && half0 && half0 == half1 && half0 != OTHER && !(others & 8) -> others = others | 8; half0 = OTHER; half1 = OTHER; expected = OTHER }
#endif
   :: over -> break
   od
}

init {
   atomic {
      life = RUN; switched = 1; own = PIPE; fds[0] = PIPE; na = 1; fa = 1; nb = 3; fb = 3; pub0 = 1; pub1 = 1;
      run Rank(); run Copy(0); run Copy(1); run Copy(2); run Agent(); run Others()
   }
}
