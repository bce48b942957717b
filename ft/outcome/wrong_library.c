/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that could not be loaded because it is made for another MPI: a module of Python's above all. The loader says which file or
   which name is missing; that it is a matter of MPI, and what helps, is said here, if the process then fails.

   Whoever asks the loader for a library asks it what went wrong (dlerror), with whatever name the library was asked for: so that is the
   place to listen. Programs try one library after the other, too, and find one: then nothing is said. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 300 };

static struct {
    char *(*real)(void);
    char text[TEXT];      /* the last complaint that is about an MPI */
} loader;

/* Before anybody has an error: looking for the function would be the last thing that went well. */
static __attribute__((constructor)) void find(void) { *(void **)&loader.real = dlsym(RTLD_NEXT, "dlerror"); }

/* Open MPI's library, in whose place ours is, is libmpi.so.40; the others are MPICH's. */
static bool is_about_mpi(const char *text)
{
    const char *name = strstr(text, "undefined symbol: "), *library = strstr(text, "libmpi");

    if (name) {
        name += strlen("undefined symbol: ");
        return !strncmp(name, "MPI_", 4) || !strncmp(name, "PMPI_", 5) || !strncmp(name, "MPIX_", 5) || !strncmp(name, "ompi_", 5);
    }
    return library && strstr(text, "cannot open shared object file") &&
           (!strncmp(library, "libmpich", 8) || !strncmp(library, "libmpi.so.", 10) || strstr(library, ".so.12"));
}

static void tell(int status, void *unused)
{
    char host[HOST_NAME_MAX + 1] = "unknown host";

    (void)unused;
    if (!status || !loader.text[0])
        return;
    gethostname(host, sizeof host - 1);
    fprintf(stderr, "ftmpi: rank %s on %s could not load a library that is made for another MPI than Open MPI 4.1's interface (%s): "
            "build it with ftmpicc; mpi4py: python3 -m pip install --force-reinstall --only-binary :all: mpi4py\n",
            getenv("FTMPI_RANK"), host, loader.text);
    loader.text[0] = 0;
}

char *dlerror(void) __attribute__((visibility("default")));
char *dlerror(void)
{
    static bool listens;
    char *text = loader.real ? loader.real() : NULL;

    if (!text || !getenv("FTMPI_RANK") || !is_about_mpi(text))
        return text;
    if (!listens)
        listens = on_exit(tell, NULL) == 0;
    snprintf(loader.text, sizeof loader.text, "%s", text);
    return text;
}
