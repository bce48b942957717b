/* SPDX-License-Identifier: BSD-3-Clause */
/* How the hosts of this job find each other, as far as the user has said so: by --rdzv, --nodes and --rdzv-secret-file, by
   FTMPI_SECRET_FILE and FTMPI_RDZV_PASSWORD, or, if no option says otherwise, by torchrun's PET_*, or by what an operator of
   Kubernetes' tells its pods (kubernetes.h). This is the one place where that becomes settings. */
#ifndef LAUNCHER_OPTIONS_RENDEZVOUS_H
#define LAUNCHER_OPTIONS_RENDEZVOUS_H

#include "launcher/options/options.h"
#include "launcher/rdzv/doc.h"
#include "launcher/rdzv/settings.h"

struct ft_rendezvous {
    struct ft_rdzv_settings settings;  /* checked */
    const char *secret_file;           /* NULL: none */
    char password[FT_RDZV_TEXT];       /* in the place of the settings'; empty: none */
    char name[FT_RDZV_NAME + 1];       /* of this host */
    uint32_t slots;                    /* ranks that this host takes */
};

/* Sets o->rendezvous, or leaves it NULL: the job is no such. What is secret is written over where ps shows it. FT_EINVAL with a line. */
int ft_rendezvous_take(struct ft_options *o, struct ft_error *e);

/* Overwrites what is secret, and frees. NULL: there is none. */
void ft_rendezvous_free(struct ft_rendezvous *r);

#endif
