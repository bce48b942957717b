/* SPDX-License-Identifier: BSD-3-Clause */
/* Followed children (DESIGN-ranks section 3): a rank that forks and waits, is killed at any step, and has a successor that is given what
   it was told; children that claim their fork; the agent, which waits for orphans. Searched exhaustively by children.sh; docs/models.md
   says what is modelled, what a step is, and what the variants (-D) are. The names are those of ft/outcome/children.c. */
#ifndef PROGRAM
#define PROGRAM 1
#endif
#ifndef K
#define K 2 /* kills of the rank */
#endif
#ifndef A
#define A 1 /* deaths of the agent */
#endif

/* What the program does. */
#define EXIT 0
#define FORK 1
#define PAUSE 2 /* sigsuspend, until a handler of SIGCHLD has run since the fork */
#define WAIT 3  /* for any */

#if PROGRAM == 1 /* SIGCHLD is blocked but in PAUSE */
#define STEP(k) ((k) == 0 || (k) == 3 -> FORK : ((k) == 1 || (k) == 4 -> PAUSE : ((k) == 2 || (k) == 5 -> WAIT : EXIT)))
#define BLOCKED(p) ((p) != PAUSING)
#elif PROGRAM == 2
#define STEP(k) ((k) == 0 || (k) == 2 -> FORK : ((k) == 1 || (k) == 3 -> WAIT : EXIT))
#define BLOCKED(p) false
#elif PROGRAM == 3
#define STEP(k) ((k) == 0 || (k) == 1 -> FORK : ((k) == 2 || (k) == 3 -> WAIT : EXIT))
#define BLOCKED(p) false
#endif
#define FORKS 2
#define C 4 /* children, at most */
#define S 6 /* strays, at most */

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
#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define WITHOUT(set, i) ((set) & ~(1 << (i)))

/* ---- the log and its words: outlive every process ---- */
#define SIGNAL 4 /* a record: a handler has run here */
#define LOG 14
#define BEGUN 1
#define DONE 2
byte kind[LOG], rec[LOG], val[LOG], exact[LOG]; /* val: the child + 1; of a signal: children it came of (exact: that it says it came of) */
byte n;
byte noted, note0, note1; /* of the last record: `step`, number of the claim or what was found, strays */
byte names, ended;        /* children that are named; that the agent (or a rank, of a stray) has said to have ended */
byte told[C];             /* which incarnation is sent SIGCHLD, + 1; twice that + 1: by the agent */
byte bitset;              /* SIGCHLD waits: who it came of, for checking */
byte stray[S], strays;

/* ---- claims: shared by rank, copies and children ---- */
#define REVOKED 99
#define CLAIMS (K + 1)
byte last, number_of[CLAIMS], claim[CLAIMS];
#define W(k) ((k) % CLAIMS)

/* ---- children ---- */
#define NONE 0
#define BORN 1 /* has not claimed yet */
#define RUNS 2
#define ZOMBIE 3
#define GONE 4
byte st[C], num[C], fork_of[C];
byte orphans; /* the agent's */

/* ---- the rank ---- */
#define DEAD 0
#define RUN 1
#define EXITED 2
byte life, inc, phase, pc, at, forks;
byte kids, own, ctold; /* known; of those, this incarnation's; whose SIGCHLD the program has had */
bit held, switched;    /* signals are blocked as in a replay; the log's end is behind it */
bit heard;             /* the program's: a handler has run since the fork */
byte found, offered, made;
bit gone;
byte pend, pendx;      /* in the kernel: children it came of, the one it says */
byte queue, queuex;    /* has come, waits for a call's beginning or end */
byte sent;             /* of these this incarnation was sent SIGCHLD in the kernel's place */
/* Phases: */
#define CALL 0
#define LIVE1 1
#define LIVE2 2
#define LIVE3 3
#define UNDER1 4
#define UNDER2 5
#define RESOLVE 6
#define OFFER 7
#define NOTE 8
#define KERNEL 9
#define ADD 10
#define OFFERED 11
#define FORKED 12
#define ADOPT 13
#define LOOK1 14
#define LOOK2 15
#define FIND 16
#define FOUND 17
#define TAKE 18
#define REMOVE 19
#define WAITED 20
#define PAUSING 21
#define HANDLER 22
byte then; /* after LIVE3 */

/* ---- the agent ---- */
byte ast, cur;
bit leader;
/* Its steps: */
#define IDLE 0
#define NAMED 1
#define TELLS 2
#define SENDS 3
#define STRAY 4
#define AGAIN 5
#define REAP 6
#define RECORDS 7

/* ---- for checking ---- */
byte kills, deaths, ran[FORKS], done_of, heardset, unsent; /* unsent: of those SIGCHLD may be lost; docs/models.md says which */
bit over;
byte i, x; /* 0 between steps */

#define LIVES (life == RUN)
#define OPEN (pend && !held && !BLOCKED(phase))
#define AT(p) (LIVES && phase == (p) && !OPEN)
#define HERE STEP(pc)
#define ENDED(i) (HAS(names, i) && HAS(ended, i))
#define IN_STRAYS(i, from) ((strays > 0 && (from) < 1 && stray[0] == (i) + 1) || (strays > 1 && (from) < 2 && stray[1] == (i) + 1) || \
                            (strays > 2 && (from) < 3 && stray[2] == (i) + 1) || (strays > 3 && (from) < 4 && stray[3] == (i) + 1) || \
                            (strays > 4 && (from) < 5 && stray[4] == (i) + 1) || (strays > 5 && (from) < 6 && stray[5] == (i) + 1))

/* In the kernel's place: the agent, or the rank itself. */
inline sends(c) {
   CHECK(!HAS(sent, c), "SIGCHLD of one child comes from two\n");
   sent = sent | BIT(c); signals(c)
}
inline signals(c) { if :: !pend -> pendx = BIT(c) :: else -> skip fi; pend = pend | BIT(c) }

/* The exchange. x: it is this one who sends. */
#ifdef NO_EXCHANGE
#define TELLS_IF(c, agent) 1
#elif defined(SENT_UNSAID)
#define TELLS_IF(c, agent) (told[c] / 2 != inc + 1)
#else
#define TELLS_IF(c, agent) (told[c] / 2 != inc + 1 || (agent && told[c] % 2))
#endif

inline tells_itself(c) {
   if
   :: TELLS_IF(c, false) -> told[c] = 2 * (inc + 1); sends(c); pend = pend | bitset; bitset = 0; TELL("the rank sends itself SIGCHLD of child %d%c\n", c, ' ')
   :: else -> skip
   fi
}

/* ft_children_tell */
inline tell() {
#ifdef NO_SELF
   skip
#else
   i = 0;
   do
   :: i < C && HAS(kids, i) && !HAS(own, i) && !HAS(ctold, i) && ENDED(i) -> tells_itself(i); i++
   :: i < C && !(HAS(kids, i) && !HAS(own, i) && !HAS(ctold, i) && ENDED(i)) -> i++
   :: i == C -> break
   od;
   i = 0
#endif
}

/* ft_signals_release */
inline release() { if :: held -> queue = queue | bitset; held = 0 :: else -> skip fi }

inline record(what) { kind[n] = what; rec[n] = BEGUN; n++; at = n; noted = 0; note0 = 0; note1 = 0; CHECK(n < LOG, "model: the log is too short\n") }
inline done(v) { rec[n - 1] = DONE; val[n - 1] = v; noted = 0; note0 = 0; note1 = 0 }
inline runs_handler(k) { heard = 1; heardset = heardset | val[k]; ctold = ctold | exact[k] }

inline dies() {
   orphans = orphans | own;
   life = DEAD; phase = 0; then = 0; pc = 0; at = 0; forks = 0; kids = 0; own = 0; ctold = 0; held = 0; switched = 0; heard = 0; found = 0; offered = 0; made = 0;
   gone = 0; pend = 0; pendx = 0; queue = 0; queuex = 0; sent = 0; heardset = 0
}

#define UNDER_WAY (at < n && rec[at] == BEGUN && kind[at] != SIGNAL)
#define GIVEN (at < n && rec[at] == DONE && kind[at] != SIGNAL && !PAUSED)
#define PAUSED (HERE == PAUSE && heard)
#define BEGINS (at == n && switched && !queue)

proctype Rank() {
   do
   /* SIGCHLD comes */
   :: d_step { LIVES && OPEN -> queue = queue | pend; queuex = queuex | pendx; bitset = bitset | pend; pend = 0; pendx = 0 }
   /* at the beginning and end of calls: handlers */
   :: d_step { AT(CALL) && at < n && kind[at] == SIGNAL ->
               if :: rec[at] == BEGUN -> val[at] = val[at] | bitset; bitset = 0; exact[at] = 0; rec[at] = DONE :: else -> skip fi;
               runs_handler(at); at++; TELL("a handler of SIGCHLD runs, in the replay%c%c\n", ' ', ' ');
               if :: at == n && n && kind[n - 1] != SIGNAL -> release() :: else -> skip fi }
   :: d_step { AT(CALL) && at == n && switched && queue -> record(SIGNAL); val[n - 1] = queue; exact[n - 1] = queuex; queue = 0; queuex = 0; phase = HANDLER }
   :: d_step { AT(HANDLER) -> bitset = queue; done(val[n - 1]); runs_handler(n - 1); phase = CALL; TELL("a handler of SIGCHLD runs%c%c\n", ' ', ' ') }
   /* replay */
   :: d_step { AT(CALL) && GIVEN ->
               CHECK(kind[at] == HERE, "a replay differs\n");
               if
               :: HERE == FORK -> kids = kids | BIT(val[at] - 1); heard = 0; forks++; pc++;
                  if :: at + 1 == n && !HAS(names, val[at] - 1) -> names = names | BIT(val[at] - 1); ended = WITHOUT(ended, val[at] - 1) :: else -> skip fi
               :: HERE == WAIT -> kids = WITHOUT(kids, val[at] - 1); pc++;
                  if :: at + 1 == n -> names = WITHOUT(names, val[at] - 1) :: else -> skip fi
               :: HERE == PAUSE -> skip
               fi;
               at++; if :: at == n -> release() :: else -> skip fi }
   :: d_step { AT(CALL) && PAUSED && !(at < n && kind[at] == SIGNAL) -> pc++ }
   /* the log's end, at a live call: ft_recorder_live */
   :: d_step { AT(CALL) && at == n && !switched && !PAUSED -> phase = LIVE1; then = CALL }
   :: d_step { AT(LIVE1) -> tell(); phase = LIVE2 }
   :: d_step { AT(LIVE2) -> ended = ended & (names & kids); names = kids; phase = LIVE3 }
   :: d_step { AT(LIVE3) -> release(); switched = 1; phase = then; then = 0; TELL("the log's end is behind it%c%c\n", ' ', ' ') }
   /* ... and at one that was under way: signals come, it is resolved */
   :: d_step { AT(CALL) && UNDER_WAY && !PAUSED -> CHECK(kind[at] == HERE, "a replay differs\n"); at = n;
               TELL("call %d was under way, noted: %d\n", HERE, noted); if :: HERE == FORK -> heard = 0 :: else -> skip fi; phase = UNDER1 }
#ifdef SIGNAL_LATE
   :: d_step { AT(UNDER1) -> phase = UNDER2 }
#else
   :: d_step { AT(UNDER1) -> tell(); phase = UNDER2 }
#endif
   :: d_step { AT(UNDER2) -> release(); phase = RESOLVE }
#ifdef FORGET_FIRST
   :: d_step { AT(RESOLVE) && HERE == FORK && !switched -> phase = LIVE1; then = RESOLVE }
#define MAY_RESOLVE switched
#else
#define MAY_RESOLVE true
#endif
   :: d_step { AT(RESOLVE) && HERE == FORK && MAY_RESOLVE && noted ->
               x = W(note0);
               if
               :: number_of[x] == note0 && claim[x] == 0 ->
#ifndef NO_REVOKE
                  claim[x] = REVOKED; SEEN(1);
#endif
                  TELL("nobody has claimed fork %d: it is taken back%c\n", note0, ' ');
                  if :: switched -> phase = OFFER :: else -> phase = LIVE1; then = OFFER fi
               :: number_of[x] != note0 || claim[x] == REVOKED -> if :: switched -> phase = OFFER :: else -> phase = LIVE1; then = OFFER fi
               :: else -> made = claim[x] - 1; SEEN(2); phase = ADOPT
               fi;
               x = 0 }
   :: d_step { AT(RESOLVE) && HERE == FORK && MAY_RESOLVE && !noted -> if :: switched -> phase = OFFER :: else -> phase = LIVE1; then = OFFER fi }
   :: d_step { AT(RESOLVE) && HERE == WAIT && noted -> found = note0 - 1; SEEN(3); phase = TAKE }
   :: d_step { AT(RESOLVE) && HERE == WAIT && !noted -> phase = FIND }
   :: d_step { AT(RESOLVE) && HERE == PAUSE -> phase = PAUSING }
   /* the child that has claimed the fork; it may have ended already, and be among the strays */
   :: d_step { AT(ADOPT) -> kids = kids | BIT(made); TELL("child %d had claimed the fork%c\n", made, ' ');
               if :: !HAS(names, made) -> ended = WITHOUT(ended, made); names = names | BIT(made) :: else -> skip fi;
               phase = LOOK1 }
   :: d_step { AT(LOOK1) && ENDED(made) -> phase = LIVE1; then = FORKED }
   :: d_step { AT(LOOK1) && !ENDED(made) -> gone = (st[made] == GONE); phase = LOOK2 }
#ifdef NO_STRAYS
   :: d_step { AT(LOOK2) && !gone -> phase = LIVE1; then = FORKED }
   :: d_step { AT(LOOK2) && gone && ENDED(made) -> gone = 0; phase = LIVE1; then = FORKED }
#else
   :: d_step { AT(LOOK2) && IN_STRAYS(made, note1) -> ended = ended | BIT(made); tells_itself(made); gone = 0; SEEN(4); phase = LIVE1; then = FORKED }
   :: d_step { AT(LOOK2) && !IN_STRAYS(made, note1) && (!gone || ENDED(made)) -> gone = 0; phase = LIVE1; then = FORKED }
#endif
   /* a fork */
   :: d_step { AT(CALL) && BEGINS && HERE == FORK -> record(FORK); heard = 0; phase = OFFER }
   :: d_step { AT(OFFER) -> last++;
#ifndef REUSED
               do :: number_of[W(last)] && claim[W(last)] == REVOKED -> last++ :: else -> break od;
#endif
               if :: number_of[W(last)] -> SEEN(5) :: else -> skip fi;
               number_of[W(last)] = last; claim[W(last)] = 0; offered = last; phase = NOTE }
   :: d_step { AT(NOTE) -> note0 = offered; note1 = strays; noted = 1; phase = KERNEL }
   :: d_step { AT(KERNEL) -> CHECK(st[C - 1] == NONE, "model: too many children\n");
               do :: st[made] != NONE -> made++ :: else -> break od;
               st[made] = BORN; num[made] = offered; fork_of[made] = forks; own = own | BIT(made); phase = ADD; TELL("child %d is made by fork %d\n", made, offered) }
   :: d_step { AT(ADD) -> kids = kids | BIT(made); ended = WITHOUT(ended, made); names = names | BIT(made); phase = OFFERED }
#ifdef PARENT_SILENT
   :: d_step { AT(OFFERED) -> offered = 0; phase = FORKED }
#else
   :: d_step { AT(OFFERED) -> if :: claim[W(offered)] == 0 -> claim[W(offered)] = made + 1 :: else -> skip fi; offered = 0; phase = FORKED }
#endif
   :: d_step { AT(FORKED) -> done(made + 1); made = 0; forks++; pc++; phase = CALL }
   /* a wait: find, note, take */
   :: d_step { AT(CALL) && BEGINS && HERE == WAIT -> record(WAIT); phase = FIND }
#define READY(i) (HAS(kids, i) && (HAS(own, i) -> st[i] == ZOMBIE : ENDED(i)))
#define FINDS(i) d_step { AT(FIND) && READY(i) -> found = i; phase = FOUND }
   :: d_step { AT(FIND) && kids == 0 -> CHECK(false, "the program is told that it has no child\n") }
   :: FINDS(0)
   :: FINDS(1)
   :: FINDS(2)
   :: FINDS(3)
#ifdef TAKE_FIRST
   :: d_step { AT(FOUND) -> if :: HAS(own, found) -> st[found] = GONE; own = WITHOUT(own, found) :: else -> skip fi; phase = TAKE }
   :: d_step { AT(TAKE) -> note0 = found + 1; noted = 1; phase = REMOVE }
#else
   :: d_step { AT(FOUND) -> note0 = found + 1; noted = 1; phase = TAKE }
#ifdef UNTOLD
#define MAY_TAKE true
#else
#define MAY_TAKE (HAS(own, found) || !HAS(kids, found) || !HAS(names, found) || ENDED(found) || st[found] == GONE)
#endif
   :: d_step { AT(TAKE) && MAY_TAKE ->
               if :: HAS(own, found) -> st[found] = GONE; own = WITHOUT(own, found)
               :: else ->
#ifndef UNTOLD
                  if :: HAS(kids, found) && !HAS(ctold, found) && ENDED(found) -> tells_itself(found) :: else -> skip fi
#else
                  skip
#endif
               fi;
               phase = REMOVE }
#endif
   :: d_step { AT(REMOVE) -> kids = WITHOUT(kids, found); names = WITHOUT(names, found); phase = WAITED }
   :: d_step { AT(WAITED) ->
               CHECK(!HAS(done_of, found), "a child's end is told twice\n"); done_of = done_of | BIT(found);
               CHECK(ran[fork_of[found]] == 1 && st[found] >= ZOMBIE, "the child that is waited for has not run\n");
               TELL("wait tells of child %d%c\n", found, ' ');
               done(found + 1); found = 0; pc++; if :: switched -> phase = CALL :: else -> phase = LIVE1; then = CALL fi }
   /* sigsuspend */
   :: d_step { AT(CALL) && BEGINS && HERE == PAUSE && !heard -> record(PAUSE); phase = PAUSING }
   :: d_step { AT(PAUSING) && queue -> done(0); if :: switched -> phase = CALL :: else -> phase = LIVE1; then = CALL fi }
   /* exit */
#define UNDER_AGENT (ast == TELLS || ast == SENDS -> BIT(cur) : 0)
#define TAKEN (~names | (st[0] == GONE) | (st[1] == GONE) << 1 | (st[2] == GONE) << 2 | (st[3] == GONE) << 3)
   :: d_step { AT(CALL) && BEGINS && HERE == EXIT ->
               CHECK(ran[0] == 1 && ran[1] == 1, "a fork has made no child\n");
               CHECK((done_of & ~(heardset | pend | queue | UNDER_AGENT | unsent)) == 0, "SIGCHLD of a child has not come\n");
               dies(); life = EXITED }
   /* death */
   :: d_step { kills < K && LIVES -> kills++; TELL("the rank is killed in phase %d of step %d\n", phase, pc);
               if :: !switched -> SEEN(6) :: else -> skip fi; unsent = unsent | ((pend | UNDER_AGENT) & TAKEN); dies() }
   :: over -> break
   od
}

proctype Child(byte c) {
   do
   :: d_step { st[c] == BORN ->
               x = W(num[c]);
#ifdef NO_CLAIM
               st[c] = RUNS;
#else
               if
               :: number_of[x] == num[c] && claim[x] == 0 -> claim[x] = c + 1; st[c] = RUNS
               :: number_of[x] == num[c] && claim[x] == REVOKED -> st[c] = ZOMBIE; TELL("child %d was taken back%c\n", c, ' ')
               :: number_of[x] == num[c] && claim[x] == c + 1 -> st[c] = RUNS; SEEN(7)
#ifdef LATE_ENDS
               :: number_of[x] != num[c] -> st[c] = ZOMBIE
#else
               :: number_of[x] != num[c] -> st[c] = RUNS; SEEN(8)
#endif
               fi;
#endif
               x = 0;
               if
               :: st[c] == RUNS -> CHECK(ran[fork_of[c]] == 0, "a fork makes two children\n"); ran[fork_of[c]]++; TELL("child %d runs%c\n", c, ' ')
               :: else -> if :: HAS(own, c) -> signals(c) :: else -> skip fi
               fi }
   :: d_step { st[c] == RUNS -> st[c] = ZOMBIE; TELL("child %d ends%c\n", c, ' '); if :: HAS(own, c) -> signals(c) :: else -> skip fi }
   :: over -> break
   od
}

/* Looks at a rank that is dead, at one orphan after the other. What it knows is in shared memory; another one goes on if it dies. */
proctype Agent() {
   do
   :: d_step { ast == IDLE && life == DEAD && leader -> leader = 0 }
   :: d_step { ast == IDLE && life == DEAD && !leader -> leader = 1; inc++; life = RUN; held = 1; switched = (n == 0); TELL("incarnation %d goes on%c\n", inc, ' ');
               if :: n == 0 -> held = 0 :: else -> skip fi }
#define LOOKS(i) d_step { ast == IDLE && st[i] == ZOMBIE && HAS(orphans, i) -> cur = i; ast = (HAS(names, i) -> NAMED : STRAY) }
   :: LOOKS(0)
   :: LOOKS(1)
   :: LOOKS(2)
   :: LOOKS(3)
#ifdef REAP_FIRST
#define REAPED (st[cur] == GONE)
   :: d_step { (ast == NAMED || ast == STRAY) && !REAPED -> st[cur] = GONE; orphans = WITHOUT(orphans, cur) }
#else
#define REAPED true
#endif
   :: d_step { ast == NAMED && REAPED -> if :: HAS(names, cur) -> ended = ended | BIT(cur); ast = TELLS; TELL("the agent notes the end of child %d%c\n", cur, ' ') :: else -> ast = REAP fi }
   :: d_step { ast == TELLS -> if :: leader && TELLS_IF(cur, true) -> told[cur] = 2 * (inc + 1) + 1; ast = SENDS :: else -> ast = REAP fi }
   :: d_step { ast == SENDS && LIVES -> /* once more, if the one before died, perhaps, before it had sent it */
               if :: HAS(sent, cur) && deaths -> signals(cur) :: else -> sends(cur) fi;
               ast = REAP; TELL("the agent sends SIGCHLD of child %d%c\n", cur, ' ') }
   :: d_step { ast == SENDS && !LIVES -> ast = REAP }
   :: d_step { ast == STRAY && REAPED -> CHECK(strays < S, "model: too many strays\n"); stray[strays] = cur + 1; strays++; TELL("the agent notes child %d as a stray%c\n", cur, ' ');
#ifdef LOOKS_ONCE
               ast = REAP
#else
               ast = AGAIN
#endif
             }
   :: d_step { ast == AGAIN -> ast = (HAS(names, cur) -> NAMED : REAP); if :: HAS(names, cur) -> SEEN(9) :: else -> skip fi }
   :: d_step { ast == REAP -> st[cur] = GONE; orphans = WITHOUT(orphans, cur); cur = 0; ast = IDLE }
   :: d_step { deaths < A && !over && ast != IDLE -> deaths++; if :: ast == SENDS -> unsent = unsent | BIT(cur) :: else -> skip fi; ast = IDLE; cur = 0; TELL("the agent dies, another one goes on%c%c\n", ' ', ' ') }
#define CLEAR(i) (st[i] == NONE || st[i] == GONE)
   :: d_step { life == EXITED && ast == IDLE && CLEAR(0) && CLEAR(1) && CLEAR(2) && CLEAR(3) && !over -> over = 1 }
   :: over -> break
   od
}

init {
   atomic { life = RUN; leader = 1; switched = 1; run Rank(); run Child(0); run Child(1); run Child(2); run Child(3); run Agent() }
}
