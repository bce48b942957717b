/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a recorded rank (DESIGN-ranks sections 0.8 and 4): one log, one order of calls, hand-overs of locks; the rank is killed at any
   step, in a replay, too. Searched exhaustively by threads.sh; docs/models.md says what is modelled, what a step is, and what the variants
   (-D) are. The names are those of ft/outcome/threads.c and lock.h. */
#ifndef PROGRAM
#define PROGRAM 1
#endif
#ifndef K
#define K 2 /* kills of the rank */
#endif

#define END 0
#define LOCK 1   /* ... and what it protects is changed, so that each order comes to something else */
#define UNLOCK 2
#define CALL 3   /* tells the world what the thread has seen */
#define OPEN 4
#define ACCEPT 5 /* a descriptor of another kind, by a call that waits: others run meanwhile */
#define CLOSE 6  /* the one that it has */

#if PROGRAM == 1 /* calls between critical sections */
#define T 2
#define OP0(i) ((i) == 0 || (i) == 3 -> LOCK : ((i) == 1 || (i) == 4 -> UNLOCK : ((i) == 2 || (i) == 5 -> CALL : END)))
#define OP1(i) OP0(i)
#define OP2(i) END
#elif PROGRAM == 2 /* ... and in them */
#define T 3
#define OP0(i) ((i) == 0 -> LOCK : ((i) == 1 -> CALL : ((i) == 2 -> UNLOCK : END)))
#define OP1(i) ((i) == 0 || (i) == 2 -> CALL : ((i) == 1 -> LOCK : ((i) == 3 -> UNLOCK : END)))
#define OP2(i) ((i) == 0 -> LOCK : ((i) == 1 -> UNLOCK : ((i) == 2 -> CALL : END)))
#elif PROGRAM == 3 /* descriptors */
#define T 2
#define OP0(i) ((i) == 0 -> ACCEPT : ((i) == 1 -> CALL : ((i) == 2 -> CLOSE : END)))
#define OP1(i) ((i) == 0 || (i) == 2 -> OPEN : ((i) == 1 || (i) == 3 -> CLOSE : END))
#define OP2(i) END
#endif
#define OP(t, i) ((t) == 0 -> OP0(i) : ((t) == 1 -> OP1(i) : OP2(i)))
#define OPS 6
#define AT_OF(t, i) ((t) * OPS + (i))

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

/* ---- the log and its words: outlive the process. A call's record is that of its thread's step ---- */
#define BEGUN 1
#define DONE 2
byte rec[T * OPS], number[T * OPS], said[T * OPS], result[T * OPS];
byte count;              /* so many calls are done */
byte published[T];       /* lock operations */
byte before[T * 3];      /* record of one: thread + 1 and number of the operation before it: 16 * number + thread + 1 */

/* ---- the kernel ---- */
bit did[T * OPS];        /* that call has been made */
byte fds[3];             /* 0, or who opened it: 1 + thread, 9 + thread if it was accepted */
byte got[T * OPS];       /* its result + 1 */

/* ---- the process ---- */
#define DEAD 0
#define RUN 1
byte life;
bit live;                /* all threads have been given all */
byte given, recorder;    /* calls given; who has the lock of the log, + 1 */
byte unresolved;
byte closing;            /* of those, that close */
bit resolves[T];         /* its call was under way, and has not found what was left */
byte pc[T], phase[T], locks[T], seen[T], known[T], fd[T]; /* fd: + 1 */
byte owner, word, shared; /* the lock's thread, + 1; who had it last; what it protects */
bit is_known[3];         /* descriptors that outcomes account for */
bit was_open[3];             /* that were open when the predecessor was killed */
/* Phases: */
#define NEXT 0
#define TAKEN 1
#define NOTED 2
#define RECORDED 3
#define HELD 4
#define KERNEL 5
#define CALLED 6
#define LATE 7

byte kills, ends;
bit over;
byte i, v;

#define ME(t) (16 * locks[t] + (t) + 1)
#define THREAD(w) (((w) & 15) - 1)
#define NUMBER(w) ((w) >> 4)
#define LOCKS_AT(t) before[(t) * 3 + locks[t]]
#define R(t) AT_OF(t, pc[t])
#define HERE(t) OP(t, pc[t])
#define IS_CALL(o) ((o) >= CALL)
#define AT(t, p) (life == RUN && phase[t] == (p))
#define OWES(t) (locks[t] < published[t])
#if T == 3
#define ALL_PASSED (!OWES(0) && !OWES(1) && !OWES(2))
#else
#define ALL_PASSED (!OWES(0) && !OWES(1))
#endif
#ifdef LIVE_EARLY
#define MAY_LIVE true
#else
#define MAY_LIVE live
#endif

inline dies() {
   life = DEAD; live = 0; given = 0; recorder = 0; owner = 0; word = 0; shared = 0; unresolved = 0; closing = 0; ends = 0;
   i = 0;
   do
   :: i < T -> pc[i] = 0; phase[i] = NEXT; locks[i] = 0; seen[i] = 0; known[i] = 0; fd[i] = 0; resolves[i] = 0; i++
   :: else -> break
   od;
   is_known[0] = 0; is_known[1] = 0; is_known[2] = 0; was_open[0] = 0; was_open[1] = 0; was_open[2] = 0; i = 0
}

/* What there is to be given. */
inline resumes() {
   life = RUN;
   was_open[0] = (fds[0] != 0); was_open[1] = (fds[1] != 0); was_open[2] = (fds[2] != 0);
   i = 0;
   do
   :: i < T * OPS -> if :: rec[i] == BEGUN -> unresolved++; if :: OP(i / OPS, i % OPS) == CLOSE -> closing++ :: else -> skip fi :: else -> skip fi; i++
   :: else -> break
   od;
   i = 0;
#ifndef STALE_KEPT
   do
   :: i < T * 3 -> if :: (i % 3) >= published[i / 3] -> before[i] = 0 :: else -> skip fi; i++
   :: else -> break
   od;
   i = 0
#endif
}

inline section(t) {
   shared = shared * 4 + t + 1; seen[t] = shared; locks[t]++;
   TELL("thread %d has the lock: %d\n", t, shared)
}

#define CONTENT(t) seen[t]
/* The call at hand is over: what it opened or closed is known. */
inline knows(t, r) {
   if
   :: HERE(t) == OPEN || HERE(t) == ACCEPT -> CHECK(!is_known[r], "a descriptor that is open is opened\n"); is_known[r] = 1; fd[t] = r + 1
   :: HERE(t) == CLOSE -> CHECK(is_known[fd[t] - 1], "a descriptor that is not open is closed\n"); is_known[fd[t] - 1] = 0; fd[t] = 0
   :: else -> skip
   fi
}

#define LOWEST (fds[0] == 0 -> 0 : (fds[1] == 0 -> 1 : 2))
#define KIND(t) (HERE(t) == ACCEPT -> 9 + (t) : 1 + (t))
/* Left by the predecessor, of its kind, and nobody's. */
#ifdef SWEEP_ANY
#define LEFT(n) (fds[n] && !is_known[n])
#else
#define LEFT(n) (fds[n] && !is_known[n] && was_open[n])
#endif
#define IS_STRAY(t, n) (LEFT(n) && (fds[n] >= 9) == (HERE(t) == ACCEPT))
#define STRAY(t) (IS_STRAY(t, 0) -> 1 : (IS_STRAY(t, 1) -> 2 : (IS_STRAY(t, 2) -> 3 : 0)))

inline sweep() {
   i = 0;
   do
   :: i < 3 -> if :: LEFT(i) -> TELL("descriptor %d is swept%c\n", i, ' '); fds[i] = 0 :: else -> skip fi; i++
   :: else -> break
   od;
   i = 0
}

inline kernel(t) {
   CHECK(!did[R(t)], "a call is made twice\n");
   did[R(t)] = 1;
   if
   :: HERE(t) == OPEN || HERE(t) == ACCEPT -> v = LOWEST; fds[v] = KIND(t); got[R(t)] = v + 1
   :: HERE(t) == CLOSE -> CHECK(fds[fd[t] - 1] != 0 && (fds[fd[t] - 1] & 7) == t + 1, "another thread's descriptor is closed\n"); fds[fd[t] - 1] = 0; was_open[fd[t] - 1] = 0; got[R(t)] = 1
   :: else -> got[R(t)] = 1
   fi;
   TELL("the kernel makes step %d of thread %d\n", pc[t], t);
   v = 0
}

#ifdef WAITS_ALL
#define WAITS(t) true
#else
#define WAITS(t) (HERE(t) == ACCEPT || HERE(t) == CALL) /* it lets others run */
#endif

#ifdef OPEN_FIRST
#define WAITS_FOR_CLOSE(t) false
#else
#define WAITS_FOR_CLOSE(t) ((HERE(t) == OPEN || HERE(t) == ACCEPT) && closing > 0) /* it may get, or have got, the number that was closed */
#endif
/* One that was under way: was it made? */
#ifdef CLOSE_BY_NUMBER
#define WAS_CLOSED(t) (fds[fd[t] - 1] == 0)
#else
#define WAS_CLOSED(t) (fds[fd[t] - 1] == 0 || (fds[fd[t] - 1] & 7) != t + 1)
#endif

proctype Thread(byte t) {
   do
   /* a lock, in a replay */
   :: d_step { AT(t, NEXT) && HERE(t) == LOCK && OWES(t) && owner == 0 &&
#ifdef NO_LOCKS
               true ->
#else
               (LOCKS_AT(t) == 0 || NUMBER(LOCKS_AT(t)) >= published[THREAD(LOCKS_AT(t))] /* it never was */ || locks[THREAD(LOCKS_AT(t))] > NUMBER(LOCKS_AT(t))) ->
#endif
               if :: LOCKS_AT(t) -> SEEN(1) :: else -> skip fi;
               owner = t + 1; word = ME(t); section(t); pc[t]++ }
   /* ... live: take, note, record, publish */
   :: d_step { AT(t, NEXT) && HERE(t) == LOCK && !OWES(t) && MAY_LIVE && owner == 0 -> owner = t + 1; phase[t] = TAKEN }
#ifdef PUBLISH_FIRST
   :: d_step { AT(t, TAKEN) -> published[t]++; phase[t] = NOTED }
   :: d_step { AT(t, NOTED) ->
#else
   :: d_step { AT(t, TAKEN) ->
#endif
               v = word; word = ME(t);
#ifdef KNOWN_TOO_MUCH
               if :: v && THREAD(v) != t && !known[t] -> LOCKS_AT(t) = v; known[t] = 1; TELL("thread %d: after an operation of thread %d\n", t, THREAD(v))
#else
               if :: v && THREAD(v) != t -> LOCKS_AT(t) = v; TELL("thread %d: after an operation of thread %d\n", t, THREAD(v))
#endif
               :: else -> skip
               fi;
               v = 0; phase[t] = RECORDED }
#ifdef PUBLISH_FIRST
   :: d_step { AT(t, RECORDED) -> section(t); pc[t]++; phase[t] = NEXT }
#elif defined(PUBLISH_LATE)
   :: d_step { AT(t, RECORDED) -> section(t); owner = 0; pc[t]++; phase[t] = LATE }
   :: d_step { AT(t, LATE) -> published[t]++; pc[t]++; phase[t] = NEXT }
#else
   :: d_step { AT(t, RECORDED) -> published[t]++; section(t); pc[t]++; phase[t] = NEXT }
#endif
   :: d_step { AT(t, NEXT) && HERE(t) == UNLOCK -> owner = 0; pc[t]++ }
   /* a call, in a replay: when its turn has come */
   :: d_step { AT(t, NEXT) && IS_CALL(HERE(t)) && rec[R(t)] == DONE &&
#ifdef NO_TURN
               true ->
#else
               number[R(t)] == given + 1 ->
#endif
               CHECK(said[R(t)] == CONTENT(t), "a replay says something else\n");
               given++; TELL("thread %d is given call %d\n", t, number[R(t)]); v = result[R(t)]; knows(t, v); v = 0; pc[t]++ }
   /* ... live, or under way */
   :: d_step { AT(t, NEXT) && IS_CALL(HERE(t)) && rec[R(t)] != DONE && MAY_LIVE && recorder == 0 && !WAITS_FOR_CLOSE(t) ->
               recorder = t + 1;
               if
               :: rec[R(t)] == BEGUN -> CHECK(said[R(t)] == CONTENT(t), "a replay says something else\n"); SEEN(2); resolves[t] = 1; if :: HERE(t) == CLOSE -> closing-- :: else -> skip fi;
                  if
                  :: HERE(t) == CLOSE -> if :: WAS_CLOSED(t) -> phase[t] = CALLED; v = 1 :: else -> did[R(t)] = 0; phase[t] = KERNEL fi
                  :: HERE(t) == OPEN || HERE(t) == ACCEPT -> if :: STRAY(t) -> got[R(t)] = STRAY(t); phase[t] = CALLED; SEEN(3) :: else -> did[R(t)] = 0; phase[t] = KERNEL fi
                  :: else -> phase[t] = (did[R(t)] -> CALLED : KERNEL) /* how is tcp.c's, and others' */
                  fi;
                  v = 0
               :: else -> phase[t] = KERNEL
               fi;
               if :: WAITS(t) -> recorder = 0 :: else -> skip fi;
#ifdef NUMBER_EARLY
               if :: rec[R(t)] != BEGUN -> count++; number[R(t)] = count :: else -> skip fi;
#endif
               rec[R(t)] = BEGUN; said[R(t)] = CONTENT(t) }
   :: d_step { AT(t, KERNEL) -> kernel(t); phase[t] = CALLED }
   :: d_step { AT(t, CALLED) && (recorder == t + 1 || recorder == 0) ->
#ifndef NUMBER_EARLY
               count++; number[R(t)] = count;
#endif
               rec[R(t)] = DONE; given = count; result[R(t)] = got[R(t)] - 1; v = result[R(t)]; knows(t, v); v = 0; recorder = 0;
               TELL("thread %d has done call %d\n", t, number[R(t)]);
               if
#ifdef SWEEP_EARLY
               :: resolves[t] -> resolves[t] = 0; unresolved--; sweep()
#else
               :: resolves[t] -> resolves[t] = 0; unresolved--; if :: unresolved == 0 -> sweep() :: else -> skip fi
#endif
               :: else -> skip
               fi;
               pc[t]++; phase[t] = NEXT }
   :: d_step { AT(t, NEXT) && HERE(t) == END && pc[t] < 100 -> ends++; phase[t] = 100 }
   :: over -> break
   od
}

proctype World() {
   do
   :: d_step { life == RUN && !live && given == count && ALL_PASSED -> live = 1; if :: kills > 0 -> SEEN(4) :: else -> skip fi }
   :: d_step { life == RUN && kills < K && ends < T -> kills++; if :: !live -> SEEN(5) :: else -> skip fi;
               TELL("the rank is killed%c%c\n", ' ', ' '); dies() }
   :: d_step { life == DEAD -> resumes() }
   :: d_step { ends == T && !over -> over = 1; CHECK(unresolved == 0, "a call that was under way is nobody's\n") }
   :: over -> break
   od
}

init {
   atomic {
      life = RUN; live = 1; run World(); run Thread(0); run Thread(1);
#if T == 3
      run Thread(2)
#endif
   }
}
