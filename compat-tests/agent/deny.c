/* SPDX-License-Identifier: BSD-3-Clause */
/* deny ERRNO CALL[,CALL...] COMMAND: runs it with calls refused, as the filter of a container does, or a kernel that has not got
   them: pidfd_open, pidfd_send_signal; clone_pidfd is clone with CLONE_PIDFD, waitid_pidfd is waitid with P_PIDFD. */
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

static int refuse_named(const char *name, unsigned error)
{
    if (!strcmp(name, "pidfd_open"))
        refuse(SYS_pidfd_open, 0, 0, error);
    else if (!strcmp(name, "pidfd_send_signal"))
        refuse(SYS_pidfd_send_signal, 0, 0, error);
    else if (!strcmp(name, "clone_pidfd"))
        refuse(SYS_clone, BPF_JSET, CLONE_PIDFD_BIT, error);
    else if (!strcmp(name, "waitid_pidfd"))
        refuse(SYS_waitid, BPF_JEQ, P_PIDFD_TYPE, error);
    else
        return -1;
    return 0;
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
