/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/svg.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/report/bands.h"

/* Pixels, and characters. */
enum { WIDTH = 1000, LEFT = 76, RIGHT = 24, HOST_CHARS = 16, CHAR = 7, TOP = 92, HEIGHT_MAX = 1000, PITCH_MIN = 2,
       PITCH_MAX = 32, THIN = 8, LABEL_EVERY = 13, TITLE_CHARS = 84, CUT = 7 };
/* What bounds the file. */
enum { ROWS_MAX = 512, COLUMNS_OF_ALL = 60000, COLUMNS_MIN = 100, STEPS = 12, STEPS_THIN = 4, TITLES_MAX = 2000 };
enum { TICKS = 10 };

struct page {
    FILE *out;
    const struct ft_timeline *t;
    const struct ft_report *r;
    struct ft_grid grid;
    struct ft_bands *bands;
    bool *marked;          /* by row and column: a death is marked there */
    uint32_t ntitles;      /* of marks that tell of themselves */
    double seconds;        /* the job's */
    double left, plot;     /* where rows begin, and how long they are */
    double pitch, bar, gap; /* of a row; what of it is filled, and what is not: for snapshots */
    double cross, cut;     /* sizes of marks */
};

static double since_begin(const struct page *p, uint64_t at_ns)
{
    return ((double)at_ns - (double)p->t->begin_ns) / 1e9;
}

static double x_of(const struct page *p, double seconds)
{
    double part = seconds / p->seconds;

    return p->left + p->plot * (part < 0 ? 0 : part > 1 ? 1 : part);
}

static double y_of(const struct page *p, uint32_t row) { return TOP + p->pitch * row; }

static double bottom(const struct page *p) { return y_of(p, p->grid.nrows); }

static double column_seconds(const struct page *p) { return (double)ft_timeline_width(p->t) * p->grid.per_column / 1e9; }

/* ---- heading ---- */

/* Without what XML has no place for, at most `chars` characters of valid UTF-8. Returns how many are left; -1: it was too long. */
static int put_text(FILE *out, const char *text, int chars)
{
    for (; *text; text++) {
        if (((unsigned char)*text & 0xc0) != 0x80 && --chars < 0)
            return -1;
        if (*text == '<' || *text == '&' || *text == '>')
            fprintf(out, "&#%d;", *text);
        else if ((unsigned char)*text < ' ' || *text == 127)
            fputc(' ', out);
        else if (!strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3)) /* U+FFFE and U+FFFF */
            fputs("?", out), text += 2;
        else
            fputc(*text, out);
    }
    return chars;
}

static int put_word(FILE *out, const char *word, int chars)
{
    json_t *valid = json_string(word); /* NULL if it is not UTF-8 */
    int left = put_text(out, valid ? word : "?", chars);

    json_decref(valid);
    return left;
}

static void put_command(const struct page *p)
{
    int left = TITLE_CHARS;

    for (char **arg = p->r->argv; *arg && left >= 0; arg++) {
        if (arg != p->r->argv)
            left = put_text(p->out, " ", left);
        if (left >= 0)
            left = put_word(p->out, *arg, left);
    }
    if (left < 0)
        fputs("…", p->out);
}

/* "0.52 s", "65.2 s", "12:05 min", "3:20:00 h" */
static const char *span(double seconds, char *text, size_t size)
{
    unsigned long s = (unsigned long)(seconds + 0.5);

    if (s < 120)
        snprintf(text, size, "%.*f s", seconds < 1 ? 3 : seconds < 10 ? 2 : 1, seconds);
    else if (s < 7200)
        snprintf(text, size, "%lu:%02lu min", s / 60, s % 60);
    else
        snprintf(text, size, "%lu:%02lu:%02lu h", s / 3600, s / 60 % 60, s % 60);
    return text;
}

static void put_count(FILE *out, uint64_t n, const char *what)
{
    if (n)
        fprintf(out, " · %" PRIu64 " %s%s", n, what, ft_plural(n));
}

static void put_hosts(const struct page *p)
{
    const struct ft_report_hosts *hosts = p->r->hosts;
    int left = TITLE_CHARS / 2;

    if (!hosts)
        put_word(p->out, ft_say_host(), TITLE_CHARS);
    for (uint32_t i = 0; hosts && i < hosts->n && left >= 0; i++) {
        left = put_text(p->out, i ? ", " : "", left);
        left = left < 0 ? left : put_word(p->out, hosts->names[i], left);
    }
    if (left < 0)
        fputs("…", p->out);
}

static void put_heading(const struct page *p, int exit_code)
{
    time_t began = (time_t)p->r->began_at;
    uint64_t snapshots = 0;
    char text[64];
    struct tm tm;

    for (uint32_t i = 0; i < p->r->nranks; i++)
        snapshots += p->r->ranks[i].cuts;
    fprintf(p->out, "<text x=\"%d\" class=\"h\" y=\"26\">", LEFT);
    put_command(p);
    fprintf(p->out, "</text>\n<text x=\"%d\" y=\"46\">%u rank%s on ", LEFT, p->t->nranks, ft_plural(p->t->nranks));
    put_hosts(p);
    gmtime_r(&began, &tm);
    strftime(text, sizeof text, "%F %T UTC", &tm);
    fprintf(p->out, " · %s", text);
    fprintf(p->out, " · %s", span(p->seconds, text, sizeof text));
    put_count(p->out, p->r->hosts ? p->r->hosts->nlosses : 0, "lost host");
    put_count(p->out, p->r->nrestarts, "restart");
    put_count(p->out, snapshots, "snapshot");
    if (exit_code == FT_UNFINISHED)
        fputs(" · unfinished when this was drawn</text>\n", p->out);
    else
        fprintf(p->out, " · exit code %d</text>\n", exit_code);
}

static void put_cut(FILE *out, double x, double y, double size)
{
    fprintf(out, "M%.1f %.1fl%.1f-%.1f %.1f %.1fz", x - size / 2, y, size / 2, size, size / 2, size);
}

static void put_legend(const struct page *p)
{
    double x = LEFT;

    for (int i = 0; i < FT_BANDS; i++) {
        fprintf(p->out, "<rect class=\"%s\" x=\"%g\" y=\"61\" width=\"14\" height=\"12\"/><text x=\"%g\" y=\"71\">%s</text>\n",
                ft_band_styles[i].class, x, x + 20, ft_band_styles[i].text);
        x += 48 + 6.5 * (double)strlen(ft_band_styles[i].text);
    }
    fprintf(p->out, "<use href=\"#k\" x=\"%g\" y=\"67\"/><text x=\"%g\" y=\"71\">died</text>\n", x + 6, x + 18);
    fputs("<path class=\"t\" d=\"", p->out);
    put_cut(p->out, x + 70, 71, CUT);
    fprintf(p->out, "\"/><text x=\"%g\" y=\"71\">snapshot</text>\n", x + 82);
}

/* ---- axis ---- */

/* The smallest round step that makes at most TICKS of them. */
static double step_of(double seconds)
{
    static const double minutes[] = {60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200};

    for (double ten = 0.001; ten < 60; ten *= 10)
        for (int i = 0; i < 3; i++)
            if ((double[]){1, 2, 5}[i] * ten < 60 && seconds <= TICKS * (double[]){1, 2, 5}[i] * ten)
                return (double[]){1, 2, 5}[i] * ten;
    for (size_t i = 0; i < sizeof minutes / sizeof minutes[0]; i++)
        if (seconds <= TICKS * minutes[i])
            return minutes[i];
    return 86400 * (double)(unsigned long)(1 + seconds / (TICKS * 86400.0));
}

static void put_tick_text(FILE *out, double at, double step)
{
    unsigned long s = (unsigned long)(at + 0.5);

    if (step < 60)
        fprintf(out, s < 120 ? "%.5g s" : "%.7g s", at);
    else if (step < 3600)
        fprintf(out, "%lu min", s / 60);
    else
        fprintf(out, "%lu h", s / 3600);
}

static void put_axis(const struct page *p)
{
    double step = step_of(p->seconds), y = bottom(p);

    for (int i = 0; i * step <= p->seconds; i++) {
        fprintf(p->out, "<path class=\"g\" d=\"M%.2f %dV%.2f\"/><text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">", x_of(p, i * step), TOP,
                y + 5, x_of(p, i * step), y + 20);
        put_tick_text(p->out, i * step, step);
        fputs("</text>\n", p->out);
    }
}

/* ---- rows ---- */

static void put_row_name(const struct page *p, uint32_t row)
{
    uint32_t first = row * p->grid.per_row, last = (uint32_t)ft_min(p->t->nranks, first + p->grid.per_row) - 1;

    if (first != last) {
        fprintf(p->out, "%u–%u", first, last);
        return;
    }
    fprintf(p->out, "rank %u", first);
    if (p->r->hosts) {
        fputs(" · ", p->out);
        if (put_word(p->out, p->r->hosts->names[p->r->hosts->of_rank[first]], HOST_CHARS) < 0)
            fputs("…", p->out);
    }
}

static void put_cuts(const struct page *p, uint32_t row)
{
    bool begun = false;

    for (uint32_t c = 0; c < p->grid.ncolumns; c++) {
        if (!ft_bands_cuts(p->bands, c))
            continue;
        fputs(begun ? "" : "<path class=\"t\" d=\"", p->out);
        put_cut(p->out, x_of(p, (c + 0.5) * column_seconds(p)), y_of(p, row) + p->bar + p->gap, p->cut);
        begun = true;
    }
    fputs(begun ? "\"/>\n" : "", p->out);
}

static void put_row(const struct page *p, uint32_t row)
{
    char transform[128];

    ft_bands_take(p->bands, row);
    fputs("<g class=\"row\"><title>", p->out);
    put_row_name(p, row);
    for (int i = 0; i < FT_BANDS; i++) {
        double share = 100 * ft_bands_share(p->bands, (enum ft_band)i);

        if (share > 0)
            fprintf(p->out, "%s %s %.*f %%", i ? "," : ":", ft_band_styles[i].text, share < 10 ? 1 : 0, share);
    }
    fputs("</title>\n", p->out);
    snprintf(transform, sizeof transform, "matrix(%.8g 0 0 %.6g %g %.6g)", p->plot * column_seconds(p) / p->seconds, -p->bar / p->grid.steps,
             p->left, y_of(p, row) + p->bar);
    ft_bands_put(p->bands, transform, p->out);
    put_cuts(p, row);
    fputs("</g>\n", p->out);
}

/* 1, 2, 5, 10, ... */
static uint32_t label_every(const struct page *p)
{
    for (uint32_t ten = 1;; ten *= 10)
        for (int i = 0; i < 3; i++)
            if ((uint32_t[]){1, 2, 5}[i] * ten * p->pitch >= LABEL_EVERY)
                return (uint32_t[]){1, 2, 5}[i] * ten;
}

static void put_rows(const struct page *p)
{
    uint32_t every = label_every(p);

    fprintf(p->out, "<g clip-path=\"url(#plot)\"%s>\n", p->pitch >= THIN ? " shape-rendering=\"crispEdges\"" : "");
    for (uint32_t row = 0; row < p->grid.nrows; row++)
        put_row(p, row);
    fputs("</g>\n", p->out);
    for (uint32_t row = 0; row < p->grid.nrows; row += every) {
        fprintf(p->out, "<text x=\"%g\" y=\"%.2f\" text-anchor=\"end\">", p->left - 8, y_of(p, row) + p->bar / 2 + 4);
        put_row_name(p, row);
        fputs("</text>\n", p->out);
    }
}

/* ---- deaths ---- */

static void put_how(const struct page *p, const struct ft_restart *d)
{
    const char *name = sigabbrev_np(d->signal);
    int signal = d->signal;

    if (d->host_lost) {
        fputs("was lost with host ", p->out);
        put_word(p->out, p->r->hosts->names[d->host], TITLE_CHARS);
    } else if (d->lost && d->way == FT_BACK_ALL && p->r->hosts)
        fputs("was ended", p->out);
    else if (d->lost)
        fputs("was lost with a process of ftrun", p->out);
    else if (signal)
        fprintf(p->out, "died of signal %d%s%s", signal, name ? " SIG" : "", name ? name : "");
    else
        fprintf(p->out, "left with code %d", d->code);
}

static void put_aftermath(const struct page *p, const struct ft_restart *d)
{
    static const char *const ways[] = {
        [FT_BACK_SNAPSHOT] = "its snapshot went on", [FT_BACK_CHECKPOINT] = "it went on from its checkpoint",
        [FT_BACK_START] = "it was started again", [FT_BACK_ALL] = "all were started again",
    };
    char text[64];

    if (!d->started_ns)
        return;
    fprintf(p->out, "; %s", ways[d->way]);
    if (d->live_ns)
        fprintf(p->out, ", %s later it was where it had been, after a replay of %" PRIu64 " unit%s",
                span(since_begin(p, d->live_ns) - since_begin(p, d->died_ns), text, sizeof text), d->replayed, ft_plural(d->replayed));
}

/* At most one in a column of a row. */
static void put_death(struct page *p, const struct ft_restart *d)
{
    double at = since_begin(p, d->died_ns);
    uint32_t row = d->rank / p->grid.per_row;
    uint32_t column = (uint32_t)(at / column_seconds(p));
    bool *marked = &p->marked[row * p->grid.ncolumns + (column < p->grid.ncolumns ? column : p->grid.ncolumns - 1)];
    char text[64];

    if (*marked)
        return;
    *marked = true;
    fprintf(p->out, "<use href=\"#k\" x=\"%.1f\" y=\"%.1f\"", x_of(p, at), y_of(p, row) + p->bar / 2);
    if (p->ntitles++ >= TITLES_MAX) {
        fputs("/>\n", p->out);
        return;
    }
    fprintf(p->out, "><title>%s: rank %u ", span(at, text, sizeof text), d->rank);
    put_how(p, d);
    put_aftermath(p, d);
    fputs("</title></use>\n", p->out);
}

/* The death that ended the job: the first one that no restart followed. */
static bool find_end(const struct page *p, struct ft_restart *death)
{
    *death = (struct ft_restart){.died_ns = UINT64_MAX};
    for (uint32_t i = 0; i < p->r->nranks; i++) {
        const struct ft_rank_total *total = &p->r->ranks[i];

        if ((total->signal || total->code) && total->ended_ns < death->died_ns)
            *death = (struct ft_restart){.rank = i, .signal = total->signal, .code = total->code, .died_ns = total->ended_ns};
    }
    return death->died_ns != UINT64_MAX;
}

static void put_deaths(struct page *p)
{
    struct ft_restart end;

    for (uint64_t i = 0; i < p->r->nrestarts; i++)
        put_death(p, &p->r->restarts[i]);
    if (find_end(p, &end))
        put_death(p, &end);
}

/* ---- the whole ---- */

static void put_cross(const struct page *p, const char *colour, double width)
{
    double c = p->cross;

    fprintf(p->out, "<path stroke=\"%s\" stroke-width=\"%g\" d=\"M-%g -%gL%g %gM-%g %gL%g -%g\"/>", colour, width, c, c, c, c, c, c, c, c);
}

static void put_style(const struct page *p)
{
    fputs("<style>text{font:12px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#222}.h{font-size:16px;font-weight:bold}"
          ".g{stroke:#d8d8d8}", p->out);
    for (int i = 0; i < FT_BANDS; i++)
        fprintf(p->out, ".%s{fill:%s}", ft_band_styles[i].class, ft_band_styles[i].colour);
    fputs(".t{fill:#00644d;shape-rendering:auto}</style>\n", p->out);
    fprintf(p->out, "<defs><clipPath id=\"plot\"><rect x=\"%g\" y=\"%d\" width=\"%g\" height=\"%.2f\"/></clipPath>\n", p->left, TOP,
            p->plot, bottom(p) - TOP);
    fputs("<g id=\"k\" fill=\"none\">", p->out);
    put_cross(p, "#fff", 5);
    put_cross(p, "#c1121f", 2.2);
    fputs("</g></defs>\n", p->out);
}

static void put_page(struct page *p, int exit_code)
{
    double height = bottom(p) + 34;

    fprintf(p->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\">\n", WIDTH, height, WIDTH, height);
    put_style(p);
    fprintf(p->out, "<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n", WIDTH, height);
    put_heading(p, exit_code);
    put_legend(p);
    put_axis(p);
    put_rows(p);
    put_deaths(p);
    fputs("</svg>\n", p->out);
}

static void lay_out(struct page *p, const struct ft_timeline *t, uint64_t end_ns)
{
    struct ft_grid *g = &p->grid;
    uint64_t cells = ft_div_up(end_ns - t->begin_ns, ft_timeline_width(t)), most;

    g->per_row = (uint32_t)ft_div_up(t->nranks, ROWS_MAX);
    g->nrows = (uint32_t)ft_div_up(t->nranks, g->per_row);
    most = ft_max(COLUMNS_MIN, COLUMNS_OF_ALL / g->nrows);
    g->per_column = (uint32_t)ft_div_up(cells, most);
    g->ncolumns = (uint32_t)ft_div_up(cells, g->per_column);
    p->pitch = (double)HEIGHT_MAX / g->nrows;
    p->pitch = p->pitch > PITCH_MAX ? PITCH_MAX : p->pitch < PITCH_MIN ? PITCH_MIN : p->pitch;
    p->gap = p->pitch >= THIN ? p->pitch / 4 : 0;
    p->bar = p->pitch - p->gap;
    g->steps = p->pitch >= THIN ? STEPS : STEPS_THIN;
    p->cross = p->pitch >= THIN ? 4 : 2.5;
    p->cut = p->gap > 0 ? p->gap - 1 : p->bar;
}

/* For the names of hosts, where each row is one rank's. */
static void set_margin(struct page *p)
{
    size_t chars = 0;

    for (uint32_t i = 0; p->r->hosts && p->grid.per_row == 1 && i < p->r->hosts->n; i++)
        chars = ft_max(chars, 3 + ft_min(HOST_CHARS, strlen(p->r->hosts->names[i])));
    p->left = LEFT + (double)(CHAR * chars);
    p->plot = WIDTH - RIGHT - p->left;
}

char *ft_svg_text(const struct ft_timeline *t, const struct ft_report *r, int exit_code, uint64_t now_ns, size_t *len)
{
    uint64_t end_ns = ft_max(now_ns, t->begin_ns + 1);
    struct page p = {.t = t, .r = r, .seconds = (double)(end_ns - t->begin_ns) / 1e9};
    char *text = NULL;
    bool whole = false;

    lay_out(&p, t, end_ns);
    set_margin(&p);
    p.bands = ft_bands_new(t, &p.grid);
    p.marked = calloc((size_t)p.grid.nrows * p.grid.ncolumns, sizeof *p.marked);
    p.out = open_memstream(&text, len);
    if (p.out && p.bands && p.marked) {
        put_page(&p, exit_code);
        whole = !ferror(p.out);
    }
    if (p.out && fclose(p.out))
        whole = false;
    ft_bands_free(p.bands);
    free(p.marked);
    if (whole)
        return text;
    free(text);
    return NULL;
}

int ft_svg_write(const struct ft_timeline *t, const struct ft_report *r, int exit_code, uint64_t now_ns, struct ft_error *e)
{
    int failed = 0;
    size_t len;
    char *text;

    if (!t || !ft_outfile_wanted(&t->file))
        return 0;
    text = ft_svg_text(t, r, exit_code, now_ns, &len);
    if (!text || ft_outfile_put(&t->file, text, len) < 0)
        failed = ft_err_set(e, FT_ESYS, "--timeline: the picture could not be written: %s", strerror(errno));
    free(text);
    return failed;
}
