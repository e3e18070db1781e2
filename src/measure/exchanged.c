#include "measure/exchanged.h"

#include <math.h>

#include "base/mem.h"

/* So many examples of all groups each group leans on. */
static const double PRIOR = 5;

/* Of the exchanged examples of a group: correct and wrong ones, and how many of these change sides. */
struct sides {
  double correct, lost, wrong, gained;
};

/* (s (1 - s) / n)^1/2 with s = (n share + 1) / (n + 2): never 0, and finite for n = 0. */
static double error_of(double share, double n)
{
  double s = (n * share + 1) / (n + 2);
  return sqrt(s * (1 - s) / fmax(n, 1));
}

static double share_of(double part, double all)
{
  return all > 0 ? part / all : 0;
}

/* ---- Choosing ---- */

static void find_least(struct score *s)
{
  s->worst = INFINITY;
  for (size_t g = 0; g < s->groups; g++)
    if (s->count[g] && s->group[g] < s->worst) s->worst = s->group[g], s->worst_group = g;
}

/* se: of each group. */
static void choose_by(struct score *s, const double *se)
{
  double n = 0, noise = 0, spread = 0, least = INFINITY;
  for (size_t g = 0; g < s->groups; g++) {
    if (!s->count[g]) continue;
    n++;
    noise += se[g] * se[g];
    spread += pow(s->group[g] - s->avg, 2);
  }
  if (!(n > 0)) return;
  double between = n > 1 ? fmax(spread / (n - 1) - noise / n, 0) : 0;
  for (size_t g = 0; g < s->groups; g++) {
    if (!s->count[g]) continue;
    double trusted = between > 0 ? between / (between + se[g] * se[g]) : 0;
    least = fmin(least, s->avg + (s->group[g] - s->avg) * trusted);
  }
  s->score = (s->avg + least) / 2;
  s->avg_se = sqrt(noise) / n;
  s->worst_se = se[s->worst_group];
}

static double *errors_new(size_t groups, r4_error *e)
{
  return mem_new(groups + 1, sizeof(double), "groups", e);
}

r4_status score_plain(struct score *s, r4_error *e)
{
  double *se = errors_new(s->groups, e);
  if (!se) return R4_E_MEMORY;
  for (size_t g = 0; g < s->groups; g++)
    if (s->count[g]) se[g] = error_of(s->group[g], (double)s->count[g]);
  choose_by(s, se);
  r4_mem_free(se);
  return R4_OK;
}

/* ---- Exchanged examples ---- */

/* The share of draws of exchanged example k whose prediction is its label, or is the one before. */
static double draws_that_are(const struct exchange *x, const int32_t *after, size_t k, int32_t class)
{
  double n = 0;
  for (size_t draw = 0; draw < x->draws; draw++) n += after[draw * x->n + k] == class;
  return n / (double)x->draws;
}

/* Pairs of different draws, of all: those whose predictions differ, or of which the first alone is the class. */
static double pairs_that_differ(const struct exchange *x, const int32_t *after, size_t k)
{
  double differ = 0, pairs = (double)(x->draws * (x->draws - 1));
  for (size_t a = 0; a < x->draws; a++)
    for (size_t b = 0; b < x->draws; b++) differ += after[a * x->n + k] != after[b * x->n + k];
  return pairs > 0 ? differ / pairs : 0;
}

/* c (1 - c) over pairs of different draws, where a share c of the draws is correct. */
static double pairs_lost(const struct exchange *x, double c)
{
  double n = (double)x->draws;
  return n > 1 ? c * (1 - c) * n / (n - 1) : 0;
}

static void add_sides(struct sides *to, bool correct, double after)
{
  if (correct)
    to->correct++, to->lost += 1 - after;
  else
    to->wrong++, to->gained += after;
}

/* What the swap test finds. */
struct found {
  double lost, correct, changed;
};

static void add_found(struct found *f, const struct exchange *x, const int32_t *after, size_t k, double w,
                      bool own, double correct, int32_t before)
{
  f->lost += w * own * (1 - correct) + (1 - w) * pairs_lost(x, correct);
  f->correct += w * own + (1 - w) * correct;
  f->changed += w * (1 - draws_that_are(x, after, k, before)) + (1 - w) * pairs_that_differ(x, after, k);
}

/* The last of sides is of all groups. */
static void count_sides(const r4_data *d, const int32_t *predicted, const struct exchange *x,
                        const int32_t *after, struct sides *sides, struct score *s)
{
  struct found f = {0};
  double classes = (double)r4_data_classes(d);
  for (size_t k = 0; k < x->n; k++) {
    size_t i = x->example[k];
    r4_example is = r4_data_example(d, i);
    double correct = draws_that_are(x, after, k, is.label);
    bool own = predicted[i] == is.label;
    add_sides(&sides[is.group], own, correct);
    add_sides(&sides[s->groups], own, correct);
    add_found(&f, x, after, k, r4_data_has_mask(d, i) ? 1 / classes : 1, own, correct, predicted[i]);
  }
  s->exchanged = x->n;
  s->changed = f.changed / (double)x->n;
  s->lost = f.correct > 0 ? f.lost / f.correct : NAN;
  s->lost_se = error_of(share_of(f.lost, f.correct), f.correct);
}

/* A_g in place of P_g; returns its error. */
static double exchange_group(double *group, size_t count, const struct sides *own, const struct sides *all)
{
  double n = own->correct + PRIOR, m = own->wrong + PRIOR, p = *group;
  double lost = (own->lost + PRIOR * share_of(all->lost, all->correct)) / n;
  double gained = (own->gained + PRIOR * share_of(all->gained, all->wrong)) / m;
  *group = p * (1 - lost) + (1 - p) * gained;
  double kept = (1 - lost - gained) * error_of(p, (double)count), from_lost = p * error_of(lost, n),
         from_gained = (1 - p) * error_of(gained, m);
  return sqrt(kept * kept + from_lost * from_lost + from_gained * from_gained);
}

r4_status score_exchanged(const r4_data *d, const int32_t *predicted, const struct exchange *x,
                          const int32_t *after, double loss, struct score *s, r4_error *e)
{
  r4_status status = score_of(d, predicted, loss, s, e);
  if (status) return status;
  struct sides *sides = mem_new(s->groups + 1, sizeof *sides, "groups", e);
  double *se = sides ? errors_new(s->groups, e) : NULL, seen = 0;
  if (se) {
    count_sides(d, predicted, x, after, sides, s);
    s->plain = s->avg; /* comparable with what avg becomes */
    s->accuracy = s->avg = 0;
    for (size_t g = 0; g < s->groups; g++) {
      if (!s->count[g]) continue;
      se[g] = exchange_group(&s->group[g], s->count[g], &sides[g], &sides[s->groups]);
      s->avg += s->group[g];
      s->accuracy += s->group[g] * (double)s->count[g] / (double)r4_data_count(d);
      seen++;
    }
    s->avg = seen > 0 ? s->avg / seen : 0;
    find_least(s);
    choose_by(s, se);
  }
  r4_mem_free(sides);
  r4_mem_free(se);
  return se ? R4_OK : R4_E_MEMORY;
}
