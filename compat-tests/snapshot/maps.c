/* SPDX-License-Identifier: BSD-3-Clause */
/* Mapped files. input: its own executable, which is old, read only, mapped anew now and then. private: the same, and each round counts in
   pages of its own. shared: a file that is written by its mapping. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rounds.h"

enum { BYTES = 16384, RENEW = 16 };

static unsigned char *map(const struct rounds *r, int protection, int flags)
{
    bool shared = !strcmp(r->what, "shared");
    int file = shared ? open(rounds_path(r, "maps"), O_RDWR | O_CREAT | O_TRUNC, 0600) : open("/proc/self/exe", O_RDONLY);
    unsigned char *at;
    struct stat st;

    MUST(r, file >= 0 && (!shared || ftruncate(file, BYTES) == 0) && fstat(file, &st) == 0 && st.st_size >= BYTES);
    at = mmap(NULL, BYTES, protection, flags, file, 0);
    MUST(r, at != MAP_FAILED && close(file) == 0);
    return at;
}

int main(int argc, char **argv)
{
    struct rounds r;
    bool input;
    unsigned char *at;

    rounds_begin(&r, argc, argv);
    input = !strcmp(r.what, "input");
    MUST(&r, input || !strcmp(r.what, "private") || !strcmp(r.what, "shared"));
    at = map(&r, input ? PROT_READ : PROT_READ | PROT_WRITE, *r.what == 'p' ? MAP_PRIVATE : MAP_SHARED);
    while (rounds_more(&r)) {
        unsigned long place = rounds_draw(&r, 0) % BYTES;

        if (input && r.at % RENEW == 0) {
            MUST(&r, munmap(at, BYTES) == 0);
            at = map(&r, PROT_READ, MAP_SHARED);
        }
        if (!input)
            at[place]++;
        rounds_mix(&r, at[place] + at[place / 2]);
    }
    return rounds_end(&r);
}
