#include "train/run/curves.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/run/events.h"

static const char CSV[] = "metrics.csv", EVENTS[] = "events.out.tfevents.r4";

/* What a line of the log has, in the order of the columns; those of "val" are named val_.. Behind penalty and lambda
 * stand those of the terms, if there are several. */
static const char *const figure[] = {"epoch",    "step",   "seconds", "loss",         "data",     "penalty",
                                     "accuracy", "lambda", "eps",     "answers_only", "revivals", NULL};
static const char *const val_figure[] = {"loss",  "accuracy", "avg",  "worst", "avg_se",
                                         "score", "changed",  "lost", NULL};

/* "penalty.r3" is one of penalty. */
static bool is_of(const char *key, const char *name)
{
  size_t n = strlen(name);
  return !strncmp(key, name, n) && key[n] == '.';
}

/* The figures of terms that the first line has, and so all lines of a run. */
static void find_terms(struct curves *c, const struct js *line)
{
  for (const struct js *m = NULL; (m = js_next(line, m)) && c->of_terms < CURVES_OF_TERMS;)
    if (is_of(js_key(m), "penalty") || is_of(js_key(m), "lambda"))
      snprintf(c->of_term[c->of_terms++], sizeof *c->of_term, "%s", js_key(m));
}

/* ---- metrics.csv ---- */

/* A name may hold commas and quotes. */
static void add_quoted(struct text *t, const char *s)
{
  text_add(t, "\"");
  for (; *s; s++) text_add(t, *s == '"' ? "\"\"" : "%c", *s);
  text_add(t, "\"");
}

/* What is not there is empty. */
static void add_value(struct text *t, const struct js *v)
{
  int64_t whole;
  double real;
  if (t->length) text_add(t, ",");
  if (js_whole(v, &whole))
    text_add(t, "%lld", (long long)whole);
  else if (js_number(v, &real))
    text_add_real(t, real);
  else if (js_real(v, &real))
    text_add(t, isnan(real) ? "" : real > 0 ? "inf" : "-inf");
  else if (js_text(v))
    add_quoted(t, js_text(v));
}

static r4_status add_names(struct curves *c, const struct js *line, r4_error *e)
{
  struct json_writer w = {0};
  c->groups = js_size(js_get(js_get(line, "val"), "groups"));
  find_terms(c, line);
  for (size_t k = 0; figure[k]; k++) {
    text_add(&w.text, "%s%s", k ? "," : "", figure[k]);
    for (size_t t = 0; t < c->of_terms; t++)
      if (is_of(c->of_term[t], figure[k])) text_add(&w.text, ",%s", c->of_term[t]);
  }
  for (size_t k = 0; val_figure[k]; k++) text_add(&w.text, ",val_%s", val_figure[k]);
  for (size_t k = 0; k < c->groups; k++) text_add(&w.text, ",val_group_%zu", k);
  c->headed = true;
  return log_add(&c->csv, &w, e);
}

static r4_status add_row(struct curves *c, const struct js *line, r4_error *e)
{
  struct json_writer w = {0};
  const struct js *val = js_get(line, "val"), *groups = js_get(val, "groups");
  for (size_t k = 0; figure[k]; k++) {
    add_value(&w.text, js_get(line, figure[k]));
    for (size_t t = 0; t < c->of_terms; t++)
      if (is_of(c->of_term[t], figure[k])) add_value(&w.text, js_get(line, c->of_term[t]));
  }
  for (size_t k = 0; val_figure[k]; k++) add_value(&w.text, js_get(val, val_figure[k]));
  for (size_t k = 0; k < c->groups; k++) add_value(&w.text, js_at(groups, k));
  return log_add(&c->csv, &w, e);
}

/* ---- Events ---- */

static r4_status add_record(struct curves *c, struct wire *v, r4_error *e)
{
  size_t size;
  uint8_t *record = event_record(v, &size);
  if (!record) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", c->events.path);
  r4_status s = log_append(&c->events, record, size, e);
  r4_mem_free(record);
  return s;
}

static void add_scalar(struct wire *v, const char *group, const char *name, const struct js *value)
{
  char tag[64];
  double real;
  if (!js_number(value, &real)) return;
  snprintf(tag, sizeof tag, "%s%s", group, name);
  event_scalar(v, tag, (float)real);
}

static r4_status add_event(struct curves *c, const struct js *line, r4_error *e)
{
  struct wire v;
  int64_t epoch = 0;
  double seconds = 0;
  const struct js *val = js_get(line, "val"), *groups = js_get(val, "groups");
  js_whole(js_get(line, "epoch"), &epoch);
  js_number(js_get(line, "seconds"), &seconds);
  c->time += seconds;
  event_begin(&v, c->time);
  event_step(&v, epoch);
  for (size_t k = 0; figure[k]; k++)
    if (strcmp(figure[k], "epoch")) add_scalar(&v, "train/", figure[k], js_get(line, figure[k]));
  for (size_t t = 0; t < c->of_terms; t++)
    add_scalar(&v, "train/", c->of_term[t], js_get(line, c->of_term[t]));
  for (size_t k = 0; val_figure[k]; k++) add_scalar(&v, "val/", val_figure[k], js_get(val, val_figure[k]));
  for (size_t k = 0; k < js_size(groups); k++) {
    char name[32];
    snprintf(name, sizeof name, "group_%zu", k);
    add_scalar(&v, "val/", name, js_at(groups, k));
  }
  return add_record(c, &v, e);
}

/* ---- Both ---- */

r4_status curves_add(struct curves *c, const struct js *line, r4_error *e)
{
  r4_status s = c->headed ? R4_OK : add_names(c, line, e);
  if (!s) s = add_row(c, line, e);
  return s || !c->events.path ? s : add_event(c, line, e);
}

static r4_status open_one(struct log *l, const char *folder, const char *name, r4_error *e)
{
  char *path = file_join(folder, name, e);
  if (!path) return R4_E_MEMORY;
  r4_status s = log_open(l, path, 0, e);
  r4_mem_free(path);
  return s;
}

static r4_status add_seconds(void *sum, const struct js *line, r4_error *e)
{
  double seconds = 0;
  (void)e;
  js_number(js_get(line, "seconds"), &seconds);
  *(double *)sum += seconds;
  return R4_OK;
}

static r4_status begin_events(struct curves *c, const char *log, r4_error *e)
{
  struct wire v;
  double done = 0;
  r4_status s = log_read(log, add_seconds, &done, e);
  c->time = (double)time(NULL) - done;
  if (s) return s;
  event_begin(&v, c->time);
  event_version(&v);
  return add_record(c, &v, e);
}

static r4_status add_line(void *context, const struct js *line, r4_error *e)
{
  return curves_add(context, line, e);
}

r4_status curves_open(struct curves *c, const char *folder, const char *log, bool events, r4_error *e)
{
  *c = (struct curves){.csv.file = -1, .events.file = -1};
  r4_status s = open_one(&c->csv, folder, CSV, e);
  if (!s && events) s = open_one(&c->events, folder, EVENTS, e);
  if (!s && events) s = begin_events(c, log, e);
  if (!s) s = log_read(log, add_line, c, e);
  if (s) curves_close(c);
  return s;
}

void curves_close(struct curves *c)
{
  log_close(&c->csv);
  log_close(&c->events);
}
