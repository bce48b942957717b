/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank comes to be recorded: before its main, with snapshot zero as the first copy (DESIGN-ranks section 0). In any other process, the
   children of ranks first of all, nothing happens here. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/outcome/children.h"
#include "ft/outcome/condition.h"
#include "ft/outcome/copies.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/door.h"
#include "ft/outcome/images.h"
#include "ft/outcome/other_mpi.h"
#include "ft/outcome/output.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/stand.h"
#include "ft/shm/versions.h"
#include "ft/shm/wait.h"

static struct ft_copies copies;
static struct ft_door door;
static struct ft_guest guest;
static pid_t opened_by;  /* the incarnation that this is, if it is one */
static bool before_main;

static bool keeps(bool keep)
{
    return ft_region_fork_keeps(&door.region, keep) == 0;
}

/* ---- the environment: the one thing in which incarnations differ before main ---- */

static char incarnation[] = "FTMPI_INCARNATION=4294967295";

/* main may have been given the very array, so that its entry is changed; nobody else has a pointer to what it was. */
static void say_incarnation(void)
{
    size_t name = strcspn(incarnation, "=") + 1;

    ft_number_write(incarnation + name, ft_peek32(&copies.block->incarnation));
    for (char **e = environ; e && *e; e++)
        if (!strncmp(*e, incarnation, name))
            *e = incarnation;
}

static void say_who(void)
{
    opened_by = (pid_t)syscall(SYS_getpid);
    atomic_store(&copies.words->recorder, (uint64_t)opened_by);
}

/* ---- the door ---- */

static bool cut_at(struct ft_stand *stand)
{
    if (ft_recorder.on && ft_recorder_replays())
        return false; /* not before all is given, and the world is as the program believes: it stays due */
    ft_recorder_live();
    if (guest.stand)
        guest.stand(guest.arg, stand);
    copies.words->early = before_main;
    if (!ft_copies_make(&copies, stand))
        return false;
    ft_inside();
    say_incarnation();
    say_who();
    if (guest.resume)
        guest.resume(guest.arg);
    ft_outside();
    ft_stand_put_back();
    return true;
}

static bool cut(void *unread, uint64_t bytes) { return cut_at(&(struct ft_stand){.unread = unread, .unread_bytes = bytes}); }

static void end_copies(void) { ft_copies_end(&copies); }

static void ring(void)
{
    uint64_t one = 1;
    int error = errno;

    ft_real()->write(copies.bell, &one, sizeof one); /* full: as good */
    errno = error;
}

static bool cut_here(void) { return cut(NULL, 0); }

static void live(bool new)
{
    if (new && ft_recorder_replays())
        ft_recorder_lost("a replay called a function of MPI that its predecessor had not called yet");
    ft_recorder_live();
    if (new)
        ft_images_settle();
}

/* Of a rank that has done something in MPI the engine knows that. */
static void note_back(void)
{
    struct ft_rank_block *block = ft_region_rank(&door.region, door.rank);

    if (ft_look32(&block->state) == FT_RANK_ABSENT && ft_region_progress(&door.region, door.rank) == 0)
        ft_note(&block->live_ns, ft_real_clock_ns());
}

/* Of the library that this address is in. */
static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t address = (uintptr_t)arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type == PT_LOAD && address - start < info->dlpi_phdr[i].p_memsz) {
            ft_recorder.own = start;
            ft_recorder.own_bytes = info->dlpi_phdr[i].p_memsz;
            return 1;
        }
    }
    return 0;
}

/* From now on the engine makes copies, at its calls: another thread's call may fall into one. */
static void enter(const struct ft_guest *who)
{
    ft_threads_lock();
    ft_recorder.want = NULL;
    guest = *who;
    ft_threads_unlock();
    dl_iterate_phdr(find_code, (void *)(uintptr_t)who->resume);
}

static void look_at_clock(struct timespec *now)
{
    clock_gettime(CLOCK_MONOTONIC, now);
    __asm__ volatile(""); /* no tail call: then the engine would be the caller, whose calls are not recorded */
}

static void be_inside(bool begins)
{
    if (begins)
        ft_inside();
    else
        ft_outside();
}

static void be_busy(bool begins)
{
    if (begins)
        ft_busy();
    else
        ft_idle();
}

static uint32_t number_of_thread(void)
{
    return ft_recorder.on && ft_thread.mine && ft_thread.number != FT_THREADS_NONE ? ft_thread.number : (uint32_t)FT_DOOR_NO_THREAD;
}

static void leave(void) { guest = (struct ft_guest){.arg = NULL}; }

/* Not in a child: it has not even the mapping. */
struct ft_door *ft_rank_door(void) { return opened_by == (pid_t)syscall(SYS_getpid) ? &door : NULL; }

void ft_rank_joined(void) { ft_other_mpi_joined(); }

/* ---- the start ---- */

/* What this process has written before it was recorded: a wrapper that has become it by exec, constructors of other libraries. */
static void begin_count(struct ft_outcome_words *words)
{
    char text[512];
    const char *at;
    siginfo_t info;
    ssize_t n;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/io", O_RDONLY | O_CLOEXEC);

    n = fd < 0 ? 0 : (ssize_t)syscall(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        syscall(SYS_close, fd);
    text[n < 0 ? 0 : n] = 0;
    at = strstr(text, "syscw: ");
    atomic_store(&words->writes, at ? strtoull(at + strlen("syscw: "), NULL, 10) : 0);
    atomic_store(&words->children, waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    ft_real_writes = &words->writes;
}


static bool number_from(const char *name, long *number)
{
    const char *text = getenv(name);
    char *end;

    if (!text || !*text)
        return false;
    *number = strtol(text, &end, 10);
    return !*end;
}

/* Asks the agent to ask for one, and waits until that stands or cannot be had. True: this is the next incarnation. */
static bool cut_now(void)
{
    struct ft_version_words *w = ft_versions_of(&door.region, door.rank);
    uint64_t number = ft_peek(&w->asks) + 1;
    uint32_t life = ft_threads_life; /* another thread may make one */

    ft_note(&w->kind, FT_ASK_SNAPSHOT);
    ft_publish(&w->asks, number);
    ring();
    while (life == ft_threads_life && ft_look(&w->answered) < number) {
        if (*door.want != *door.answered && cut(NULL, 0))
            return true;
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return life != ft_threads_life;
}

/* Who begins again makes the file anew, perhaps, under the other one. */
static void start_would_differ(struct ft_outcome_words *words)
{
    if (atomic_load(&words->once))
        return;
    snprintf(words->once_why, sizeof words->once_why, "it has mapped a file that another rank has mapped, too");
    atomic_store(&words->once, 1);
}

static bool others_map(uint64_t file, bool first)
{
    bool any = false;

    for (uint32_t r = 0; r < door.region.header->params.nranks; r++) {
        struct ft_outcome_words *words = r == door.rank ? NULL : ft_region_outcomes(&door.region, r);
        bool has = false;

        for (int i = 0; words && i < FT_OUTCOME_MAPPED; i++)
            has |= atomic_load(&words->mapped[i]) == file;
        if (has && first) {
            ft_outcome_close(words, "another rank has mapped a file that it has mapped, too");
            start_would_differ(words);
            start_would_differ(ft_recorder.log.words);
        }
        any |= has;
    }
    return any;
}

/* By valgrind, which makes no such copies. */
static bool is_simulated(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded && strstr(preloaded, "vgpreload");
}

/* The process that ftrun has started, or what that has become by exec. */
static bool is_rank(void)
{
    long pid;

    return number_from("FTMPI_PID", &pid) && pid == (long)syscall(SYS_getpid) && !is_simulated();
}

bool ft_start_is_recorded(void) { return getenv("FTMPI_FDS") && getenv("FTMPI_RECORDED") && is_rank(); }

/* What ftrun has given it, in this order (launcher/ranks/environ.c). No sscanf: that is five pages of the C library which most programs never
   touch, and takes longer than all numbers here. */
enum { MEMORY, KICK, SPILL, BELL, LIFE, MODELS, GIVEN };

static bool read_given(const char *text, int fds[GIVEN])
{
    char *end = NULL;

    for (int i = 0; i < GIVEN; i++, text = end + 1) {
        fds[i] = (int)strtol(text, &end, 10);
        if (end == text || (i < GIVEN - 1 && *end != ','))
            return false;
    }
    return true;
}

static bool open_all(const char *text)
{
    int fds[GIVEN], bell, life;
    struct ft_error e;
    int64_t local;
    void *outcomes;
    long rank;

    if (!read_given(text, fds) || !number_from("FTMPI_RANK", &rank))
        return false;
    if (ft_region_open(&door.region, fds[MEMORY], &e) < 0)
        return false;
    local = ft_region_local(&door.region, (uint32_t)rank);
    outcomes = local < 0 ? NULL : ft_region_outcomes(&door.region, (uint32_t)local);
    if (!outcomes)
        return false;
    door.rank = (uint32_t)local;
    ft_descriptors_given(fds[MEMORY]);
    ft_descriptors_given(fds[MODELS]);
    bell = ft_descriptors_hold(fds[BELL]); /* programs close all descriptors that they have not opened */
    life = ft_descriptors_hold(fds[LIFE]);
    if (bell < 0 || life < 0 || ft_copies_open(&copies, ft_region_rank(&door.region, door.rank), bell, life, keeps) < 0)
        return false;
    copies.own.mapping.start = door.region.base;
    copies.own.mapping.bytes = door.region.header->size;
    copies.own.not_copied = fds[MODELS];
    if (!ft_children_open(&copies.own))
        return false;
    begin_count(outcomes);
    ft_recorder.cut = cut_here;
    ft_recorder.cut_now = cut_now;
    ft_recorder.end_copies = end_copies;
    ft_recorder.ring = ring;
    ft_recorder.back = note_back;
    ft_recorder.others_map = others_map;
    door.want = &copies.words->want;
    door.answered = &copies.answered;
    ft_recorder.want = door.want;
    ft_recorder.answered = door.answered;
    door.switched = &ft_recorder.settled;
    door.enter = enter;
    door.leave = leave;
    door.cut = cut;
    door.live = live;
    door.aside = ft_descriptors_aside;
    door.clock = look_at_clock;
    door.inside = be_inside;
    door.many = &ft_threads_many;
    door.calls = be_busy;
    door.thread = number_of_thread;
    door.close = ft_recorder_close;
    ft_recorder.sockets_off = door.region.header->params.sockets_untold;
    ft_recorder.one_thread = door.region.header->params.one_thread;
    ft_recorder.time_off = door.region.header->params.clocks_untold;
    return ft_recorder_start(outcomes, door.region.header->params.outcome_bytes);
}

/* glibc gives a library's constructor what main is given. */
__attribute__((constructor)) static void start(int argc, char **argv)
{
    const char *fds = getenv("FTMPI_FDS");

    (void)argc;
    ft_output_by_lines();
    if (fds && !is_simulated())
        ft_other_mpi_watch(argv);
    if (!ft_start_is_recorded() || !open_all(fds))
        return;
    say_who();
    before_main = true;
    if (*door.want)
        cut_at(&(struct ft_stand){.first = true});
    else
        cut_now(); /* an exec has ended what copies there were */
    ft_copies_await(&copies);
    before_main = false;
}
