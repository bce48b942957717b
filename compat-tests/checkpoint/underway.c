/* SPDX-License-Identifier: BSD-3-Clause */
/* underway ROUNDS [comm] [slow] [lazy] [lag=ROUNDS] [wrong=WHAT] [progress=DIR] [kill=RANK,ROUND,PLACE,LIFE]...: messages of each round are received two
   (lag) rounds later, so there are always
   some under way at the checkpoint that ends a round: short ones, long ones, some of any source, taken in another order than they were sent in, and to the
   rank itself. comm: half of them on communicators that are made before the load. What is printed follows from ROUNDS and the number of ranks
   only. It is killed at the PLACEth place of a round (-1: before the load) of a life of the rank. progress: DIR/rank.N is kept up to date for who kills it
   from outside (compat-tests/chaos/progress.h).

   wrong: what a checkpoint or a load cannot have; each rank prints the line of the error, and then finishes, and goes on. */
#include <ftmpi.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "compat-tests/abi/world.h"
#include "compat-tests/chaos/progress.h"

enum { TAGS = 4, ANY = 1000, SYNC = 2000, SELF = 3000, ASK = 4000, MOST = 300000 };

static int rank, size, life, rounds, lag = 2, now = -1, place;
static bool comm, slow, lazy;
static const char *wrong = "";
static MPI_Comm ring, half;  /* a duplicate, and those of even or odd ranks */
static int half_rank, half_size;

struct kill { int rank, round, place, life; };
static struct kill kills[64];
static int nkills;

/* What a rank has come to. */
static struct state { long sum; unsigned long hash; } state;

static void here(void)
{
    MPIX_Incarnation(&life);
    for (int i = 0; i < nkills; i++)
        if (kills[i].rank == rank && kills[i].round == now && kills[i].place == place && kills[i].life == life)
            raise(SIGKILL);
    place++;
}

static void options(int argc, char **argv)
{
    rounds = atoi(argv[1]);
    for (int i = 2; i < argc; i++) {
        struct kill *k = &kills[nkills];

        nkills += sscanf(argv[i], "kill=%d,%d,%d,%d", &k->rank, &k->round, &k->place, &k->life) == 4;
        sscanf(argv[i], "lag=%d", &lag);
        comm = comm || !strcmp(argv[i], "comm");
        slow = slow || !strcmp(argv[i], "slow");
        lazy = lazy || !strcmp(argv[i], "lazy");
        if (!strncmp(argv[i], "wrong=", 6))
            wrong = argv[i] + 6;
        if (!strncmp(argv[i], "progress=", 9) && progress_open(argv[i] + 9))
            exit(2);
    }
}

static void mix(unsigned long x)
{
    state.hash = (state.hash ^ x) * 0x9e3779b97f4a7c15ul;
    state.hash ^= state.hash >> 29;
}

static int bytes_of(int round, int tag) { return tag == 0 ? 8 : tag == 1 ? round % 3 * 20 : tag == 2 ? 40000 : round % 5 ? 4 : MOST; }

static unsigned char byte_of(int from, int round, int tag, int i) { return (unsigned char)((from * 31 + round * 7 + tag) * (i + 1) >> 3); }

static MPI_Comm comm_of(int tag) { return comm && tag % 2 ? ring : MPI_COMM_WORLD; }

/* ---- what is sent in a round ---- */

static void send_round(int round)
{
    static unsigned char bytes[MOST];
    long x = rank * 100 + round;

    for (int tag = 0; tag < TAGS; tag++) {
        int n = bytes_of(round, tag);

        for (int i = 0; i < n; i++)
            bytes[i] = byte_of(rank, round, tag, i);
        OK(MPI_Send(bytes, n, MPI_BYTE, (rank + 1) % size, tag, comm_of(tag)));
        if (tag == 1)
            here();
    }
    for (int to = 0; to < size; to++)
        OK(MPI_Send(&x, 1, MPI_LONG, to, ANY + round, comm_of(round)));
    if (comm)
        OK(MPI_Send(&x, 1, MPI_LONG, half_rank, SELF, half));
}

/* ---- and received ---- */

static void receive_one(int round, int tag)
{
    static unsigned char bytes[MOST];
    int from = (rank + size - 1) % size, n = bytes_of(round, tag), count;
    MPI_Status status;

    OK(MPI_Recv(bytes, MOST, MPI_BYTE, from, tag, comm_of(tag), &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == n && status.MPI_SOURCE == from, "round %d, tag %d: %d bytes from %d, not %d from %d", round, tag, count, status.MPI_SOURCE, n, from);
    for (int i = 0; i < n; i++)
        CHECK(bytes[i] == byte_of(from, round, tag, i), "round %d, tag %d: byte %d is %d", round, tag, i, bytes[i]);
    for (int i = 0; i < n; i += 97)
        mix(bytes[i]);
}

static void receive_round(int round)
{
    long x;

    for (int tag = TAGS - 1; tag >= 0; tag--) {
        receive_one(round, tag);
        if (tag == 2)
            here();
    }
    for (int i = 0; i < size; i++) {
        MPI_Status status;
        int came = 0;

        while (i % 2 && !came)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, ANY + round, comm_of(round), &came, &status));
        OK(MPI_Recv(&x, 1, MPI_LONG, MPI_ANY_SOURCE, ANY + round, comm_of(round), &status));
        CHECK(x == status.MPI_SOURCE * 100 + round, "%ld from %d", x, status.MPI_SOURCE);
        state.sum += x;
    }
    if (comm) {
        OK(MPI_Recv(&x, 1, MPI_LONG, half_rank, SELF, half, MPI_STATUS_IGNORE));
        CHECK(x == rank * 100 + round, "%ld of its own", x);
    }
}

/* Nothing of this is under way at the end. */
static void talk(int round)
{
    int x = round, got = -1, flag = 0;
    MPI_Request r;

    if (rank % 2 == 0 && rank + 1 < size)
        OK(MPI_Ssend(&x, 1, MPI_INT, rank + 1, SYNC, MPI_COMM_WORLD));
    if (rank % 2)
        OK(MPI_Recv(&got, 1, MPI_INT, rank - 1, SYNC, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(rank % 2 == 0 || got == round, "%d, not %d", got, round);
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, ASK + round, MPI_COMM_WORLD, &r));
    OK(MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, ASK + round, MPI_COMM_WORLD));
    while (!flag)
        OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    CHECK(got == round, "%d, not %d", got, round);
}

static int serialize(void *arg, const void **bytes, MPI_Count *n)
{
    *bytes = arg;
    *n = sizeof(int);
    return 0;
}

/* The rank's own state is in what it sends, too: with lazy checkpoints there is no model for it. */
static int keep(void)
{
    static int next;

    next = now + 1;
    return lazy ? MPIX_Checkpoint_lazy(serialize, &next) : MPIX_Checkpoint(&next, sizeof next, &state, sizeof state);
}

static void go(void)
{
    long sum = rank;

    place = 0;
    here();
    send_round(now);
    here();
    if (now >= lag)
        receive_round(now - lag);
    here();
    talk(now);
    here();
    OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, comm ? ring : MPI_COMM_WORLD));
    if (comm)
        OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_MAX, half));
    mix((unsigned long)sum);
    if (lazy)
        printf("%d round %d\n", rank, now);
    else
        printf("%d round %d: %ld %lx\n", rank, now, state.sum, state.hash);
    here();
    OK(keep());
    here();
}

static void load(void)
{
    void *global, *local;
    MPI_Count nglobal, nlocal;
    int version;

    OK(MPIX_Checkpoint_load(&global, &nglobal, &local, &nlocal, &version));
    now = 0;
    if (!version)
        return;
    CHECK(nglobal == (MPI_Count)sizeof now && nlocal == (lazy ? 0 : (MPI_Count)sizeof state), "models of %lld and %lld bytes", (long long)nglobal, (long long)nlocal);
    memcpy(&now, global, sizeof now);
    if (!lazy)
        memcpy(&state, local, sizeof state);
}

static void make_communicators(void)
{
    MPI_Comm gone;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &gone));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &ring));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Comm_free(&gone));
    OK(MPI_Comm_rank(half, &half_rank));
    OK(MPI_Comm_size(half, &half_size));
}

/* ---- what a checkpoint cannot have ---- */

static void tell(const char *what, int err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class, n;

    OK(MPI_Error_class(err, &class));
    OK(MPI_Error_string(err, text, &n));
    printf("rank %d, %s: %s, class %d\n", rank, what, err ? "an error" : "none", class == MPI_ERR_OTHER);
    fflush(stdout);
}

static void misuse(void)
{
    int x = 1, y = 0, came = 0, to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Message message;
    MPI_Comm other;
    bool mine = rank == 1;

    now = 0;
    if (!strcmp(wrong, "early")) {
        OK(MPI_Send(&x, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
        tell("load", MPIX_Checkpoint_load(NULL, NULL, NULL, NULL, &y));
        OK(MPI_Recv(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    tell("load", MPIX_Checkpoint_load(NULL, NULL, NULL, NULL, &y));
    if (!strcmp(wrong, "receive") && mine)
        OK(MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[0]));
    if (!strcmp(wrong, "send") && mine)
        for (int i = 0; i < 2; i++)
            OK(MPI_Issend(&x, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &r[i]));
    if (!strcmp(wrong, "probe")) {
        OK(MPI_Send(&x, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
        while (!came)
            OK(MPI_Improbe(from, 1, MPI_COMM_WORLD, &came, &message, MPI_STATUS_IGNORE));
    }
    if (!strcmp(wrong, "made"))
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    if (!strcmp(wrong, "freed"))
        OK(MPI_Comm_free(&ring));
    tell("checkpoint", keep());
    tell("lazy", MPIX_Checkpoint_lazy(serialize, &now));
    if (!strcmp(wrong, "receive") && rank == 0)
        OK(MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    if (!strcmp(wrong, "send") && rank == 2 % size)
        for (int i = 0; i < 2; i++)
            OK(MPI_Recv(&y, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!strcmp(wrong, "probe"))
        OK(MPI_Mrecv(&y, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    if (!strcmp(wrong, "made"))
        OK(MPI_Comm_free(&other));
    OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    tell("afterwards", keep());
}

int main(int argc, char **argv)
{
    options(argc, argv);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    here();
    if (comm)
        make_communicators();
    if (*wrong) {
        if (argc > 3 && !strcmp(argv[argc - 1], "returns"))
            OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        misuse();
    } else {
        load();
        for (; now < rounds; now++) {
            go();
            progress_advance((unsigned)now + 1);
            if (slow)
                nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
        }
        for (int round = rounds < lag ? 0 : rounds - lag; round < rounds; round++)
            receive_round(round);
        if (!lazy)
            printf("%d ends with %ld %lx\n", rank, state.sum, state.hash);
    }
    if (comm && strcmp(wrong, "freed"))
        OK(MPI_Comm_free(&ring));
    if (comm)
        OK(MPI_Comm_free(&half));
    OK(MPI_Finalize());
    return 0;
}
