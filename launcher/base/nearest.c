/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/nearest.h"

#include "ft/base/util.h"

enum { LONGEST = 64 };

size_t ft_nearest_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[LONGEST + 1]; /* distances of the first i of a from the first j of b, one i after the other */

    if (na > LONGEST || nb > LONGEST)
        return LONGEST + 1;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = ft_min(change, ft_min(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}
