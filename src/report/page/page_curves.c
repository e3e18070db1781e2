/* Training curves, from log.jsonl of each seed: the mean over seeds, and a band of a standard deviation around it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "objective/composition.h"
#include "report/page/page.h"
#include "train/run/log.h"

/* Penalties and weights of terms are those of methods that have several. */
enum quantity {
  LOSS,
  PENALTY,
  PENALTY_OF,
  WORST = PENALTY_OF + TERM_COUNT,
  LAMBDA,
  LAMBDA_OF,
  QUANTITIES = LAMBDA_OF + TERM_COUNT
};
enum { MOST_POINTS = 100, MOST_EPOCHS = 100000 };

static const struct {
  const char *file, *caption;
  bool may_be_none; /* 0 all the time: there is none, and nothing to show */
} about[QUANTITIES] = {
  [LOSS] = {"loss", "Loss in training, with penalties", false},
  [PENALTY] = {"penalty", "Penalty before lambda", true},
#define PENALTY(identifier, name) \
  [PENALTY_OF + TERM_##identifier] = {"penalty-" name, "Penalty of " name " before its lambda", true},
#include "objective/methods.def"
  [WORST] = {"worst-group", "Worst group of the validation examples", false},
  [LAMBDA] = {"lambda", "lambda, the weight of the penalty, or of the first of several", true},
#define PENALTY(identifier, name) \
  [LAMBDA_OF + TERM_##identifier] = {"lambda-" name, "lambda." name ", the weight of " name, true},
#include "objective/methods.def"
};

/* What validation is of, by the log; in older ones it does not say. */
enum kind { UNSAID, PLAIN, EXCHANGED, FILLED, CARRIES, DIFFERENT, KINDS };

static const struct {
  const char *word, *phrase;
} kinds[KINDS] = {
  [UNSAID] = {NULL, ""},
  [PLAIN] = {"plain", ""},
  [EXCHANGED] = {"exchanged", ", with masked content exchanged between classes"},
  [FILLED] = {"filled", ", with masked content replaced"},
  [CARRIES] = {"carries the shortcut", ", with the shortcut in them"},
  [DIFFERENT] = {NULL, ", which are not the same for all nets"},
};

/* Of one run: for each epoch, sums over the seeds that have it. */
struct curve {
  size_t epochs, room;
  struct point {
    double n[QUANTITIES], sum[QUANTITIES], squares[QUANTITIES];
  } * point;
  size_t seeds, unread; /* logs that were read, and that were not there or damaged */
  size_t second;        /* the number of the method's second term, or TERM_COUNT */
  enum kind val;
};

/* ---- Reading ---- */

static void add_value(struct point *p, enum quantity q, const struct js *v, double factor)
{
  double x;
  if (!js_number(v, &x)) return;
  p->n[q]++;
  p->sum[q] += factor * x;
  p->squares[q] += factor * x * factor * x;
}

static struct point *point_at(struct curve *c, size_t epoch, r4_error *e)
{
  if (epoch > c->room) {
    size_t room = 2 * epoch;
    struct point *grown = mem_grow(c->point, room, sizeof *grown, "the epochs of curves", e);
    if (!grown) return NULL;
    memset(grown + c->room, 0, (room - c->room) * sizeof *grown);
    c->point = grown;
    c->room = room;
  }
  if (epoch > c->epochs) c->epochs = epoch;
  return &c->point[epoch - 1];
}

static enum kind kind_named(const char *word)
{
  for (enum kind k = 0; k < KINDS && word; k++)
    if (kinds[k].word && !strcmp(kinds[k].word, word)) return k;
  return UNSAID;
}

static enum kind both(enum kind a, enum kind b)
{
  return a == b || b == UNSAID ? a : a == UNSAID ? b : DIFFERENT;
}

/* "penalty.r3", "lambda.r3". Older logs have the second term as "lambda_r3". */
static void add_terms(struct curve *c, struct point *p, const struct js *line)
{
  char key[64];
  for (size_t t = 0; t < TERM_COUNT; t++) {
    snprintf(key, sizeof key, "penalty.%s", term_names[t]);
    add_value(p, PENALTY_OF + (enum quantity)t, js_get(line, key), 1);
    snprintf(key, sizeof key, "lambda.%s", term_names[t]);
    add_value(p, LAMBDA_OF + (enum quantity)t, js_get(line, key), 1);
  }
  if (c->second == TERM_COUNT) return;
  add_value(p, PENALTY_OF + (enum quantity)c->second, js_get(line, "penalty_r3"), 1);
  add_value(p, LAMBDA_OF + (enum quantity)c->second, js_get(line, "lambda_r3"), 1);
}

static size_t second_term(const r4_report_run *r)
{
  r4_method_info m = r4_method_describe(page_method(r));
  return m.terms > 1 ? term_number(m.term[1]) : TERM_COUNT;
}

static r4_status read_line(void *context, const struct js *line, r4_error *e)
{
  int64_t epoch;
  if (!js_whole(js_get(line, "epoch"), &epoch) || epoch < 1 || epoch > MOST_EPOCHS) return R4_OK;
  struct curve *c = context;
  struct point *p = point_at(c, (size_t)epoch, e);
  if (!p) return R4_E_MEMORY;
  add_value(p, LOSS, js_get(line, "loss"), 1);
  add_value(p, PENALTY, js_get(line, "penalty"), 1);
  add_value(p, WORST, js_get(js_get(line, "val"), "worst"), 100);
  c->val = both(c->val, kind_named(js_text(js_get(js_get(line, "val"), "of"))));
  add_value(p, LAMBDA, js_get(line, "lambda"), 1);
  add_terms(c, p, line);
  return R4_OK;
}

/* A log that is missing or damaged is no reason for no page: what there is of it counts, and the page says so. */
static r4_status read_run(const r4_report_run *r, struct curve *c, r4_error *e)
{
  c->second = second_term(r);
  for (size_t k = 0; k < r->seeds; k++) {
    r4_error own = {0};
    char *path = file_join(r->folder[k], "log.jsonl", NULL);
    r4_status s = path ? log_read(path, read_line, c, &own) : R4_E_MEMORY;
    r4_mem_free(path);
    if (s == R4_E_MEMORY) return r4_fail(e, s, "%s: out of memory for its log", r->folder[k]);
    c->seeds += !s;
    c->unread += s != R4_OK;
  }
  return R4_OK;
}

/* ---- What is shown ---- */

struct series {
  size_t n;
  double x[MOST_POINTS + 1], y[MOST_POINTS + 1], sd[MOST_POINTS + 1];
};

static struct series series_of(const struct curve *c, enum quantity q)
{
  struct series s = {0};
  size_t stride = (c->epochs + MOST_POINTS - 1) / MOST_POINTS;
  for (size_t k = 0; k < c->epochs; k++) {
    bool last = k + 1 == c->epochs;
    if (k % stride && !last) continue;
    const struct point *p = &c->point[k];
    double n = p->n[q], mean = n > 0 ? p->sum[q] / n : NAN;
    s.x[s.n] = (double)k + 1;
    s.y[s.n] = mean;
    s.sd[s.n++] = n > 1 ? sqrt(fmax(0, (p->squares[q] - n * mean * mean) / (n - 1))) : NAN;
  }
  return s;
}

static bool has_values(const struct curve *c, size_t runs, enum quantity q)
{
  for (size_t r = 0; r < runs; r++)
    for (size_t k = 0; k < c[r].epochs; k++)
      if (about[q].may_be_none ? c[r].point[k].sum[q] != 0 : c[r].point[k].n[q] > 0) return true;
  return false;
}

/* Over more than two powers of ten a straight scale shows but the largest. */
static struct scale scale_of(const struct curve *c, size_t runs, enum quantity q)
{
  struct scale straight = scale_empty(false), log = scale_empty(true);
  for (size_t r = 0; r < runs; r++) {
    struct series s = series_of(&c[r], q);
    for (size_t k = 0; k < s.n; k++) scale_cover(&straight, s.y[k]), scale_cover(&log, s.y[k]);
  }
  if (q == WORST) return (struct scale){.high = 100};
  struct scale chosen = log.high > 100 * log.low ? log : straight;
  if (!chosen.log) scale_cover(&chosen, 0);
  scale_round(&chosen);
  return chosen;
}

struct caption {
  char text[160];
};

/* Says what validation is of. */
static struct caption caption_of(const struct curve *c, size_t runs, enum quantity q)
{
  struct caption to;
  enum kind val = UNSAID;
  for (size_t r = 0; r < runs; r++) val = both(val, c[r].val);
  const char *of = q == WORST ? kinds[val].phrase : "", *in = q == WORST ? ", in per cent" : "";
  snprintf(to.text, sizeof to.text, "%s%s%s", about[q].caption, of, in);
  return to;
}

/* ---- Drawing ---- */

static void add_numbers(const struct page *p, const struct curve *c, enum quantity q)
{
  size_t longest = 0;
  page_table_begin(p->h, caption_of(c, p->runs, q).text);
  page_head(p->h, "epoch", false);
  for (size_t r = 0; r < p->runs; r++) {
    page_head(p->h, p->run[r].name, true);
    if (c[r].epochs > c[longest].epochs) longest = r;
  }
  page_body(p->h);
  struct series epochs = series_of(&c[longest], q);
  for (size_t k = 0; k < epochs.n; k++) {
    page_row(p->h, figure_real(epochs.x[k], 6).s);
    for (size_t r = 0; r < p->runs; r++) {
      size_t at = (size_t)epochs.x[k] - 1;
      const struct point *v = at < c[r].epochs ? &c[r].point[at] : NULL;
      page_cell(p->h, v && v->n[q] > 0 ? figure_real(v->sum[q] / v->n[q], 4).s : "");
    }
  }
  page_table_end(p->h);
}

static double last_epoch(const struct page *p, const struct curve *c)
{
  size_t epochs = 1;
  for (size_t r = 0; r < p->runs; r++)
    if (c[r].epochs > epochs) epochs = c[r].epochs;
  return (double)epochs;
}

static r4_plot *plot_of(const struct page *p, const struct curve *c, enum quantity q)
{
  struct scale y = scale_of(c, p->runs, q);
  double last = last_epoch(p, c);
  r4_plot *plot = r4_plot_new(NULL, 1);
  r4_plot_panel(plot, NULL, "epoch", NULL);
  r4_plot_range(plot, 'x', last > 1 && last <= 6, last);
  r4_plot_range(plot, 'y', y.low, y.high);
  if (y.log) r4_plot_log(plot, 'y');
  plot_whole_x(plot);
  for (size_t r = 0; r < p->runs; r++) {
    struct series s = series_of(&c[r], q);
    plot_numbered_line(plot, r, s.n, s.x, s.y, s.sd);
  }
  return plot;
}

static void add_figure(const struct page *p, const struct curve *c, enum quantity q)
{
  struct caption caption = caption_of(c, p->runs, q);
  r4_plot *plot = plot_of(p, c, q);
  page_figure_begin(p->h, about[q].file, caption.text);
  plot_panel_in_page(p->h, plot, 0, caption.text);
  r4_plot_free(plot);
  page_figure_numbers(p->h);
  add_numbers(p, c, q);
  page_figure_end(p->h);
}

static void add_missing(const struct page *p, const struct curve *c)
{
  for (size_t r = 0; r < p->runs; r++)
    if (c[r].unread)
      html_add(p->h, "<p class=\"missing\">%s: the logs of %zu of %zu seeds are missing or damaged.</p>\n",
               p->run[r].name, c[r].unread, p->run[r].seeds);
  if (!has_values(c, p->runs, WORST))
    html_add(p->h, "<p class=\"missing\">No run has validation examples: the worst group during training is "
                   "unknown.</p>\n");
}

r4_status page_curves(const struct page *p, r4_error *e)
{
  r4_status s = R4_OK;
  struct curve *c = mem_new(p->runs, sizeof *c, "curves", e);
  if (!c) return R4_E_MEMORY;
  for (size_t r = 0; r < p->runs && !s; r++) s = read_run(&p->run[r], &c[r], e);
  if (!s) {
    html_add(p->h, "<p>Means over seeds; bands are one standard deviation to each side.</p>\n");
    page_legend_begin(p->h);
    for (size_t r = 0; r < p->runs; r++) page_legend_item(p->h, r, p->run[r].name);
    page_legend_end(p->h);
    page_grid_begin(p->h);
    for (enum quantity q = 0; q < QUANTITIES; q++)
      if (has_values(c, p->runs, q)) add_figure(p, c, q);
    page_grid_end(p->h);
    add_missing(p, c);
  }
  for (size_t r = 0; r < p->runs; r++) r4_mem_free(c[r].point);
  r4_mem_free(c);
  return s;
}
