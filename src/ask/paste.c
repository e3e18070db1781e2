/* The paste test: of the examples without a mask that a net gets right, how many does it lose when the masked content
 * of examples of other classes is put on them, at its place?
 *
 *     lost_c = mean over draws of |{ i : y_i = c, no mask, right, and wrong with what is pasted }|
 *
 * Accuracy cannot tell: where only benign photographs have patches, a net that calls every patch benign is right. */
#include <math.h>
#include <string.h>

#include "ask/check.h"
#include "ask/predict.h"
#include "base/mem.h"
#include "base/purpose.h"
#include "data/fill.h"

struct test {
  const r4_net *net;
  const float *weights;
  const r4_data *d;
  r4_paste_options o;
  struct probe *probe;
  size_t *donor, donors;           /* examples with a mask, those of a class together */
  size_t first[R4_MAX_GROUPS + 1]; /* of each class in donor               */
  size_t *right, rights;           /* examples to be pasted on           */
  int32_t *predicted;
};

r4_paste_options r4_paste_defaults(void)
{
  return (r4_paste_options){.draws = 10, .batch = 256};
}

/* ---- Who is tested ---- */

/* The share of the class's examples that have a mask; NaN if it has no examples. */
static double masked_share(const r4_data *d, size_t class)
{
  size_t n = 0, masked = 0;
  for (size_t i = 0; i < d->n; i++)
    if (d->record[i].label == (int32_t) class) n++, masked += d->record[i].mask != 0;
  return n ? (double)masked / (double)n : NAN;
}

/* Classes that have masks less than half as often as another: for these, masked content speaks for the other. */
static void choose_classes(struct test *t, r4_pasted *p)
{
  double most = 0;
  for (size_t c = 0; c < p->classes; c++) most = fmax(most, masked_share(t->d, c));
  for (size_t c = 0; c < p->classes; c++)
    p->tested[c] = most > 0 && (t->o.all || masked_share(t->d, c) < most / 2);
}

static void find_donors(struct test *t)
{
  size_t classes = t->d->classes->n, at[R4_MAX_GROUPS];
  for (size_t i = 0; i < t->d->n; i++)
    if (t->d->record[i].mask) t->first[t->d->record[i].label + 1]++;
  for (size_t c = 0; c < classes; c++) t->first[c + 1] += t->first[c];
  memcpy(at, t->first, classes * sizeof *at);
  for (size_t i = 0; i < t->d->n; i++)
    if (t->d->record[i].mask) t->donor[at[t->d->record[i].label]++] = i;
  t->donors = t->first[classes];
}

static size_t own_donors(const struct test *t, int32_t class)
{
  return t->first[class + 1] - t->first[class];
}

/* Of other classes. */
static size_t donors_for(const struct test *t, int32_t class)
{
  return t->donors - own_donors(t, class);
}

/* The k-th of them. */
static size_t donor_at(const struct test *t, int32_t class, size_t k)
{
  return t->donor[k < t->first[class] ? k : k + own_donors(t, class)];
}

/* Counts the examples that can be pasted on, and lists those of them that are right. */
static void count_found(struct test *t, r4_pasted *p)
{
  for (size_t c = 0; c < p->classes; c++) p->tested[c] = p->tested[c] && donors_for(t, (int32_t)c);
  for (size_t i = 0; i < t->d->n; i++) {
    const struct record *r = t->d->record + i;
    if (r->mask || !p->tested[r->label]) continue;
    p->examples[r->label]++;
    if (t->predicted[i] != r->label) continue;
    p->found[r->label]++;
    t->right[t->rights++] = i;
  }
}

static bool any_tested(const r4_pasted *p)
{
  bool any = false;
  for (size_t c = 0; c < p->classes; c++) any |= p->tested[c];
  return any;
}

static bool any_examples(const r4_pasted *p)
{
  bool any = false;
  for (size_t c = 0; c < p->classes; c++) any |= p->examples[c] > 0;
  return any;
}

/* ---- Pasting ---- */

static size_t draw_donor(const struct test *t, size_t i, int draw)
{
  int32_t label = t->d->record[i].label;
  r4_random key = {t->o.seed, PURPOSE_PASTE, (uint32_t)draw};
  return donor_at(t, label, r4_random_below(key, i, donors_for(t, label)));
}

/* right[first .. first + n - 1] with what is pasted on them in this draw. */
static r4_data *pasted(const struct test *t, size_t first, size_t n, int draw, r4_error *e)
{
  size_t *donor = r4_mem_new(n, sizeof *donor);
  if (!donor) {
    r4_fail(e, R4_E_MEMORY, "out of memory for %zu donors", n);
    return NULL;
  }
  for (size_t k = 0; k < n; k++) donor[k] = draw_donor(t, t->right[first + k], draw);
  r4_data *d = fill_pasted(t->d, n, t->right + first, donor, e);
  r4_mem_free(donor);
  return d;
}

static r4_status ask(struct test *t, const r4_data *d, r4_error *e)
{
  double loss;
  size_t missing;
  r4_status s = predictor_run(t->probe, t->weights, d, t->predicted, &loss, e);
  return s ? s : predicted_check(d, t->predicted, &missing, e);
}

/* A batch at a time: pasted examples are floats, and all of them may be many. */
static r4_status run_draw(struct test *t, int draw, r4_pasted *p, r4_error *e)
{
  size_t batch = (size_t)t->o.batch;
  r4_status s = R4_OK;
  for (size_t first = 0; !s && first < t->rights; first += batch) {
    size_t n = t->rights - first < batch ? t->rights - first : batch;
    r4_data *d = pasted(t, first, n, draw, e);
    s = d ? ask(t, d, e) : e->status;
    for (size_t k = 0; !s && k < n; k++)
      if (t->predicted[k] != d->record[k].label) p->lost[d->record[k].label] += 1. / t->o.draws;
    r4_data_free(d);
  }
  return s;
}

/* ---- The test ---- */

static r4_status run(struct test *t, r4_pasted *p, r4_error *e)
{
  find_donors(t);
  p->donors = t->donors;
  choose_classes(t, p);
  if (!t->donors) p->none = "no example has a mask";
  if (t->donors && !any_tested(p)) p->none = "every class has masks about as often as the others";
  if (p->none) return R4_OK;
  r4_status s = ask(t, t->d, e);
  if (!s) count_found(t, p);
  if (!any_examples(p)) p->none = "no example without a mask is of another class than one with a mask";
  for (int draw = 0; !s && draw < t->o.draws; draw++) s = run_draw(t, draw, p, e);
  return s;
}

static r4_status check_options(const r4_paste_options *o, r4_error *e)
{
  if (o->draws < 1 || o->draws > 1000000)
    return r4_fail(e, R4_E_ARGUMENT, "paste test: %d draws, expected 1 to 1000000", o->draws);
  if (o->batch < 1)
    return r4_fail(e, R4_E_ARGUMENT, "paste test: a batch of %lld, expected 1 or more", (long long)o->batch);
  return R4_OK;
}

r4_status r4_paste_test(const r4_net *net, const float *weights, const r4_data *d,
                        const r4_paste_options *options, r4_pasted *p, r4_error *e)
{
  NEEDS(net, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(p, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct test t = {.net = net, .weights = weights, .d = d, .o = options ? *options : r4_paste_defaults()};
  *p = (r4_pasted){.draws = t.o.draws, .classes = d->classes->n};
  r4_status s = check_options(&t.o, e);
  if (!s) s = eval_check(net, weights, d, e);
  if (s) return s;
  if (d->classes->n > R4_MAX_GROUPS) {
    *p = (r4_pasted){.draws = t.o.draws, .none = "there are more than 1024 classes"};
    return R4_OK;
  }
  t.donor = r4_mem_new(d->n, sizeof *t.donor);
  t.right = r4_mem_new(d->n, sizeof *t.right);
  t.predicted = r4_mem_new(d->n, sizeof *t.predicted);
  t.probe = t.donor && t.right && t.predicted ? predictor_new(net, t.o.batch, e) : NULL;
  if (t.probe)
    s = run(&t, p, e);
  else
    s =
      e->status ? e->status : r4_fail(e, R4_E_MEMORY, "out of memory for a paste test of %zu examples", d->n);
  r4_mem_free(t.donor);
  r4_mem_free(t.right);
  r4_mem_free(t.predicted);
  probe_free(t.probe);
  return s;
}

/* ---- Over seeds ---- */

/* NaN if nothing was found. */
static double share_of(const r4_pasted *p, int32_t class)
{
  double found = 0, lost = 0;
  for (size_t c = 0; c < p->classes; c++)
    if (class < 0 || c == (size_t) class) found += (double)p->found[c], lost += p->lost[c];
  return found > 0 ? lost / found : NAN;
}

r4_mean_sd r4_paste_share(const r4_pasted *p, size_t seeds, int32_t class)
{
  r4_mean_sd r = {0};
  for (size_t k = 0; k < seeds; k++) r.mean += share_of(&p[k], class) / (double)seeds;
  for (size_t k = 0; k < seeds; k++) r.sd += pow(share_of(&p[k], class) - r.mean, 2);
  r.sd = isnan(r.mean) ? NAN : seeds > 1 ? sqrt(r.sd / (double)(seeds - 1)) : 0;
  return r;
}
