/* The claim box, if it was asked for, see r4_certified_counts. The variant is the box: eps, or "range".
 *
 *     certified   correct, and the prediction is proved to be the same whatever is in the mask, within the box
 *     attacked    correct, and an attack in the same box found nothing: the truth is between the two
 *
 * of all examples, as a mean over groups, and of the worst of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "measure/figure/figure.h"

static size_t is_there(const struct figure_source *s)
{
  return *s->m->certified.box != 0;
}

static size_t is_attacked(const struct figure_source *s)
{
  return is_there(s) && s->m->certified.attacked;
}

static void box(const struct figure_source *s, size_t k, char text[VARIANT_TEXT])
{
  (void)k;
  snprintf(text, VARIANT_TEXT, "%s", s->m->certified.box);
}

/* ---- Counts ---- */

r4_status certified_count(const r4_data *d, const r4_certified *x, const char *of, bool attacked,
                          r4_certified_counts *to, r4_error *e)
{
  if (strlen(of) >= sizeof to->box)
    return r4_fail(e, R4_E_ARGUMENT, "eps is \"%.40s\", expected at most %zu digits", of, sizeof to->box - 1);
  *to = (r4_certified_counts){.attacked = attacked, .groups = r4_data_groups(d)};
  snprintf(to->box, sizeof to->box, "%s", of);
  for (size_t i = 0; i < r4_data_count(d); i++) {
    int32_t group = r4_data_example(d, i).group;
    bool correct = x[i].predicted == r4_data_example(d, i).label;
    to->examples[group]++;
    to->correct[group] += correct;
    to->certified[group] += correct && x[i].holds;
    to->unbroken[group] += correct && !x[i].broken;
  }
  return R4_OK;
}

static void keep_proved(r4_measured *m)
{
  size_t n = 0;
  for (size_t k = 0; k < m->values; k++)
    if (figure_at(m->value[k].figure)->info.proved) m->value[n++] = m->value[k];
  m->values = n;
}

r4_status r4_certified_measure(const r4_data *d, const r4_certified *x, const char *box_text, bool attacked,
                               r4_measured *to, r4_error *e)
{
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(x, "what was certified", R4_E_ARGUMENT);
  NEEDS(box_text, "a box", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  memset(to, 0, sizeof *to);
  r4_status s = certified_count(d, x, box_text, attacked, &to->certified, e);
  if (!s) s = figures_measure(NULL, NULL, to, e);
  if (!s) keep_proved(to);
  return s;
}

/* ---- Shares ---- */

static double of_all(const r4_certified_counts *c, const size_t *of)
{
  size_t n = 0, all = 0;
  for (size_t g = 0; g < c->groups; g++) n += of[g], all += c->examples[g];
  return all ? (double)n / (double)all : NAN;
}

static double of_group(const r4_certified_counts *c, const size_t *of, size_t group)
{
  return group < c->groups && c->examples[group] ? (double)of[group] / (double)c->examples[group] : NAN;
}

static double mean_of(const r4_certified_counts *c, const size_t *of)
{
  double sum = 0;
  size_t groups = 0;
  for (size_t g = 0; g < c->groups; g++)
    if (c->examples[g]) sum += of_group(c, of, g), groups++;
  return groups ? sum / (double)groups : NAN;
}

static double least_of(const r4_certified_counts *c, const size_t *of)
{
  double least = NAN;
  for (size_t g = 0; g < c->groups; g++) least = fmin(least, of_group(c, of, g));
  return least;
}

/* ---- The lines ---- */

/* Three for each of two counts. */
#define LINES(which, count, there, why)                                                                               \
  static double which##_all(const struct figure_source *s, size_t variant)                                            \
  {                                                                                                                    \
    (void)variant;                                                                                                     \
    return of_all(&s->m->certified, s->m->certified.count);                                                            \
  }                                                                                                                    \
  static double which##_mean(const struct figure_source *s, size_t variant)                                           \
  {                                                                                                                    \
    (void)variant;                                                                                                     \
    return mean_of(&s->m->certified, s->m->certified.count);                                                           \
  }                                                                                                                    \
  static double which##_least(const struct figure_source *s, size_t variant)                                          \
  {                                                                                                                    \
    (void)variant;                                                                                                     \
    return least_of(&s->m->certified, s->m->certified.count);                                                          \
  }                                                                                                                    \
  static double which##_group(const r4_measured *m, size_t group)                                                     \
  {                                                                                                                    \
    return of_group(&m->certified, m->certified.count, group);                                                         \
  }                                                                                                                    \
  const struct figure figure_##which##_accuracy = {                                                                    \
    LINE(#which "_accuracy", #which ", box %s", why, there), .of = which##_all, .of_group = which##_group};            \
  const struct figure figure_##which##_avg_group_accuracy = {                                                          \
    LINE(#which "_avg_group_accuracy", #which ", mean over groups, box %s", why, there), .of = which##_mean};          \
  const struct figure figure_##which##_worst_group_accuracy = {                                                        \
    LINE(#which "_worst_group_accuracy", #which ", worst group, box %s", why, there), .of = which##_least};

#define LINE(k, l, a, there)                                                                                           \
  .info = {.key = (k), .label = (l), .about = (a), .better = 1, .shown = R4_SHOWN_ROW, .proved = true},                \
  .variants = (there), .variant = box

LINES(certified, certified, is_there, "correct whatever is in the mask, proved")
LINES(attacked, unbroken, is_attacked, "correct, and no attack in the mask found a change")
