/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/nearest.h"

#include "ft/base/util.h"

enum { LONGEST = 64 };

size_t ft_nearest_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][LONGEST + 1]; /* distances of the first i of a from the first j of b; of the last three i */

    if (na > LONGEST || nb > LONGEST)
        return LONGEST + 1;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *second = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = ft_min(above[j - 1] + (a[i - 1] != b[j - 1]), ft_min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = ft_min(row[j], second[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}
