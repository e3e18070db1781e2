/* Covering masks, if they were asked for, see r4_cover_counts: shares of all examples that two-mask inference predicts
 * correctly; that are certified as well; the least of these shares over groups; and the share that is certified for
 * detection. The variant is the family. */
#include <math.h>
#include <stdio.h>

#include "measure/figure/figure.h"

static size_t is_there(const struct figure_source *s)
{
  return *s->m->covered.family != 0;
}

static void family(const struct figure_source *s, size_t k, char text[VARIANT_TEXT])
{
  (void)k;
  snprintf(text, VARIANT_TEXT, "%s", s->m->covered.family);
}

static double share(const r4_cover_counts *c, const size_t *of)
{
  size_t n = 0, all = 0;
  for (size_t g = 0; g < c->groups; g++) n += of[g], all += c->examples[g];
  return all ? (double)n / (double)all : NAN;
}

static double of_group(const size_t *of, const r4_cover_counts *c, size_t group)
{
  return group < c->groups && c->examples[group] ? (double)of[group] / (double)c->examples[group] : NAN;
}

static double correct(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return share(&s->m->covered, s->m->covered.correct);
}

static double certified(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return share(&s->m->covered, s->m->covered.recovered);
}

static double reported(const struct figure_source *s, size_t variant)
{
  (void)variant;
  return share(&s->m->covered, s->m->covered.detected);
}

static double worst(const struct figure_source *s, size_t variant)
{
  const r4_cover_counts *c = &s->m->covered;
  double least = NAN;
  (void)variant;
  for (size_t g = 0; g < c->groups; g++) least = fmin(least, of_group(c->recovered, c, g));
  return least;
}

static double certified_of_group(const r4_measured *m, size_t group)
{
  return of_group(m->covered.recovered, &m->covered, group);
}

const struct figure figure_cover_accuracy = {.info = {.key = "cover_accuracy",
                                                      .label = "correct under %s",
                                                      .about = "correct by two-mask inference",
                                                      .better = 1,
                                                      .shown = R4_SHOWN_ROW,
           .proved = true},
                                             .variants = is_there,
                                             .variant = family,
                                             .of = correct};

const struct figure figure_cover_certified_accuracy = {
  .info = {.key = "cover_certified_accuracy",
           .label = "certified, %s",
           .about = "correct whatever any one region shows",
           .better = 1,
           .shown = R4_SHOWN_ROW,
           .proved = true},
  .variants = is_there,
  .variant = family,
  .of = certified,
  .of_group = certified_of_group};

const struct figure figure_cover_certified_worst_group = {
  .info = {.key = "cover_certified_worst_group",
           .label = "certified, worst group, %s",
           .about = "lowest certified share of a group",
           .better = 1,
           .shown = R4_SHOWN_ROW,
           .proved = true},
  .variants = is_there,
  .variant = family,
  .of = worst};

const struct figure figure_cover_reported_accuracy = {
  .info = {.key = "cover_reported_accuracy",
           .label = "certified or reported, %s",
           .about = "correct, or a change is noticed",
           .better = 1,
           .shown = R4_SHOWN_ROW,
           .proved = true},
  .variants = is_there,
  .variant = family,
  .of = reported};
