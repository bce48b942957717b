/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives over several nodes without a launcher: a region, keeper and ranks (processes) for each node, and in this process agents as small as can
   be, which connect representatives over loopback. Every rank checks every result against what it must be. Faults come by seed: ranks are
   killed and started again, representatives among them, links are shut down in the middle of frames, whole nodes are lost and begin
   with no log at all.

   nodes                                    a choice of short ones, as in make check
   nodes NODES RANKS SEED [CALLS [FAULTS [MOST]]]   RANKS: of a node, at most; FAULTS: letters k (kills), r (resets), n (nodes), c (no fault:
                                            checkpoints), u (a reset, and nobody is ever started again: the log is released behind the ranks);
                                            t (no fault: a second stream between the nodes);
                                            m alone: a call that does not match. MOST: elements
   nodes speed NODES RANKS                  times of an allreduce by size */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/base/hash.h"
#include "ft/ft.h"
#include "ft/shm/cut.h"
#include "ft/shm/keeper.h"
#include "ft/shm/models.h"
#include "ft/shm/versions.h"
#include "ft/shm/wait.h"
#include "ft/test/nodes_job.h"

struct plan plan;
struct node node[NODES];
uint32_t world, first[NODES + 1], rank_at[WORLD];
_Atomic uint32_t *entered;

_Noreturn void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "nodes %u %u %llu %u %s: ", plan.nodes, plan.ranks, (unsigned long long)plan.seed, plan.calls, plan.faults);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    _exit(1);
}

uint64_t draw(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    return ft_hash_mix(*state, 0x123456789abcdefull);
}

/* ---- the agents ---- */

static void start(uint32_t k, uint32_t local)
{
    pid_t pid;

    if (node[k].incarnation[local] && !ft_cut_withdraw(&node[k].region, local))
        die("rank %u of node %u has nothing to begin from", local, k);
    ft_region_start_rank(&node[k].region, local, node[k].incarnation[local]++);
    pid = fork();
    if (pid < 0)
        die("fork: %s", strerror(errno));
    if (pid == 0)
        _exit(program(k, local));
    node[k].pid[local] = pid;
}

static void hand_over(uint32_t stream, uint32_t k, uint32_t peer, int fd)
{
    _Atomic uint64_t *posted = &ft_region_link(&node[k].region, stream, peer)->posted;
    struct ft_link_post post = { .stream = stream, .peer = peer, .peer_incarnation = node[peer].life, .generation = atomic_load(posted) + 1 };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    struct iovec iov = { &post, sizeof post };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    atomic_store(posted, post.generation);
    if (sendmsg(node[k].pair[0], &m, MSG_DONTWAIT) < 0 && errno != EAGAIN)
        die("sendmsg: %s", strerror(errno));
    close(fd);
}

static void link_nodes(uint32_t stream, uint32_t a, uint32_t b)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), far;

    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &len) != 0 || connect(near, (struct sockaddr *)&at, sizeof at) != 0 ||
        (far = accept(listener, NULL, NULL)) < 0)
        die("no link: %s", strerror(errno));
    close(listener);
    hand_over(stream, a, b, near);
    hand_over(stream, b, a, far);
}

static bool lacks(uint32_t stream, uint32_t k, uint32_t peer)
{
    const struct ft_link_words *w = ft_region_link(&node[k].region, stream, peer);

    return atomic_load(&w->wanted) > atomic_load(&w->posted);
}

static void serve_links(void)
{
    for (uint32_t a = 0; a < plan.nodes; a++)
        for (uint32_t b = a + 1; b < plan.nodes; b++)
            for (uint32_t stream = 0; stream <= two(); stream++)
                if (lacks(stream, a, b) || lacks(stream, b, a))
                    link_nodes(stream, a, b);
}

/* What ranks ask of their agents: there is no output to be kept in step with. */
static void serve_ranks(void)
{
    for (uint32_t k = 0; k < plan.nodes; k++)
        for (uint32_t r = 0; r < node[k].n; r++) {
            struct ft_version_words *w = ft_versions_of(&node[k].region, r);
            uint64_t asks = atomic_load(&w->asks);

            if (atomic_load(&w->answered) != asks) {
                atomic_store(&w->answered, asks);
                ft_doorbells_tell_rank(&node[k].region, r);
                ft_cut_unregister(&node[k].region, r);  /* its cut is its checkpoint */
            }
        }
}

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    die("%s", line);
}

bool two(void) { return strchr(plan.faults, 't') != NULL; }

static bool unkept(void) { return strchr(plan.faults, 'u') != NULL; }

static void make_node(uint32_t k)
{
    struct ft_keeper_config config = { .full = plan.speed ? FT_FULL_FORGET : FT_FULL_SPILL, .spill_dir = "/tmp" };
    struct node *n = &node[k];
    struct ft_params params;
    struct ft_error e;

    n->n = first[k + 1] - first[k];
    ft_params_default(&params, n->n, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), 64u << 20);
    ft_params_nodes(&params, plan.nodes, k, world);
    if (!plan.speed && world > params.cores)
        params.cores = 1;  /* all nodes are on this host: nobody spins */
    if (two())
        params.nstreams = 1 + n->n;
    params.spread = two();
    params.unkept = unkept();
    params.unfenced = ft_wait_can_register();
    if (unkept()) {  /* small extents: what a link lacks when it breaks is soon in one that could be released */
        params.segment = params.slot_bytes = params.slot_room = params.gather_bytes = UNKEPT_EXTENT / 4;
        params.extent_bytes = UNKEPT_EXTENT;
        params.nextents = (64u << 20) / UNKEPT_EXTENT;
    }
    params.keeps_log = strchr(plan.faults, 'n') != NULL;
    if (ft_region_create(&n->region, &params, &e) != 0 || ft_region_map(&n->region, first, rank_at, &e) != 0 ||
        ft_keeper_open(&n->keeper, &n->region, &config, &e) != 0 || (n->models = ft_models_create(&e)) < 0)
        die("%s", e.text);
    n->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (n->bell < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, n->pair) != 0)
        die("%s", strerror(errno));
}

static void run_node(uint32_t k)
{
    struct ft_error e;

    for (uint32_t r = 0; r < node[k].n; r++)
        start(k, r);
    if (ft_keeper_run(node[k].keeper, keeper_failed, NULL, &e) != 0)
        die("%s", e.text);
}

static void end_node(uint32_t k)
{
    struct node *n = &node[k];

    ft_keeper_stop(n->keeper);
    ft_keeper_close(n->keeper);
    ft_region_close(&n->region);
    close(n->models);
    close(n->bell);
    close(n->pair[0]);
    close(n->pair[1]);
}

/* Everything of it is gone, and it begins again with nothing. */
static void lose_node(uint32_t k)
{
    for (uint32_t r = 0; r < node[k].n; r++)
        if (node[k].pid[r]) {
            kill(node[k].pid[r], SIGKILL);
            waitpid(node[k].pid[r], NULL, 0);
        }
    end_node(k);
    node[k].life++;
    memset(node[k].incarnation, 0, sizeof node[k].incarnation);
    make_node(k);
    run_node(k);
}

static void end_ranks(void)
{
    for (uint32_t k = 0; k < plan.nodes; k++)
        for (uint32_t r = 0; r < node[k].n; r++)
            if (node[k].pid[r]) {
                kill(node[k].pid[r], SIGKILL);
                waitpid(node[k].pid[r], NULL, 0);
            }
}

/* True while somebody runs. */
static bool reap(void)
{
    bool runs = false;

    for (uint32_t k = 0; k < plan.nodes; k++)
        for (uint32_t r = 0; r < node[k].n; r++) {
            int status;

            if (!node[k].pid[r])
                continue;
            runs = true;
            if (waitpid(node[k].pid[r], &status, WNOHANG) <= 0)
                continue;
            node[k].pid[r] = 0;
            if (*plan.faults == 'm' && WIFEXITED(status) && WEXITSTATUS(status) == MISMATCH)
                return false;
            if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
                start(k, r);
            } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                die("rank %u of node %u ended with status %#x", r, k, (unsigned)status);
            } else if (r == 0) {
                for (uint32_t other = 0; other < plan.nodes; other++)
                    if (other != k)
                        atomic_store(&ft_region_link(&node[other].region, 0, k)->gone, 1);
            }
        }
    return runs;
}

static bool has_ended(uint32_t k)
{
    bool ended = false;

    for (uint32_t r = 0; r < node[k].n; r++)
        ended = ended || !node[k].pid[r];
    return ended;
}

/* Its first rank stands still in front of its last call, without which nobody ends. Else it goes on. */
static bool held_back(uint32_t k)
{
    pid_t pid = node[k].pid[0];
    siginfo_t how;

    kill(pid, SIGSTOP);
    if (waitid(P_PID, (id_t)pid, &how, WSTOPPED | WEXITED | WNOWAIT) == 0 && how.si_code == CLD_STOPPED && entered[rank_at[first[k]]] < plan.calls)
        return true;
    kill(pid, SIGCONT);
    return false;
}

/* Nobody dies in what follows his end, and a node that has ended does not come back: that is the controller's to see to. */
static int fault(uint64_t *state)
{
    char what = plan.faults[draw(state) % strlen(plan.faults)];
    uint32_t k = (uint32_t)(draw(state) % plan.nodes), r = draw(state) % 2 ? 0 : (uint32_t)(draw(state) % node[k].n);

    if (has_ended(k) || !node[k].pid[r])
        return 0;
    if (what == 'k')
        kill(node[k].pid[r], SIGKILL);
    else if ((what == 'r' || what == 'u') && ft_region_rank(&node[k].region, 0)->state == FT_RANK_ATTACHED && node[k].pid[0])
        kill(node[k].pid[0], SIGUSR1);
    else if (what == 'n' && draw(state) % 8 == 0 && node[k].pid[0] && held_back(k))
        lose_node(k);
    return 1;
}

static void place_ranks(void)
{
    uint64_t state = plan.seed;

    world = 0;
    for (uint32_t k = 0; k < plan.nodes; k++) {
        first[k] = world;
        world += plan.speed ? plan.ranks : 1 + (uint32_t)(draw(&state) % plan.ranks);
    }
    first[plan.nodes] = world;
    for (uint32_t i = 0; i < world; i++)
        rank_at[i] = i;
    for (uint32_t i = world - 1; plan.seed % 3 == 0 && !plan.speed && i > 0; i--) {
        uint32_t j = (uint32_t)(draw(&state) % (i + 1)), at = rank_at[i];

        rank_at[i] = rank_at[j];
        rank_at[j] = at;
    }
}

static void run(void)
{
    uint64_t state = plan.seed + 17, since = ft_clock_ns(), last = since;
    uint32_t faults = 0, pause_ms = 1;
    uint64_t logged, units, released = 0, spilled = 0;

    place_ranks();
    memset(node, 0, sizeof node);
    for (uint32_t r = 0; r < WORLD; r++)
        entered[r] = 0;
    for (uint32_t k = 0; k < plan.nodes; k++)
        make_node(k);
    for (uint32_t k = 0; k < plan.nodes; k++)
        run_node(k);
    while (reap()) {
        struct pollfd bells[NODES];

        for (uint32_t k = 0; k < plan.nodes; k++) {
            uint64_t rung;

            bells[k] = (struct pollfd){ .fd = node[k].bell, .events = POLLIN };
            if (read(node[k].bell, &rung, sizeof rung) < 0 && errno != EAGAIN)
                die("bell: %s", strerror(errno));
        }
        serve_links();
        serve_ranks();
        if (*plan.faults != '-' && *plan.faults != 'm' && faults < FAULTS && ft_clock_ns() - last > pause_ms * 1000000ull) {
            last = ft_clock_ns();
            pause_ms = 1 + (uint32_t)(draw(&state) % LONGEST_MS);
            faults += (uint32_t)fault(&state);
        }
        poll(bells, plan.nodes, 2);
        if (ft_clock_ns() - since > SECONDS * 1000000000ull)
            die("it hangs");
    }
    if (*plan.faults == 'm')
        end_ranks();
    logged = ft_region_log_bytes(&node[0].region);
    units = ft_region_progress(&node[0].region, 0);
    for (uint32_t k = 0; k < plan.nodes; k++) {
        if (*plan.faults != 'm' && (ft_region_log_bytes(&node[k].region) != logged || ft_region_progress(&node[k].region, 0) != units))
            die("nodes 0 and %u have different logs", k);
        released += ft_region_released_bytes(&node[k].region);
        spilled += ft_keeper_stats(node[k].keeper).spilled_bytes;
        end_node(k);
    }
    if (unkept() && logged >= UNKEPT && released == 0)
        die("nothing was released");
    printf("nodes %u %u %llu %u %s: %u ranks, %u faults, %llu ms; %llu MiB logged, released %llu, spilled %llu\n", plan.nodes, plan.ranks,
           (unsigned long long)plan.seed, plan.calls, plan.faults, world, faults, (unsigned long long)(ft_clock_ns() - since) / 1000000,
           (unsigned long long)logged >> 20, (unsigned long long)released >> 20, (unsigned long long)spilled >> 20);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct plan normal[] = {
        { 2, 1, 1, 150, "-", 200000, false },   { 2, 3, 2, 100, "-", 200000, false }, { 3, 2, 3, 100, "-", 100000, false },
        { 5, 2, 4, 60, "-", 50000, false },     { 8, 1, 5, 60, "-", 50000, false },   { 2, 2, 6, 100, "kr", 200000, false },
        { 3, 2, 7, 100, "kr", 200000, false },  { 5, 1, 8, 100, "kr", 100000, false }, { 3, 2, 9, 60, "krn", 50000, false },
        { 2, 1, 1, 10, "m", 1000, false },      { 3, 2, 2, 10, "m", 1000, false },    { 3, 2, 3, 60, "krc", 400000, false },
        { 2, 1, 10, 200, "kr", 800000, false }, { 2, 2, 11, 200, "krn", 800000, false },  /* reductions of several of their large segments */
        { 2, 2, 12, 100, "-t", 200000, false }, { 3, 2, 13, 100, "krt", 200000, false }, { 3, 2, 14, 60, "krnt", 50000, false },
        { 2, 1, 15, 200, "krt", 800000, false }, { 2, 2, 8, 1500, "ut", 100000, false },
        { 2, 2, 8, 1500, "u", 100000, false },  { 3, 2, 7, 1500, "u", 100000, false }, { 2, 3, 5, 1500, "u", 100000, false },
    };

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    entered = mmap(NULL, WORLD * sizeof *entered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (entered == MAP_FAILED)
        die("no memory");
    if (argc >= 4 && strcmp(argv[1], "speed") == 0) {
        plan = (struct plan){ .nodes = (uint32_t)atoi(argv[2]), .ranks = (uint32_t)atoi(argv[3]), .faults = "-", .speed = true };
        run();
        return 0;
    }
    if (argc >= 4) {
        plan = (struct plan){ (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), (uint64_t)atoll(argv[3]), argc > 4 ? (uint32_t)atoi(argv[4]) : 100,
                              argc > 5 ? argv[5] : "-", argc > 6 ? (uint64_t)atoll(argv[6]) : 200000, false };
        run();
        return 0;
    }
    for (size_t i = 0; i < sizeof normal / sizeof normal[0]; i++) {
        plan = normal[i];
        run();
    }
    return 0;
}
