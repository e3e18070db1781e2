/* Two-mask inference and its certificates.
 *
 * f(x | i, j) is the class that the net predicts for x with masks i and j filled. R is a family of regions, each
 * inside of some mask. x' is any example that differs from x in one region of R, inside of mask h. As filling h
 * leaves nothing of the difference, x' and x with h filled are the same numbers, and passes are functions of these
 * numbers, so
 *
 *     (*)   f(x' | h, j) = f(x | h, j)   for every mask j.
 *
 * Inference on x. (1) f_i = f(x | i, i). If all are the same, that is the class. (2) Else, with c the class that most
 * f_i are (the lowest at a tie): for each mask i in order with f_i != c, if f(x | i, j) = f_i for all j, the class is
 * f_i. (3) Else c.
 *
 * Recovery. If f(x | i, j) = y for all i, j, then inference on every x' gives y (PatchCleanser, theorem 1).
 *     By (*) f'_h = y, and f(x' | h, j) = y for all j.
 *     (1) If all f'_i are the same, they are f'_h = y.
 *     (2) A mask i with f'_i != y is refuted by its pair with h: f(x' | i, h) = y != f'_i. So no class but y is
 *         returned here. If y is not what most are, h is one of the masks that are looked at, and passes.
 *     (3) is reached only if y is what most are: y is returned.
 *     It does not matter how ties are broken in (2), or whether a mask is listed twice.
 *
 * Detection, with one mask at a time: the class if all f_i are the same, else none. If all f_i of x are y, then every
 * x' gets y or none: if all f'_i are the same, they are f'_h, which is y by (*). A prediction is never silently
 * another one.
 *
 * A logit that is NaN or infinite makes its pass a class of its own, -1, in all of the above: x' may hold any
 * numbers. Certificates ask for a lead above 0, not needed for the proofs: others that run the passes may break ties
 * differently. */
#include <math.h>

#include "base/mem.h"
#include "certify/cover_passes.h"

/* So many passes are remembered at a time. */
enum { PASSES_MOST = 1 << 18 };

struct work {
  struct passes *passes;
  const r4_cover *cover;
  size_t masks;
  struct pass *pass; /* those that are asked for next, [some, all pairs and one without a mask] */
  size_t n;
  /* Of the examples that are being looked at: */
  size_t first, count, most;
  int32_t *predicted; /* [most, masks, masks]: f(x | i, j), at i <= j */
  float *lead;        /* likewise */
  r4_covered *to;     /* [examples of the data] */
};

static size_t place(const struct work *w, size_t example, size_t i, size_t j)
{
  size_t low = i < j ? i : j, high = i < j ? j : i;
  return ((example - w->first) * w->masks + low) * w->masks + high;
}

/* ---- Asking ---- */

static void want(struct work *w, size_t example, size_t i, size_t j)
{
  w->pass[w->n++] = (struct pass){.example = example, .i = i, .j = j};
}

static r4_status ask(struct work *w, r4_error *e)
{
  r4_status s = passes_run(w->passes, w->n, w->pass, e);
  for (size_t k = 0; k < w->n && !s; k++) {
    const struct pass *p = &w->pass[k];
    if (p->i == NO_MASK) {
      w->to[p->example].alone = p->predicted;
      continue;
    }
    w->predicted[place(w, p->example, p->i, p->j)] = p->predicted;
    w->lead[place(w, p->example, p->i, p->j)] = p->lead;
  }
  w->n = 0;
  return s;
}

static int32_t of_pair(const struct work *w, size_t example, size_t i, size_t j)
{
  return w->predicted[place(w, example, i, j)];
}

/* ---- One mask at a time ---- */

/* What most f_i are, the lowest class at a tie. */
static int32_t majority(const struct work *w, size_t example)
{
  int32_t best = 0;
  size_t most = 0;
  for (size_t i = 0; i < w->masks; i++) {
    int32_t class = of_pair(w, example, i, i);
    size_t times = 0;
    for (size_t j = 0; j < w->masks; j++) times += of_pair(w, example, j, j) == class;
    if (times > most || (times == most && class < best)) best = class, most = times;
  }
  return best;
}

static void look_at_one(struct work *w, size_t example)
{
  r4_covered *to = &w->to[example];
  float least = INFINITY;
  to->predicted = majority(w, example);
  to->agreed = true;
  for (size_t i = 0; i < w->masks; i++) {
    if (of_pair(w, example, i, i) != to->predicted) to->agreed = false;
    least = fminf(least, w->lead[place(w, example, i, i)]);
  }
  to->detected = to->agreed && to->predicted >= 0 && least > 0;
  if (to->detected) to->one_margin = least;
}

/* All pairs where all f_i agree, for the certificate; else those of masks that inference may choose. */
static void want_pairs(struct work *w, size_t example)
{
  const r4_covered *to = &w->to[example];
  for (size_t i = 0; i < w->masks; i++)
    for (size_t j = i + 1; j < w->masks; j++) {
      bool chosen = of_pair(w, example, i, i) != to->predicted || of_pair(w, example, j, j) != to->predicted;
      if (to->detected || (!to->agreed && chosen)) want(w, example, i, j);
    }
}

/* ---- Two at a time ---- */

static bool holds_against_all(const struct work *w, size_t example, size_t i)
{
  for (size_t j = 0; j < w->masks; j++)
    if (of_pair(w, example, i, j) != of_pair(w, example, i, i)) return false;
  return true;
}

static void infer(struct work *w, size_t example)
{
  r4_covered *to = &w->to[example];
  for (size_t i = 0; i < w->masks; i++)
    if (of_pair(w, example, i, i) != to->predicted && holds_against_all(w, example, i)) {
      to->predicted = of_pair(w, example, i, i);
      return;
    }
}

static void certify(struct work *w, size_t example)
{
  r4_covered *to = &w->to[example];
  float least = INFINITY;
  for (size_t i = 0; i < w->masks; i++)
    for (size_t j = i; j < w->masks; j++) {
      if (of_pair(w, example, i, j) != to->predicted) return;
      least = fminf(least, w->lead[place(w, example, i, j)]);
    }
  to->recovered = least > 0;
  if (to->recovered) to->margin = least;
}

static r4_status look(struct work *w, r4_error *e)
{
  size_t end = w->first + w->count;
  for (size_t x = w->first; x < end; x++) {
    want(w, x, NO_MASK, NO_MASK);
    for (size_t i = 0; i < w->masks; i++) want(w, x, i, i);
  }
  r4_status s = ask(w, e);
  for (size_t x = w->first; x < end && !s; x++) {
    look_at_one(w, x);
    want_pairs(w, x);
  }
  if (!s) s = ask(w, e);
  for (size_t x = w->first; x < end && !s; x++) {
    if (!w->to[x].agreed) infer(w, x);
    if (w->to[x].detected) certify(w, x);
  }
  return s;
}

/* ---- All of it ---- */

static r4_status check(const r4_net *n, const r4_data *d, const r4_cover *c, const float *constant,
                       r4_error *e)
{
  bool texts = r4_data_vocabulary(d) > 0;
  if (texts != cover_is_of_texts(c))
    return r4_fail(e, R4_E_ARGUMENT, "the cover is for %s, and examples are %s",
                   cover_is_of_texts(c) ? "texts" : "images", texts ? "texts" : "not");
  if (r4_shape_count(r4_net_input(n)) != r4_shape_count(r4_data_shape(d)))
    return r4_fail(e, R4_E_SHAPE, "the net takes %lld values, the examples have %lld",
                   (long long)r4_shape_count(r4_net_input(n)), (long long)r4_shape_count(r4_data_shape(d)));
  for (size_t k = 0; k < r4_cover_constants(c); k++)
    if (!isfinite(constant[k]))
      return r4_fail(e, R4_E_ARGUMENT, "the constant of channel %zu is %g, expected a finite number", k,
                     (double)constant[k]);
  return R4_OK;
}

static r4_status look_at_all(struct work *w, size_t examples, r4_error *e)
{
  size_t table = w->masks * w->masks, asked = w->masks * (w->masks + 1) / 2 + 1;
  w->most = PASSES_MOST / table ? PASSES_MOST / table : 1;
  if (w->most > examples) w->most = examples;
  w->pass = mem_new(w->most * asked + 1, sizeof *w->pass, "passes", e);
  w->predicted = mem_new(w->most * table + 1, sizeof *w->predicted, "passes", e);
  w->lead = mem_new(w->most * table + 1, sizeof *w->lead, "passes", e);
  if (!w->pass || !w->predicted || !w->lead) return R4_E_MEMORY;
  r4_status s = R4_OK;
  for (w->first = 0; w->first < examples && !s; w->first += w->count) {
    w->count = examples - w->first < w->most ? examples - w->first : w->most;
    s = look(w, e);
  }
  return s;
}

r4_status r4_cover_predict(const r4_net *n, const float *weights, const r4_data *d,
                           const r4_cover_options *options, r4_covered *to, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(options && options->family && options->constant, "a family and its constant", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct work w = {.to = to};
  r4_cover *c = r4_cover_new(options->family, r4_data_shape(d), e);
  r4_status s = c ? check(n, d, c, options->constant, e) : e->status;
  for (size_t i = 0; i < r4_data_count(d); i++) to[i] = (r4_covered){0};
  if (!s) {
    w.masks = c->masks;
    w.passes = passes_new(n, weights, d, c, options->constant, e);
    s = w.passes ? look_at_all(&w, r4_data_count(d), e) : e->status;
  }
  passes_free(w.passes);
  r4_mem_free(w.pass);
  r4_mem_free(w.predicted);
  r4_mem_free(w.lead);
  r4_cover_free(c);
  return s;
}
