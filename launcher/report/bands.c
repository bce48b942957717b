/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/bands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

/* Of Okabe and Ito's palette, or near it: told apart by those who do not see all colours, and by their brightness. */
const struct ft_band_style ft_band_styles[FT_BANDS] = {
    [FT_BAND_COMPUTING] = {"c", "#0072b2", "computing"},
    [FT_BAND_IN_MPI] = {"m", "#a6d3f2", "in MPI"},
    [FT_BAND_REPLAYING] = {"r", "#e69f00", "replaying"},
    [FT_BAND_STARTING] = {"s", "#f0e442", "before MPI_Init"},
    [FT_BAND_DEAD] = {"d", "#4d4d4d", "dead"},
};

struct ft_bands {
    const struct ft_timeline *t;
    const struct ft_grid *grid;
    struct ft_cell *sums;       /* by column */
    int (*tops)[FT_BANDS];      /* by column: where each band ends, in steps */
};

struct ft_bands *ft_bands_new(const struct ft_timeline *t, const struct ft_grid *grid)
{
    struct ft_bands *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    *b = (struct ft_bands){.t = t, .grid = grid};
    b->sums = calloc(grid->ncolumns, sizeof *b->sums);
    b->tops = calloc(grid->ncolumns, sizeof *b->tops);
    if (b->sums && b->tops)
        return b;
    ft_bands_free(b);
    return NULL;
}

static void add_rank(struct ft_bands *b, uint32_t rank)
{
    const struct ft_cell *cells = ft_timeline_row(b->t, rank);
    uint32_t per = b->grid->per_column, n = (uint32_t)ft_min(b->t->ncells, (uint64_t)b->grid->ncolumns * per);

    for (uint32_t i = 0; i < n; i++)
        ft_timeline_add(&b->sums[i / per], &cells[i]);
}

/* FT_BANDS: none. */
static enum ft_band band_of(int activity)
{
    static const enum ft_band of[] = {
        [FT_COMPUTING] = FT_BAND_COMPUTING, [FT_IN_MPI] = FT_BAND_IN_MPI, [FT_REPLAYING] = FT_BAND_REPLAYING,
        [FT_STARTING] = FT_BAND_STARTING, [FT_CLEARING] = FT_BAND_DEAD, [FT_DEAD] = FT_BAND_DEAD, [FT_DONE] = FT_BANDS,
    };

    return of[activity];
}

static int highest(const int *heights)
{
    int found = 0;

    for (int i = 1; i < FT_BANDS; i++)
        found = heights[i] > heights[found] ? i : found;
    return found;
}

/* What is rare is seen all the same, except of the two bands that make up most of every job; the highest one gives way. */
static void stack(const struct ft_cell *cell, int steps, int *tops)
{
    uint32_t seen[FT_BANDS + 1] = {0}, all = 0;
    int heights[FT_BANDS], sum = 0, top = 0;

    for (int a = 0; a < FT_ACTIVITIES; a++) {
        seen[band_of(a)] += cell->seen[a];
        all += cell->seen[a];
    }
    for (int i = 0; i < FT_BANDS; i++) {
        heights[i] = all ? (int)(((uint64_t)seen[i] * (uint64_t)steps + all / 2) / all) : 0;
        if (seen[i] && !heights[i] && i >= FT_BAND_REPLAYING)
            heights[i] = 1;
        sum += heights[i];
    }
    for (; sum > steps; sum--)
        heights[highest(heights)]--;
    if (all && !seen[FT_BANDS])
        heights[highest(heights)] += steps - sum;
    for (int i = 0; i < FT_BANDS; i++)
        tops[i] = top += heights[i];
}

void ft_bands_take(struct ft_bands *b, uint32_t row)
{
    uint32_t first = row * b->grid->per_row, end = (uint32_t)ft_min(b->t->nranks, first + b->grid->per_row);

    memset(b->sums, 0, b->grid->ncolumns * sizeof *b->sums);
    for (uint32_t rank = first; rank < end; rank++)
        add_rank(b, rank);
    for (uint32_t c = 0; c < b->grid->ncolumns; c++)
        stack(&b->sums[c], b->grid->steps, b->tops[c]);
}

static bool has(const struct ft_bands *b, uint32_t column, int band)
{
    return column < b->grid->ncolumns && b->tops[column][band] > (band ? b->tops[column][band - 1] : 0);
}

/* One outline for each run of columns that have something of the band. It goes down to the row's floor: the bands below are drawn over
   it, and no gap shows between them. */
static void put_band(const struct ft_bands *b, int band, FILE *out)
{
    bool begun = false;

    for (uint32_t c = 0; c < b->grid->ncolumns; c++) {
        if (!has(b, c, band))
            continue;
        if (!begun)
            fprintf(out, "<path class=\"%s\" d=\"", ft_band_styles[band].class);
        begun = true;
        fprintf(out, "M%" PRIu32 " 0", c);
        while (has(b, c, band)) {
            uint32_t first = c;
            int top = b->tops[c][band];

            while (has(b, c, band) && b->tops[c][band] == top)
                c++;
            fprintf(out, "V%dh%" PRIu32, top, c - first);
        }
        fputs("V0z", out);
    }
    if (begun)
        fputs("\"/>\n", out);
}

void ft_bands_put(const struct ft_bands *b, const char *transform, FILE *out)
{
    fprintf(out, "<g transform=\"%s\">\n", transform);
    for (int band = FT_BANDS - 1; band >= 0; band--)
        put_band(b, band, out);
    fputs("</g>\n", out);
}

double ft_bands_share(const struct ft_bands *b, enum ft_band band)
{
    double part = 0, columns = 0;

    for (uint32_t c = 0; c < b->grid->ncolumns; c++) {
        double seen = 0, all = 0;

        for (int a = 0; a < FT_ACTIVITIES; a++) {
            seen += band_of(a) == band ? b->sums[c].seen[a] : 0;
            all += b->sums[c].seen[a];
        }
        part += all > 0 ? seen / all : 0;
        columns += all > 0;
    }
    return columns > 0 ? part / columns : 0;
}

uint32_t ft_bands_cuts(const struct ft_bands *b, uint32_t column)
{
    return b->sums[column].cuts;
}

void ft_bands_free(struct ft_bands *b)
{
    if (!b)
        return;
    free(b->sums);
    free(b->tops);
    free(b);
}
