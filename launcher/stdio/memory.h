/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks' output and input need to survive a launcher process (RULE 23): shared mappings and descriptors, made
   before the first fork. Every process of the job has them at the same address and under the same numbers; at any time one
   of them, the agent, writes. A successor goes on from what it finds: forward.h and spool.h say what that can be.

   What a dead process has stored is seen in the order of its program: a signal comes between two instructions, and
   whoever knows of the death comes after all it did. So only the compiler has to be kept from changing the order of stores
   that matter: ft_stdio_order(). */
#ifndef LAUNCHER_STDIO_MEMORY_H
#define LAUNCHER_STDIO_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/stdio/lines.h"
#include "launcher/stdio/output_dir.h"
#include "launcher/stdio/store.h"

enum { FT_INTAKE_BYTES = 64 << 10 /* a pipe's capacity */, FT_MARKS = 2 /* of checkpoints: the slots of ft/shm/layout.h */ };

struct ft_stdio_config {
    uint32_t nranks;
    bool keep;               /* ranks may be restarted: keep hashes of their lines */
    bool merge;              /* a rank's stderr is its stdout */
    const uint32_t *ranks;   /* one node of several: its ranks' numbers in the job, and what they print is spooled as records (wire.h), both
                                streams in one; NULL: as it is */
    const char *output_dir;  /* --output-filename, which has been made; NULL: none */
    const char *store_dir;   /* for a file that keeps standard input; NULL: no rank reads it */
};

/* Of one stream: a rank's stdout or stderr, over all incarnations. */
struct ft_stream_state {
    struct ft_lines_state lines;
    uint64_t written;        /* bytes in its file, with output_dir */
};

/* A change that is made at once: from the store of 1 to `valid` on it has happened, whoever copies the rest. */
struct ft_stdio_commit {
    _Atomic uint32_t valid;
    uint32_t stream;
    struct ft_stream_state state;
    uint64_t taken, tail;
};

/* One of ftrun's own output descriptors: spool.h. */
struct ft_spool_state {
    uint64_t tail;           /* bytes to be written, ever; the spool file's position: bytes that have been */
    uint32_t last;           /* stream of a rank's that they end with, if they do not end a line */
    bool dead;               /* nobody reads: drop */
    int error;               /* why, if it is worth telling */
    uint64_t from, len;      /* a write() that is about to happen: these bytes of the spool, */
    int64_t at, size;        /*   with the output's position and size before it */
};

struct ft_stdio_shared {
    struct ft_stdio_commit commit;
    struct ft_spool_state spools[2];
    uint32_t source;         /* stream whose bytes are in the intake */
    uint64_t taken;          /* of them; its file's position: bytes that were put there */
    bool stdin_ended;        /* nothing more will come from it */
    bool file_failed;        /* a file of output_dir cannot be written, and it has been told */
    struct ft_stream_state streams[]; /* 2 * rank + which */
};

struct ft_spool {
    struct ft_spool_state *state;
    int fd;
    uint64_t written, punched; /* written: a copy of the file's position */
    bool by_write;             /* the output does not take sendfile() */
};

struct ft_stdio_memory {
    struct ft_stdio_config config;
    struct ft_output_dir dir; /* with config.output_dir */
    struct ft_stdio_shared *shared;
    size_t shared_bytes;
    bool *told;              /* in shared memory, per rank: a difference has been reported */
    uint32_t *hashes;        /* room for each stream */
    uint64_t room;
    char *parts;             /* longest for each stream */
    struct ft_lines_mark *marks; /* FT_MARKS for each stream */
    char *long_parts;        /* longest for each mark */
    uint32_t longest;
    int intake_fd;
    const char *intake;      /* its mapping */
    struct ft_spool spools[2];
    struct ft_store store;   /* standard input */
    bool one_sink;           /* our stdout and stderr lead to the same place */
};

static inline void ft_stdio_order(void) { atomic_signal_fence(memory_order_seq_cst); }

/* NULL with a line. */
struct ft_stdio_memory *ft_stdio_memory_new(const struct ft_stdio_config *config, struct ft_error *e);

struct ft_lines ft_stdio_lines(const struct ft_stdio_memory *m, uint32_t stream);

/* One of a stream's marks. Which of them is good is known to who had it made. */
struct ft_lines_mark *ft_stdio_mark(const struct ft_stdio_memory *m, uint32_t stream, int which);

/* Where such a mark has an unfinished line that it does not hold itself. */
char *ft_stdio_long_part(const struct ft_stdio_memory *m, uint32_t stream, int which);

/* The spool for a stream's output. */
struct ft_spool *ft_stdio_spool(struct ft_stdio_memory *m, uint32_t stream);

/* The mappings and descriptors of this process. */
void ft_stdio_memory_free(struct ft_stdio_memory *m);

#endif
