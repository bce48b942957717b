/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ft/base/util.h"

enum { GAP = 2, LEAST = 6 /* columns of a cell */, INDENT = 4, SIZE_MOST = 10000 };

/* How much of text fits into room, up to and with the last space or comma in it, and the spaces after it. */
static size_t fits(const char *text, size_t room)
{
    size_t n = strlen(text);

    if (n <= room)
        return n;
    for (n = room; n > 0 && text[n - 1] != ' ' && text[n - 1] != ','; n--)
        ;
    n = n ? n : room;
    return n + strspn(text + n, " ");
}

/* The longest piece that is not broken. */
static size_t longest(const char *text)
{
    size_t most = 0;

    while (*text) {
        size_t n = strcspn(text, " ,");

        n += text[n] == ',';
        most = ft_max(most, n);
        text += n + strspn(text + n, " ");
    }
    return most;
}

/* The widest that may still lose something does, until all fit. False: they cannot. */
static bool narrow(size_t width[FT_TABLE_COLUMNS], const size_t least[FT_TABLE_COLUMNS], int ncells, size_t columns)
{
    for (;;) {
        size_t sum = 0;
        int widest = -1;

        for (int c = 0; c < ncells; c++) {
            sum += width[c] + (c ? GAP : 0);
            if (width[c] > least[c] && (widest < 0 || width[c] > width[widest]))
                widest = c;
        }
        if (sum <= columns || widest < 0)
            return sum <= columns;
        width[widest]--;
    }
}

/* One row of text: what is left of each cell. */
static void print_lines(FILE *to, const char *cells[FT_TABLE_COLUMNS], const size_t width[FT_TABLE_COLUMNS])
{
    bool more = true;

    while (more) {
        size_t behind = 0;

        more = false;
        for (int c = 0; c < FT_TABLE_COLUMNS; c++) {
            size_t n = fits(cells[c], width[c]), shown = n;

            while (shown && cells[c][shown - 1] == ' ')
                shown--;
            if (shown)
                fprintf(to, "%*s%.*s", (int)behind, "", (int)shown, cells[c]);
            behind = (shown ? 0 : behind) + width[c] - shown + GAP;
            cells[c] += n;
            more |= *cells[c];
        }
        fputc('\n', to);
    }
}

void ft_table_print(FILE *to, const char *const heads[FT_TABLE_COLUMNS], size_t nrows, const struct ft_table_row *(*row)(const void *arg, size_t i),
                    const void *arg, size_t columns)
{
    size_t width[FT_TABLE_COLUMNS], least[FT_TABLE_COLUMNS];
    int ncells = 0;

    for (int c = 0; c < FT_TABLE_COLUMNS; c++) {
        width[c] = strlen(heads[c]);
        least[c] = longest(heads[c]);
        for (size_t i = 0; i < nrows; i++) {
            width[c] = ft_max(width[c], strlen(row(arg, i)->cells[c]));
            least[c] = ft_max(least[c], longest(row(arg, i)->cells[c]));
        }
        ncells = width[c] ? c + 1 : ncells;
    }
    if (columns && !narrow(width, least, ncells, columns)) /* then words are broken */
        narrow(width, (const size_t[FT_TABLE_COLUMNS]){LEAST, LEAST, LEAST, LEAST, LEAST}, ncells, columns);
    for (size_t i = 0; i <= nrows; i++) {
        const char *cells[FT_TABLE_COLUMNS];

        for (int c = 0; c < FT_TABLE_COLUMNS; c++)
            cells[c] = i ? row(arg, i - 1)->cells[c] : heads[c];
        print_lines(to, cells, width);
    }
}

void ft_table_line(FILE *to, const char *line, size_t columns)
{
    size_t room = columns > 2 * INDENT ? columns : strlen(line) + 1;

    for (size_t indent = 0; *line; indent = INDENT) {
        size_t n = fits(line, room - indent), shown = n;

        while (shown > 1 && line[shown - 1] == ' ')
            shown--;
        fprintf(to, "%*s%.*s\n", (int)indent, "", (int)shown, line);
        line += n;
    }
}

void ft_table_terminal(int fd, size_t *columns, size_t *lines)
{
    const char *given = getenv("COLUMNS");
    long n = given ? strtol(given, NULL, 10) : 0;
    struct winsize size;

    *columns = *lines = 0;
    if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size)) {
        *columns = size.ws_col;
        *lines = size.ws_row;
    }
    if (n > 0 && n < SIZE_MOST)
        *columns = (size_t)n;
}
