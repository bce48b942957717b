/* SPDX-License-Identifier: BSD-3-Clause */
/* deny ERRNO CALL[,CALL...] COMMAND: runs it with calls refused, as the filter of a container does, or a kernel that has not got
   them: by its name here, as in `calls`; clone_pidfd is clone with CLONE_PIDFD, waitid_pidfd is waitid with P_PIDFD. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CLONE_PIDFD_BIT = 0x1000, P_PIDFD_TYPE = 3, MOST = 64 };

static struct sock_filter filter[MOST];
static unsigned n;

static void add(struct sock_filter f)
{
    if (n < MOST)
        filter[n++] = f;
}

static void load(unsigned at)
{
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
}

static void test(unsigned kind, unsigned value, unsigned char yes, unsigned char no)
{
    add((struct sock_filter){(unsigned short)(BPF_JMP | kind | BPF_K), yes, no, value});
}

/* kind: of a test of the first argument; 0: always. */
static void refuse(unsigned call, unsigned kind, unsigned value, unsigned error)
{
    load(offsetof(struct seccomp_data, nr));
    test(BPF_JEQ, call, 0, kind ? 3 : 1);
    if (kind) {
        load(offsetof(struct seccomp_data, args));
        test(kind, value, 0, 1);
    }
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

static const struct {
    const char *name;
    unsigned number, kind, value;
} calls[] = {
    {"pidfd_open", SYS_pidfd_open, 0, 0}, {"pidfd_send_signal", SYS_pidfd_send_signal, 0, 0},
    {"clone_pidfd", SYS_clone, BPF_JSET, CLONE_PIDFD_BIT}, {"waitid_pidfd", SYS_waitid, BPF_JEQ, P_PIDFD_TYPE},
    {"clone3", SYS_clone3, 0, 0}, {"epoll_create1", SYS_epoll_create1, 0, 0}, {"epoll_wait", SYS_epoll_wait, 0, 0},
    {"eventfd2", SYS_eventfd2, 0, 0}, {"faccessat2", SYS_faccessat2, 0, 0}, {"getrandom", SYS_getrandom, 0, 0},
    {"madvise", SYS_madvise, 0, 0}, {"memfd_create", SYS_memfd_create, 0, 0}, {"pipe2", SYS_pipe2, 0, 0},
    {"prctl", SYS_prctl, 0, 0}, {"prlimit64", SYS_prlimit64, 0, 0}, {"pwrite64", SYS_pwrite64, 0, 0},
    {"recvmsg", SYS_recvmsg, 0, 0}, {"sendfile", SYS_sendfile, 0, 0}, {"sendmsg", SYS_sendmsg, 0, 0},
    {"setpgid", SYS_setpgid, 0, 0}, {"signalfd4", SYS_signalfd4, 0, 0}, {"socketpair", SYS_socketpair, 0, 0},
    {"splice", SYS_splice, 0, 0},
};

static int refuse_named(const char *name, unsigned error)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!strcmp(name, calls[i].name)) {
            refuse(calls[i].number, calls[i].kind, calls[i].value, error);
            return 0;
        }
    return -1;
}

int main(int argc, char **argv)
{
    struct sock_fprog program = {.filter = filter};

    if (argc < 4)
        return 2;
    for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ","))
        if (refuse_named(name, (unsigned)atoi(argv[1])) < 0)
            return 2;
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    program.len = (unsigned short)n;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("deny: seccomp");
        return 77;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 2;
}
