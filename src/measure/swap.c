/* The swap test: which answers change with what stands in the masks? r4.h has the formula. */
#include "measure/swap.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/batch/donors.h"
#include "data/batch/mask_fill.h"
#include "measure/check.h"
#include "measure/predict.h"
#include "r4_tools.h"

/* Examples that are tested in one way. */
struct tested {
  size_t *example, n;
  size_t *flips, *losses; /* [groups], over all draws */
  bool removal;           /* masked content gives way to what another class has in its place */
};

struct test {
  const float *weights;
  const r4_data *d;
  const r4_data *from; /* whose masked content it is: d, or others of options */
  r4_swap_options o;
  struct fill fill;
  struct probe *probe;
  struct donors donors;   /* of from                                    */
  struct donors all;      /* of d: all of its examples                  */
  struct tested exchanged, removed;
  int32_t *before, *now;  /* answers to all, and to those of a batch    */
  size_t *example_donor;  /* [batch]                                    */
  bool *rare;             /* [classes]                                  */
};

r4_swap_options r4_swap_defaults(void)
{
  return (r4_swap_options){.content = R4_FILL_SWAP, .draws = 10, .batch = 256};
}

/* ---- Who is tested ---- */

static size_t draw_donor(const struct test *t, size_t i, int draw)
{
  int32_t label = t->d->record[i].label;
  r4_random key = {t->o.seed, PURPOSE_SWAP, (uint32_t)draw};
  return donors_at(&t->donors, label, r4_random_below(key, i, donors_for(&t->donors, label)));
}

static size_t draw_other(const struct test *t, size_t i, int draw)
{
  int32_t label = t->d->record[i].label;
  r4_random key = {t->o.seed, PURPOSE_REMOVE, (uint32_t)draw};
  return donors_at(&t->all, label, r4_random_below(key, i, donors_for(&t->all, label)));
}

/* The donor's region is put on every example, whatever its own mask. */
static bool pastes(const struct test *t)
{
  return t->o.content == R4_FILL_PASTE;
}

/* Content or region come from another example. */
static bool needs_donor(const struct test *t, size_t i)
{
  return t->o.content == R4_FILL_SWAP || pastes(t) || !t->d->record[i].mask;
}

/* All with a mask, and those without where masks are rare; or all. */
static void choose_tested(struct test *t, r4_swapped *to)
{
  for (size_t c = 0; c < t->d->classes->n; c++) t->rare[c] = donors_are_rare(&t->donors, (int32_t)c);
  for (size_t i = 0; i < t->d->n; i++) {
    const struct record *r = t->d->record + i;
    if (!r->mask && !t->rare[r->label] && !pastes(t)) continue;
    if (needs_donor(t, i) && !donors_for(&t->donors, r->label)) continue;
    t->exchanged.example[t->exchanged.n++] = i;
    to->examples[r->group]++;
    (*(r->mask && !pastes(t) ? &to->inside : &to->pasted))++;
  }
}

/* Whose masked content no other class has, or only by chance: an exchange cannot tell whether the net needs it. */
static void choose_removed(struct test *t, r4_swapped *to)
{
  for (size_t i = 0; t->o.content == R4_FILL_SWAP && i < t->d->n; i++) {
    const struct record *r = t->d->record + i;
    if (!r->mask || donors_elsewhere(&t->donors, r->label) || !donors_for(&t->all, r->label)) continue;
    t->removed.example[t->removed.n++] = i;
    to->removed_examples[r->group]++;
    to->removed++;
  }
}

/* Further draws would repeat the first: neither content nor place is drawn. */
static bool is_fixed(const struct test *t, const r4_swapped *to)
{
  r4_fill c = t->o.content;
  return !to->pasted && (c == R4_FILL_BLANK || c == R4_FILL_MEAN || c == R4_FILL_BLUR);
}

/* ---- Asking ---- */

static r4_status ask(struct test *t, const r4_data *d, int32_t *answers, r4_error *e)
{
  double loss;
  size_t missing;
  r4_status s = predictor_run(t->probe, t->weights, d, answers, &loss, e);
  return s ? s : predicted_check(d, answers, &missing, e);
}

static void count(const struct test *t, struct tested *of, const size_t *example, size_t n)
{
  for (size_t k = 0; k < n; k++) {
    const struct record *r = t->d->record + example[k];
    int32_t before = t->before[example[k]];
    of->flips[r->group] += t->now[k] != before;
    of->losses[r->group] += before == r->label && t->now[k] != r->label;
  }
}

/* Who gives content, or a place for it, in this draw; the example itself if nobody needs to. */
static size_t donor_of(const struct test *t, bool removal, size_t example, int draw)
{
  if (removal) return draw_other(t, example, draw);
  return needs_donor(t, example) ? draw_donor(t, example, draw) : example;
}

static r4_data *change(const struct test *t, int draw, size_t n, const size_t *example, r4_error *e)
{
  return pastes(t) ? fill_pasted(&t->fill, t->d, n, example, t->example_donor, e)
                   : fill_tested(&t->fill, (uint32_t)draw, n, example, t->example_donor, e);
}

/* A batch at a time: changed examples are floats, and all of them may be many. */
static r4_status run_draw(struct test *t, struct tested *of, int draw, r4_error *e)
{
  size_t batch = (size_t)t->o.batch;
  r4_status s = R4_OK;
  for (size_t first = 0; !s && first < of->n; first += batch) {
    size_t n = of->n - first < batch ? of->n - first : batch;
    const size_t *example = of->example + first;
    for (size_t k = 0; k < n; k++) t->example_donor[k] = donor_of(t, of->removal, example[k], draw);
    r4_data *d = change(t, draw, n, example, e);
    s = d ? ask(t, d, t->now, e) : e->status;
    if (!s) count(t, of, example, n);
    r4_data_free(d);
  }
  return s;
}

static void count_found(const struct test *t, const struct tested *of, size_t *found)
{
  for (size_t k = 0; k < of->n; k++) {
    const struct record *r = t->d->record + of->example[k];
    found[r->group] += t->before[of->example[k]] == r->label;
  }
}

static r4_status run_draws(struct test *t, r4_swapped *to, r4_error *e)
{
  r4_status s = ask(t, t->d, t->before, e);
  if (s) return s;
  count_found(t, &t->exchanged, to->found);
  count_found(t, &t->removed, to->removed_found);
  for (int draw = 0; !s && draw < to->draws; draw++) {
    s = run_draw(t, &t->exchanged, draw, e);
    if (!s) s = run_draw(t, &t->removed, draw, e);
  }
  for (size_t g = 0; g < to->groups; g++) {
    to->flipped[g] = (double)t->exchanged.flips[g] / to->draws;
    to->lost[g] = (double)t->exchanged.losses[g] / to->draws;
    to->removed_lost[g] = (double)t->removed.losses[g] / to->draws;
  }
  return s;
}

/* ---- The test ---- */

static const char NO_MASK[] = "no example has a mask",
                  NO_DONOR[] = "no example to take content from has a mask",
                  ONE_CLASS[] = "all examples are of the class of those with a mask",
                  MAYBE_CHANCE[] = "only one class has masks, and so few that this may be chance",
                  MANY_GROUPS[] = "there are more than 1024 groups";

const char *swap_reason(const char *text)
{
  const char *const known[] = {NO_MASK, NO_DONOR, ONE_CLASS, MAYBE_CHANCE, MANY_GROUPS};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (!strcmp(text, known[k])) return known[k];
  return "there was nothing to swap";
}

static bool is_of_one_class(const r4_data *d)
{
  for (size_t i = 1; i < d->n; i++)
    if (d->record[i].label != d->record[0].label) return false;
  return true;
}

/* Who is tested, or why nobody is. */
static void choose(struct test *t, r4_swapped *to)
{
  to->donors = donors_all(&t->donors);
  if (to->donors) choose_tested(t, to);
  if (t->exchanged.n) choose_removed(t, to);
  if (!to->donors)
    to->none = t->from == t->d ? NO_MASK : NO_DONOR;
  else if (!t->exchanged.n)
    to->none = is_of_one_class(t->d) ? ONE_CLASS : MAYBE_CHANCE;
}

static r4_status run(struct test *t, r4_swapped *to, r4_error *e)
{
  choose(t, to);
  if (to->none) return R4_OK;
  if (is_fixed(t, to)) to->draws = 1;
  r4_status s = fill_init(&t->fill, t->from, t->o.content, t->o.seed, e);
  if (!s) s = run_draws(t, to, e);
  fill_clear(&t->fill);
  return s;
}

static r4_status check_options(const r4_swap_options *o, r4_error *e)
{
  if (o->content <= R4_FILL_NONE || o->content > R4_FILL_BLANK)
    return r4_fail(
      e, R4_E_ARGUMENT,
      "swap test: content %d, expected R4_FILL_SWAP, _PASTE, _BLANK, _MEAN, _NOISE, _COLOUR or _BLUR",
      (int)o->content);
  if (o->draws < 1 || o->draws > 1000000)
    return r4_fail(e, R4_E_ARGUMENT, "swap test: %d draws, expected 1 to 1000000", o->draws);
  if (o->batch < 1)
    return r4_fail(e, R4_E_ARGUMENT, "swap test: a batch of %lld, expected 1 or more", (long long)o->batch);
  return R4_OK;
}

/* Donors of other data must fit: a feature of theirs is put where the same feature is here. */
static r4_status check_donors(const struct test *t, r4_error *e)
{
  const struct column *x = data_x(t->d), *theirs = data_x(t->from);
  if (x->features != theirs->features || x->is->ids != theirs->is->ids)
    return r4_fail(e, R4_E_SHAPE, "swap test: donors are %zu %s, expected %zu %s, like the examples",
                   theirs->features, theirs->is->element, x->features, x->is->element);
  if (t->d->classes->n != t->from->classes->n)
    return r4_fail(e, R4_E_SHAPE, "swap test: donors are of %zu classes, expected %zu, like the examples",
                   t->from->classes->n, t->d->classes->n);
  return R4_OK;
}

static r4_status make_tested(struct tested *to, const r4_data *d, r4_error *e)
{
  bool room = (to->example = mem_new(d->n, sizeof *to->example, "a swap test", e)) &&
              (to->flips = mem_new(d->groups->n, sizeof *to->flips, "a swap test", e)) &&
              (to->losses = mem_new(d->groups->n, sizeof *to->losses, "a swap test", e));
  return room ? R4_OK : R4_E_MEMORY;
}

static r4_status make_room(struct test *t, r4_error *e)
{
  t->removed.removal = true;
  if (donors_find(&t->donors, t->from, e) || donors_find_all(&t->all, t->d, e)) return e->status;
  if (make_tested(&t->exchanged, t->d, e) || make_tested(&t->removed, t->d, e)) return R4_E_MEMORY;
  size_t n = t->d->n, classes = t->d->classes->n, batch = (size_t)t->o.batch;
  if (batch > n) batch = n;
  bool room = (t->rare = mem_new(classes, sizeof *t->rare, "a swap test", e)) &&
              (t->before = mem_new(n, sizeof *t->before, "a swap test", e)) &&
              (t->now = mem_new(batch, sizeof *t->now, "a swap test", e)) &&
              (t->example_donor = mem_new(batch, sizeof *t->example_donor, "a swap test", e));
  return room ? R4_OK : R4_E_MEMORY;
}

static void forget(struct test *t)
{
  void *const room[] = {t->exchanged.example, t->exchanged.flips, t->exchanged.losses, t->removed.example,
                        t->removed.flips,     t->removed.losses,  t->before,           t->now,
                        t->example_donor,     t->rare};
  for (size_t k = 0; k < sizeof room / sizeof *room; k++) r4_mem_free(room[k]);
  donors_clear(&t->donors);
  donors_clear(&t->all);
  probe_free(t->probe);
}

r4_status r4_swap_test(const r4_net *net, const float *weights, const r4_data *d,
                       const r4_swap_options *options, r4_swapped *to, r4_error *e)
{
  NEEDS(net, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct test t = {.weights = weights, .d = d, .o = options ? *options : r4_swap_defaults()};
  *to = (r4_swapped){.content = t.o.content, .draws = t.o.draws, .groups = d->groups->n};
  t.from = pastes(&t) && t.o.donors ? t.o.donors : d;
  r4_status s = check_options(&t.o, e);
  if (!s) s = check_donors(&t, e);
  if (!s) s = eval_check(net, weights, d, e);
  if (s) return s;
  if (d->groups->n > R4_MAX_GROUPS) {
    to->none = MANY_GROUPS;
    to->groups = 0;
    return R4_OK;
  }
  s = make_room(&t, e);
  if (!s && !(t.probe = predictor_new(net, t.o.batch, e))) s = e->status;
  if (!s) s = run(&t, to, e);
  forget(&t);
  return s;
}

/* ---- The examples themselves ---- */

/* All that are tested, with a donor each by the first draw, and the masks where its content lies. */
static r4_data *change_all(struct test *t, r4_error *e)
{
  if (fill_init(&t->fill, t->d, t->o.content, t->o.seed, e)) return NULL;
  for (size_t k = 0; k < t->exchanged.n; k++) t->example_donor[k] = donor_of(t, false, t->exchanged.example[k], 0);
  r4_data *made = fill_tested(&t->fill, 0, t->exchanged.n, t->exchanged.example, t->example_donor, e);
  for (size_t k = 0; made && k < t->exchanged.n; k++)
    if (!made->record[k].mask) made->record[k].mask = t->d->record[t->example_donor[k]].mask;
  fill_clear(&t->fill);
  return made;
}

/* Of those, the examples to which the right answer is lost. */
static r4_data *keep_lost(struct test *t, const r4_data *changed, r4_error *e)
{
  size_t lost = 0, *which = t->example_donor; /* not needed any more */
  if (ask(t, t->d, t->before, e) || ask(t, changed, t->now, e)) return NULL;
  for (size_t k = 0; k < t->exchanged.n; k++) {
    int32_t label = t->d->record[t->exchanged.example[k]].label;
    if (t->before[t->exchanged.example[k]] != label || t->now[k] == label) continue;
    t->exchanged.example[lost] = t->exchanged.example[k];
    which[lost++] = k;
  }
  t->exchanged.n = lost;
  return r4_data_subset(changed, lost, which, e);
}

static r4_data *swap_data(struct test *t, const r4_net *net, r4_error *e)
{
  enum { BATCH = 64 };
  r4_swapped found = {0};
  choose(t, &found);
  if (found.none) {
    r4_fail(e, R4_E_ARGUMENT, "there is nothing to swap: %s", found.none);
    return NULL;
  }
  r4_data *changed = change_all(t, e), *lost = NULL;
  if (!changed || !net) return changed;
  t->probe = predictor_new(net, BATCH, e);
  if (t->probe) lost = keep_lost(t, changed, e);
  r4_data_free(changed);
  return lost;
}

r4_data *r4_swap_data(const r4_net *net, const float *weights, const r4_data *d,
                      const r4_swap_options *options, size_t *example, r4_error *e)
{
  NEEDS(d, "data", NULL);
  NEEDS(!net || weights, "weights", NULL);
  r4_error own = {0};
  if (!e) e = &own;
  struct test t = {.weights = weights, .d = d, .o = options ? *options : r4_swap_defaults()};
  t.from = d;
  if (check_options(&t.o, e) || (net && eval_check(net, weights, d, e))) return NULL;
  if (pastes(&t)) {
    r4_fail(e, R4_E_ARGUMENT, "swap test: content R4_FILL_PASTE is counted only, expected R4_FILL_SWAP, ..");
    return NULL;
  }
  if (d->groups->n > R4_MAX_GROUPS) {
    r4_fail(e, R4_E_ARGUMENT, "there is nothing to swap: %s", MANY_GROUPS);
    return NULL;
  }
  t.o.batch = (int64_t)d->n; /* all at once */
  r4_data *made = make_room(&t, e) ? NULL : swap_data(&t, net, e);
  if (made && example) memcpy(example, t.exchanged.example, t.exchanged.n * sizeof *example);
  forget(&t);
  return made;
}

/* ---- Over seeds ---- */

/* Sums of what is counted and of what it is a share of. */
static double share(size_t groups, const double *part, const size_t *all, int32_t group)
{
  double sum = 0, of = 0;
  for (size_t g = 0; g < groups; g++) {
    if (group >= 0 && g != (size_t)group) continue;
    sum += part[g];
    of += (double)all[g];
  }
  return of > 0 ? sum / of : NAN;
}

static double flipped_share(const r4_swapped *s, int32_t group)
{
  return share(s->groups, s->flipped, s->examples, group);
}

static double lost_share(const r4_swapped *s, int32_t group)
{
  return share(s->groups, s->lost, s->found, group);
}

static double removed_share(const r4_swapped *s, int32_t group)
{
  return share(s->groups, s->removed_lost, s->removed_found, group);
}

static r4_mean_sd over_seeds(const r4_swapped *s, size_t seeds, double (*of)(const r4_swapped *, int32_t),
                             int32_t group)
{
  r4_mean_sd r = {0};
  for (size_t k = 0; k < seeds; k++) r.mean += of(&s[k], group) / (double)seeds;
  for (size_t k = 0; k < seeds; k++) r.sd += pow(of(&s[k], group) - r.mean, 2);
  r.sd = seeds > 1 ? sqrt(r.sd / (double)(seeds - 1)) : NAN;
  return r;
}

r4_mean_sd r4_swap_flipped(const r4_swapped *s, size_t seeds, int32_t group)
{
  return over_seeds(s, seeds, flipped_share, group);
}

r4_mean_sd r4_swap_removed(const r4_swapped *s, size_t seeds, int32_t group)
{
  return over_seeds(s, seeds, removed_share, group);
}

r4_mean_sd r4_swap_lost(const r4_swapped *s, size_t seeds, int32_t group)
{
  return over_seeds(s, seeds, lost_share, group);
}
