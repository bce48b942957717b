/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls.table about names, and about what there is to be known of files. */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "ft/outcome/test/calls.h"

static char text[5000];
static struct stat st;

static void say_stat(const char *what, int result)
{
    if (calls_say(what, result) == 0)
        calls_say(S_ISDIR(st.st_mode) ? "directory" : "size", S_ISDIR(st.st_mode) ? 0 : (long)st.st_size);
    if (result == 0)
        calls_say("mode", st.st_mode);
}

/* ---- names ---- */

static void do_rename(void)
{
    close(calls_file("rename1", "one"));
    close(calls_file("rename2", "two"));
    SAY(rename("rename1", "rename3"));
    SAY(rename("rename2", "rename3"));
    SAY(rename("none", "rename3"));
    SAY(renameat(AT_FDCWD, "rename3", AT_FDCWD, "rename1"));
    close(calls_file("rename2", "two again"));
    SAY(renameat2(AT_FDCWD, "rename1", AT_FDCWD, "rename2", RENAME_EXCHANGE));
    SAY(renameat2(AT_FDCWD, "rename1", AT_FDCWD, "rename2", RENAME_NOREPLACE));
    SAY(renameat2(AT_FDCWD, "rename1", AT_FDCWD, "rename4", RENAME_NOREPLACE));
    SAY(link("rename4", "rename5"));
    SAY(rename("rename4", "rename5"));
}

static void do_unlink(void)
{
    static const char *const files[] = {"unlink1", "unlink2", "unlink3", "unlink4"};

    for (int i = 0; i < 4; i++)
        close(calls_file(files[i], "text"));
    SAY(unlink("unlink1"));
    SAY(unlink("unlink1"));
    SAY(unlinkat(AT_FDCWD, "unlink2", 0));
    SAY(remove("unlink3"));
    SAY(mkdir("unlink5", 0700));
    SAY(remove("unlink5"));
    SAY(mkdir("unlink5", 0700));
    SAY(unlinkat(AT_FDCWD, "unlink5", AT_REMOVEDIR));
}

static void do_rmdir(void)
{
    mkdir("rmdir", 0700);
    mkdir("rmdir/inner", 0700);
    SAY(rmdir("rmdir"));
    SAY(rmdir("rmdir/inner"));
    SAY(rmdir("rmdir"));
    SAY(rmdir("rmdir"));
    SAY(mkdir("rmdir", 0700));
}

static void do_mkdir(void)
{
    SAY(mkdir("mkdir", 0750));
    SAY(mkdir("mkdir", 0750));
    SAY(mkdirat(AT_FDCWD, "mkdir/inner", 0700));
    SAY(mkdir("none/inner", 0700));
}

static void do_link(void)
{
    close(calls_file("link1", "text"));
    SAY(link("link1", "link2"));
    SAY(link("link1", "link2"));
    SAY(linkat(AT_FDCWD, "link1", AT_FDCWD, "link3", 0));
    SAY(unlink("link1"));
    SAY(link("link1", "link4"));
}

static void do_symlink(void)
{
    SAY(symlink("where", "symlink1"));
    SAY(symlink("where", "symlink1"));
    SAY(symlinkat("elsewhere", AT_FDCWD, "symlink2"));
}

static void do_mknod(void)
{
    SAY(mkfifo("mkfifo", 0600));
    SAY(mkfifo("mkfifo", 0600));
    SAY(mkfifoat(AT_FDCWD, "mkfifoat", 0640));
    SAY(mknod("mknod", S_IFREG | 0640, 0));
    SAY(mknodat(AT_FDCWD, "mknodat", S_IFIFO | 0640, 0));
}

static void do_temporary(void)
{
    char a[] = "tmpXXXXXX", b[] = "tmp.XXXXXX.t", c[] = "dirXXXXXX";
    int fd = (int)SAY(mkstemp(a));

    calls_told(a, sizeof a);
    SAY(write(fd, "text", 4));
    SAY(rename(a, "mkstemp"));
    close(fd);
    fd = (int)SAY(mkostemps(b, 2, O_APPEND));
    calls_told(b, sizeof b);
    SAY(write(fd, "text", 4));
    close(fd);
    SAY(rename(b, "mkostemps"));
    SAY(mkdtemp(c) == c);
    calls_told(c, sizeof c);
    SAY(rename(c, "mkdtemp"));
}

/* ---- questions ---- */

static void do_stat(void)
{
    struct statx sx = {0};

    close(calls_file("stat", "text"));
    symlink("stat", "stat.link");
    say_stat("stat", stat("stat.link", &st));
    say_stat("lstat", lstat("stat.link", &st));
    say_stat("fstatat", fstatat(AT_FDCWD, "stat", &st, 0));
    say_stat("stat", stat("none", &st));
    SAY(statx(AT_FDCWD, "stat", 0, STATX_SIZE, &sx));
    SAY(sx.stx_size);
    calls_told(&sx, sizeof sx);
}

static void do_fstat(void)
{
    int fd = calls_file("fstat", "text");

    say_stat("fstat", fstat(fd, &st));
    calls_told(&st, sizeof st);
    say_stat("fstat", fstat(-1, &st));
    close(fd);
}

static void do_statfs(void)
{
    int fd = calls_file("statfs", "text");
    struct statvfs sv;
    struct statfs sf;

    SAY(statfs(".", &sf));
    calls_told(&sf, sizeof sf);
    SAY(fstatfs(fd, &sf));
    SAY(statvfs(".", &sv));
    calls_told(&sv, sizeof sv);
    SAY(fstatvfs(fd, &sv));
    close(fd);
}

static void do_access(void)
{
    close(calls_file("access", "text"));
    SAY(access("access", R_OK));
    SAY(access("none", R_OK));
    SAY(faccessat(AT_FDCWD, "access", W_OK, 0));
    SAY(euidaccess("access", R_OK));
    SAY(eaccess("none", R_OK));
}

static void do_readlink(void)
{
    symlink("where it is", "readlink");
    calls_say_bytes("readlink", text, readlink("readlink", text, sizeof text));
    calls_say_bytes("readlinkat", text, readlinkat(AT_FDCWD, "readlink", text, 5));
    SAY(readlink("none", text, sizeof text));
}

static void do_realpath(void)
{
    char *path;

    close(calls_file("realpath", "text"));
    symlink("./realpath", "realpath.link");
    path = realpath("realpath.link", NULL);
    SAY(path ? strcmp(strrchr(path, '/'), "/realpath") : -1);
    free(path);
    path = canonicalize_file_name("none/x");
    SAY(path ? 0 : -1);
}

static long sum;

static void add(const char *name)
{
    uint32_t h = 77;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    sum += h;
}

static void make_tree(void)
{
    mkdir("tree", 0755);
    mkdir("tree/inner", 0755);
    close(calls_file("tree/a", "text"));
    close(calls_file("tree/inner/b", "text"));
}

static int all(const struct dirent *e) { return e->d_name[0] != '.'; }

static void do_opendir(void)
{
    struct dirent **list, *e;
    DIR *d;
    int fd;

    make_tree();
    d = opendir("tree");
    sum = 0;
    while ((e = readdir(d)))
        add(e->d_name);
    close(calls_file("tree/c", "text"));
    SAY(sum);
    rewinddir(d);
    while ((e = readdir(d)))
        add(e->d_name);
    SAY(sum);
    seekdir(d, telldir(d));
    SAY(dirfd(d));
    SAY(closedir(d));
    SAY(opendir("none") ? 0 : -1);
    fd = open("tree/inner", O_RDONLY | O_DIRECTORY);
    d = fdopendir(fd);
    while ((e = readdir(d)))
        add(e->d_name);
    SAY(sum);
    SAY(closedir(d));
    fd = scandir("tree", &list, all, alphasort);
    SAY(fd);
    for (int i = 0; i < fd; i++) {
        calls_say(list[i]->d_name, i);
        free(list[i]);
    }
    free(list);
}

static int walked(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s;
    add(path);
    sum += type * 3 + f->level;
    return 0;
}

static void do_nftw(void)
{
    make_tree();
    sum = 0;
    SAY(nftw("tree", walked, 8, FTW_PHYS));
    SAY(sum);
    SAY(nftw("tree", walked, 1, FTW_DEPTH));
    SAY(sum);
}

static void do_glob(void)
{
    glob_t g;

    make_tree();
    SAY(glob("tree/*", 0, NULL, &g));
    for (size_t i = 0; i < g.gl_pathc; i++)
        calls_say(g.gl_pathv[i], (long)i);
    globfree(&g);
    SAY(glob("nothing*", 0, NULL, &g));
}

/* ---- attributes ---- */

static void do_chmod(void)
{
    int fd = calls_file("chmod", "text");

    SAY(chmod("chmod", 0600));
    SAY(fchmod(fd, 0640));
    SAY(fchmodat(AT_FDCWD, "chmod", 0604, 0));
    SAY(chmod("none", 0600));
    close(fd);
}

static void do_chown(void)
{
    int fd = calls_file("chown", "text");

    SAY(chown("chown", getuid(), getgid()));
    SAY(fchown(fd, getuid(), getgid()));
    SAY(lchown("chown", (uid_t)-1, getgid()));
    SAY(fchownat(AT_FDCWD, "none", getuid(), getgid(), 0));
    close(fd);
}

static void do_utime(void)
{
    struct timespec t[2] = {{1000000, 5}, {2000000, 7}};
    struct timeval v[2] = {{3000000, 5}, {4000000, 7}};
    int fd = calls_file("utime", "text");

    SAY(utimensat(AT_FDCWD, "utime", t, 0));
    SAY(futimens(fd, t));
    SAY(utimes("utime", v));
    SAY(futimes(fd, v));
    SAY(utime("utime", &(struct utimbuf){5000000, 6000000}));
    SAY(stat("utime", &st));
    SAY(st.st_mtim.tv_sec);
    close(fd);
}

static void do_xattr(void)
{
    int fd = calls_file("xattr", "text");

    SAY(setxattr("xattr", "user.a", "value", 5, XATTR_CREATE));
    SAY(setxattr("xattr", "user.a", "value", 5, XATTR_CREATE));
    SAY(setxattr("xattr", "user.a", "other", 5, XATTR_REPLACE));
    SAY(fsetxattr(fd, "user.b", "more", 4, 0));
    SAY(getxattr("xattr", "user.a", text, 100));
    SAY(fgetxattr(fd, "user.b", text, 100));
    SAY(listxattr("xattr", text, 100));
    SAY(removexattr("xattr", "user.a"));
    SAY(removexattr("xattr", "user.a"));
    SAY(fremovexattr(fd, "user.b"));
    SAY(lgetxattr("xattr", "user.b", text, 100));
    close(fd);
}

static void do_chdir(void)
{
    int here = open(".", O_RDONLY | O_DIRECTORY);

    mkdir("chdir", 0755);
    SAY(chdir("chdir"));
    close(calls_file("inside", "text"));
    SAY(rename("../chdir", "../chdir2"));
    SAY(umask(027));
    close(calls_file("masked", "text"));
    SAY(chdir("none"));
    SAY(fchdir(here));
    SAY(umask(022));
    close(here);
}

static void do_getcwd(void)
{
    char *path = get_current_dir_name();

    calls_say("getcwd", getcwd(text, sizeof text) && path && strcmp(text, path) == 0);
    SAY(getcwd(text, 2) ? 0 : -1);
    free(path);
}

const struct calls_row calls_of_names[] = {
    {"rename", do_rename, 0}, {"unlink", do_unlink, 0}, {"rmdir", do_rmdir, 0}, {"mkdir", do_mkdir, 0}, {"link", do_link, 0},
    {"symlink", do_symlink, 0}, {"mknod", do_mknod, 0}, {"mkstemp", do_temporary, 0}, {"stat", do_stat, 0}, {"fstat", do_fstat, 0},
    {"statfs", do_statfs, 0}, {"access", do_access, 0}, {"readlink", do_readlink, 0}, {"realpath", do_realpath, 0},
    {"opendir", do_opendir, 0}, {"nftw", do_nftw, 0}, {"glob", do_glob, 0}, {"chmod", do_chmod, 0}, {"chown", do_chown, 0},
    {"utimensat", do_utime, 0}, {"xattr", do_xattr, 0}, {"chdir", do_chdir, 0}, {"getcwd", do_getcwd, 0}, {NULL, NULL, 0},
};
