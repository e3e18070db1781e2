#include "data/lint/cue.h"

#include <math.h>
#include <string.h>

#include "base/binomial.h"
#include "base/mem.h"
#include "data/batch/donors.h"

enum {
  LEAST = 20,      /* examples of a class, half of which are tested     */
  MOST = 4000,     /* examples of all classes, as long as each has LEAST */
  VALUES = 1 << 28 /* pixels that are looked at, at most                */
};

static const double CHANCE = .001; /* of a finding where there is nothing, for all tries of a kind together */
static const double GAIN = .2;     /* of the way from guessing to always                             */
static const double MARGIN = .05;  /* of the tested examples, above what is plain                    */

/* ---- Which examples ---- */

struct cue_class {
  size_t all, seen, taken, number;
  bool counts;
};

static bool is_candidate(const struct record *r, bool (*counts)(const struct record *r))
{
  return r->split == R4_TRAIN && counts(r);
}

/* Numbers the classes that have enough examples; returns how many of each are taken, an even number. */
static size_t choose_classes(struct cues *q, struct cue_class *class)
{
  size_t most = VALUES / data_x(q->d)->features, largest = 0, each = SIZE_MAX;
  for (size_t c = 0; c < q->d->classes->n; c++)
    if (class[c].all > largest) largest = class[c].all;
  for (size_t c = 0; c < q->d->classes->n; c++) {
    class[c].counts = class[c].all >= LEAST && 10 * class[c].all >= largest;
    if (!class[c].counts) continue;
    class[c].number = q->classes++;
    if (class[c].all < each) each = class[c].all;
  }
  if (q->classes < 2) return 0;
  most = (most < MOST ? most : MOST) / q->classes;
  if (each > most) each = most > LEAST ? most : LEAST;
  return each - each % 2;
}

/* The j-th of m is the floor(j all / m)-th of its class. */
static void take(struct cues *q, struct cue_class *class, size_t m, bool (*counts)(const struct record *r))
{
  for (size_t i = 0; i < q->d->n; i++) {
    const struct record *r = q->d->record + i;
    struct cue_class *c = class + r->label;
    if (!is_candidate(r, counts) || !c->counts) continue;
    if (c->taken < m && c->seen == c->taken * c->all / m)
      q->example[c->taken++ * q->classes + c->number] = (uint32_t)i;
    c->seen++;
  }
}

static r4_status make_room(struct cues *q)
{
  q->example = r4_mem_new(q->n, sizeof *q->example);
  q->value = r4_mem_new(q->n * CUE_FEATURES, sizeof *q->value);
  q->model = r4_mem_new(q->classes * CUE_FEATURES, 3 * sizeof *q->model);
  q->right = r4_mem_new(q->n, sizeof *q->right);
  q->plain = r4_mem_new(q->n, sizeof *q->plain);
  return q->example && q->value && q->model && q->right && q->plain ? R4_OK : R4_E_MEMORY;
}

r4_status cues_new(struct cues *q, const r4_data *d, bool (*counts)(const struct record *r))
{
  *q = (struct cues){.d = d};
  struct cue_class *class = r4_mem_new(d->classes->n, sizeof *class);
  if (!class) return R4_E_MEMORY;
  for (size_t i = 0; i < d->n; i++) class[d->record[i].label].all += is_candidate(d->record + i, counts);
  size_t each = choose_classes(q, class);
  q->n = each * q->classes;
  r4_status s = q->n ? make_room(q) : R4_OK;
  if (!s && q->n) take(q, class, each, counts);
  r4_mem_free(class);
  return s;
}

void cues_clear(struct cues *q)
{
  r4_mem_free(q->example);
  r4_mem_free(q->value);
  r4_mem_free(q->model);
  r4_mem_free(q->right);
  r4_mem_free(q->plain);
  *q = (struct cues){0};
}

/* Of two neighbours of a class one teaches; which of them changes from pair to pair as the bits of their turn do (the
 * sequence of Thue and Morse), so that nothing that repeats in the data is in one half alone. */
static bool teaches(const struct cues *q, size_t k)
{
  return __builtin_popcountll(k / q->classes) % 2 == 0;
}

size_t cue_tested(const struct cues *q)
{
  return q->n / 2;
}

/* ---- Quantities: Gaussian naive Bayes ---- */

/* Of class c, or of any (-1): mean and sum of squared differences of those that are known; their number. */
static double moments(const struct cues *q, size_t f, long c, double *mean, double *squares)
{
  double n = 0;
  *mean = *squares = 0;
  for (size_t k = c < 0 ? 0 : (size_t)c; k < q->n; k += c < 0 ? 1 : q->classes) {
    double x = q->value[k * CUE_FEATURES + f];
    if (!teaches(q, k) || isnan(x)) continue;
    double before = x - *mean;
    *mean += before / ++n;
    *squares += before * (x - *mean);
  }
  return n;
}

/* m = the mean of the class, and s^2 = (sum (x - m)^2 + v) / (n + 1) with v the variance of all classes: as if one more
 * example had been seen that is as far from m as any. s^2 = 0 says that the feature is the same everywhere. */
static void learn(struct cues *q, size_t features)
{
  for (size_t f = 0; f < features; f++) {
    double mean, squares, n = moments(q, f, -1, &mean, &squares), v = n > 0 ? squares / n : 0;
    for (size_t c = 0; c < q->classes; c++) {
      double *m = q->model + 3 * (c * CUE_FEATURES + f), of_class, own;
      double n_class = moments(q, f, (long)c, &of_class, &own);
      m[0] = n_class > 0 ? of_class : mean;
      m[1] = v > 1e-12 * mean * mean ? (own + v) / (n_class + 1) : 0;
      m[2] = m[1] > 0 ? log(m[1]) / 2 : 0;
    }
  }
}

/* The class with the largest -sum_f (log s + (x - m)^2 / (2 s^2)) over the features that are known: the first one where
 * none is. */
static size_t classify(const struct cues *q, const double *x, size_t features)
{
  size_t best = 0;
  double largest = -INFINITY;
  for (size_t c = 0; c < q->classes; c++) {
    double score = 0;
    for (size_t f = 0; f < features; f++) {
      const double *m = q->model + 3 * (c * CUE_FEATURES + f);
      if (m[1] > 0 && !isnan(x[f])) score -= m[2] + (x[f] - m[0]) * (x[f] - m[0]) / (2 * m[1]);
    }
    if (score > largest) largest = score, best = c;
  }
  return best;
}

/* ---- Names: the class that has most of them ---- */

static size_t commonest(struct cues *q, double name)
{
  size_t best = 0;
  memset(q->model, 0, q->classes * sizeof *q->model);
  for (size_t k = 0; k < q->n; k++)
    if (teaches(q, k) && q->value[k * CUE_FEATURES] == name) q->model[k % q->classes]++;
  for (size_t c = 1; c < q->classes; c++)
    if (q->model[c] > q->model[best]) best = c;
  return best;
}

/* ---- Both ---- */

size_t cue_try(struct cues *q, size_t features, enum cue_kind kind)
{
  size_t n = 0;
  if (kind == CUE_QUANTITIES) learn(q, features);
  for (size_t k = 0; k < q->n; k++) {
    const double *x = q->value + k * CUE_FEATURES;
    q->right[k] =
      !teaches(q, k) && (kind == CUE_NAMES ? commonest(q, *x) : classify(q, x, features)) == k % q->classes;
    n += q->right[k];
  }
  return n;
}

/* P(X >= right), X ~ Binomial(tested, 1/K), times the number of tries (Bonferroni). Tested classes are of one size:
 * what does not depend on the label is right 1/K of the time, whichever classes it prefers, and varies no more
 * than X. */
bool cue_tells(const struct cues *q, size_t right, size_t tries)
{
  double n = (double)cue_tested(q), guess = 1 / (double)q->classes;
  if ((double)right < n * (guess + GAIN * (1 - guess))) return false;
  return (double)tries * binomial_at_most(n - (double)right, n, 1 - guess) < CHANCE;
}

/* Of the examples that one of the two classifies correctly and the other does not, each would have half (McNemar). */
bool cue_beats_plain(const struct cues *q, size_t tries)
{
  double more = 0, less = 0;
  for (size_t k = 0; k < q->n; k++) {
    more += q->right[k] && !q->plain[k];
    less += q->plain[k] && !q->right[k];
  }
  return more - less >= MARGIN * (double)cue_tested(q) &&
         (double)tries * binomial_at_most(less, more + less, .5) < CHANCE;
}
