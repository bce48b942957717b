/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that train with XGBoost each for itself, though they are several: --rabit was forgotten, or the communicator was. Then N
   models come out, and rank 0 says so when training begins; or a rank ends with a Python assertion that has no text, after a line
   of its own that says why.

   Two functions that libxgboost 1.7 calls through its PLT tell of it: one that makes a communicator, and one that looks at the
   data of a training. These stand in front of them, as libftmpi_rabit does in front of others. A libxgboost that binds such calls
   itself is not seen. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define INIT "_ZN7xgboost10collective12Communicator4InitERKNS_4JsonE"
#define VALIDATE "_ZNK7xgboost11LearnerImpl15ValidateDMatrixEPNS_7DMatrixEb"

/* libftmpi_rabit's: this process has had a communicator. Without --rabit there is no such function. */
extern bool ftmpi_rabit_used(void) __attribute__((weak));

typedef void init(const void *arguments);
typedef void validate(const void *learner, void *data, bool training);
typedef int distributed(void);

/* The library's that the caller is in; NULL: it has none of that name. */
static void *theirs(const void *caller, const char *name)
{
    Dl_info info;
    void *library = dladdr(caller, &info) && info.dli_fname ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = NULL;

    if (library) {
        found = dlsym(library, name);
        dlclose(library);
    }
    return found;
}

static long number(const char *name)
{
    const char *text = getenv(name);

    return text ? strtol(text, NULL, 10) : -1;
}

/* Once. With a tracker of its own a program is not alone. */
static bool to_be_told(const void *caller)
{
    static bool told;
    distributed *is = NULL;

    if (told || number("FTMPI_SIZE") < 2)
        return false;
    *(void **)&is = theirs(caller, "XGCommunicatorIsDistributed");
    told = is && !is();
    return told;
}

static const char *here(void)
{
    static char host[HOST_NAME_MAX + 1] = "unknown host";

    gethostname(host, sizeof host - 1);
    return host;
}

/* xgboost::collective::Communicator::Init(Json const &). What it throws passes through here. */
void ft_xgboost_init(const void *arguments) __asm__(INIT) __attribute__((visibility("default")));
void ft_xgboost_init(const void *arguments)
{
    const void *caller = __builtin_return_address(0);
    init *real = NULL;

    *(void **)&real = theirs(caller, INIT);
    if (real)
        real(arguments);
    if (!ftmpi_rabit_used && to_be_told(caller))
        fprintf(stderr, "ftmpi: rank %ld on %s asks XGBoost for a communicator in a job without --rabit: there is none; start it with "
                "ftrun --rabit\n", number("FTMPI_RANK"), here());
}

/* xgboost::LearnerImpl::ValidateDMatrix(DMatrix *, bool) const, likewise. */
void ft_xgboost_validate(const void *learner, void *data, bool training) __asm__(VALIDATE) __attribute__((visibility("default")));
void ft_xgboost_validate(const void *learner, void *data, bool training)
{
    static validate *real;
    const void *caller = __builtin_return_address(0);

    if (!real)
        *(void **)&real = theirs(caller, VALIDATE);
    if (training && number("FTMPI_RANK") == 0 && !(ftmpi_rabit_used && ftmpi_rabit_used()) && to_be_told(caller)) {
        if (ftmpi_rabit_used)
            fprintf(stderr, "ftmpi: rank 0 on %s trains with XGBoost outside of a communicator: each of %ld ranks trains a model of its "
                    "own; put the training into `with xgboost.collective.CommunicatorContext():`\n", here(), number("FTMPI_SIZE"));
        else
            fprintf(stderr, "ftmpi: rank 0 on %s trains with XGBoost in a job without --rabit: each of %ld ranks trains a model of its "
                    "own; start it with ftrun --rabit\n", here(), number("FTMPI_SIZE"));
    }
    if (real)
        real(learner, data, training);
}
