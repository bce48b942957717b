/* SPDX-License-Identifier: BSD-3-Clause */
/* One row of the picture (svg.h): what one rank did, or several that share the row, as coloured bands on top of each other; in each
   column as high as the share of its time. */
#ifndef LAUNCHER_REPORT_BANDS_H
#define LAUNCHER_REPORT_BANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "launcher/report/timeline.h"

/* From bottom to top. */
enum ft_band { FT_BAND_COMPUTING, FT_BAND_IN_MPI, FT_BAND_REPLAYING, FT_BAND_STARTING, FT_BAND_DEAD, FT_BANDS };

/* Class in the picture's style sheet, its colour, and what the band is called. */
struct ft_band_style {
    const char *class, *colour, *text;
};
extern const struct ft_band_style ft_band_styles[FT_BANDS];

/* How cells become rows and columns. */
struct ft_grid {
    uint32_t per_row, nrows;        /* ranks in a row; rows */
    uint32_t per_column, ncolumns;  /* cells in a column; columns */
    int steps;                      /* heights of bands are so exact */
};

struct ft_bands;

/* t and grid stay the caller's and have to stay. NULL: no memory. */
struct ft_bands *ft_bands_new(const struct ft_timeline *t, const struct ft_grid *grid);

/* Takes a row to be asked for. */
void ft_bands_take(struct ft_bands *b, uint32_t row);

/* Draws it: columns are one wide and the row ft_grid.steps high, upwards; transform places it. Nothing seen: draws nothing. */
void ft_bands_put(const struct ft_bands *b, const char *transform, FILE *out);

/* The part of the row's time that went into a band; of all the time that the row's ranks were there. */
double ft_bands_share(const struct ft_bands *b, enum ft_band band);

/* Snapshots that were taken in a column. */
uint32_t ft_bands_cuts(const struct ft_bands *b, uint32_t column);

void ft_bands_free(struct ft_bands *b);

#endif
