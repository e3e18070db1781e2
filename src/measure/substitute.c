/* In the place of each of its masked words a text may have one of the words of the list that have as many pieces, W of
 * them, or what it has: the product of W + 1 texts. Bounds look at all of them at once, as one box, which has all
 * pieces of all words at each masked token: what they say is true, and may be too careful.
 * Where they are few they are tried one by one, which is exact. */
#include "measure/substitute.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/data.h"
#include "measure/check.h"
#include "measure/predict.h"

/* ---- Bounds ---- */

/* The least that the logit of the label can be above all others. */
static size_t build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  static const double MINUS_MUCH = -1e30;
  r4_graph *g = o->g;
  struct view v = view_clean(o);
  r4_pair z = view_bounds(o, BOUND_BY_INTERVALS, v, view_logits(o, v), view_radius(o));
  r4_id zero = r4_const(g, 0, R4_SCALAR), much = r4_const(g, MINUS_MUCH, R4_SCALAR);
  r4_id own = r4_sum(g, r4_select(g, o->one_hot, z.lo, zero), R4_AXIS(1));
  r4_id others = r4_reduce_max(g, r4_select(g, o->one_hot, much, z.hi), R4_AXIS(1));
  out[0] = r4_sub(g, own, others);
  return 1;
}

/* Bounds that overflow prove nothing, of a whole batch: *overflowed counts its texts. */
static r4_status certify(const r4_net *net, const float *weights, const r4_data *d,
                         const struct substitute_options *o, bool *certified, size_t *overflowed, r4_error *e)
{
  const struct probe_options options = {.net = net,
                                        .batch = o->batch,
                                        .eps = 1,
                                        .words = o->words,
                                        .word_count = o->word_count,
                                        .build = build,
                                        .cuts = true};
  size_t n = r4_data_count(d), *order = probe_order(d, e);
  struct probe *p = order ? probe_new(&options, e) : NULL;
  r4_status s = p ? R4_OK : e->status;
  for (size_t first = 0; first < n && !s; first += probe_batch(p)) {
    size_t here = n - first < probe_batch(p) ? n - first : probe_batch(p);
    s = probe_ask(p, weights, d, here, order + first, e);
    if (s == R4_E_DOMAIN) {
      *overflowed += here;
      s = R4_OK;
      continue;
    }
    for (size_t k = 0; k < here && !s; k++) certified[order[first + k]] = *probe_row(p, 0, k) > 0;
  }
  probe_free(p);
  r4_mem_free(order);
  return s;
}

/* ---- One by one ---- */

/* A masked word of a text: its first token, and how many pieces it has; 0: there is none. */
struct masked_word {
  size_t first, pieces;
};

static bool continues(const r4_data *d, int32_t id)
{
  const char *piece = d->pieces && (size_t)id < d->pieces->n ? d->pieces->name[id] : "";
  return piece[0] == '#' && piece[1] == '#' && piece[2];
}

/* The first from token k on. Of texts without pieces each token is a word. */
static struct masked_word next_word(const r4_data *d, size_t i, size_t k)
{
  const uint8_t *mask = data_mask_bytes(d, i);
  const int32_t *id = column_row(data_x(d), d->record[i].row);
  size_t length = r4_data_length(d, i);
  while (mask && k < length && mask[k] < 128) k++;
  if (!mask || k >= length) return (struct masked_word){0};
  struct masked_word w = {k, 1};
  while (k + w.pieces < length && mask[k + w.pieces] >= 128 && continues(d, id[k + w.pieces])) w.pieces++;
  return w;
}

static size_t candidates(const struct substitute_options *o, size_t pieces)
{
  return pieces <= MOST_PIECES ? o->by_pieces.count[pieces] : 0;
}

/* The product of W + 1, or 0 if that is more than are tried. */
static size_t replacements(const r4_data *d, size_t i, const struct substitute_options *o)
{
  size_t all = 1;
  for (struct masked_word w = next_word(d, i, 0); w.pieces; w = next_word(d, i, w.first + w.pieces)) {
    all *= candidates(o, w.pieces) + 1;
    if (all > o->tries) return 0;
  }
  return all;
}

/* The text i with its replacement number c: the digits of c, to the bases W + 1, say which word stands where, and
 * the last that none does. */
static void replace(const r4_data *d, size_t i, size_t c, const struct substitute_options *o, int32_t *to)
{
  memcpy(to, column_row(data_x(d), d->record[i].row), data_x(d)->features * sizeof *to);
  for (struct masked_word w = next_word(d, i, 0); w.pieces; w = next_word(d, i, w.first + w.pieces)) {
    size_t n = candidates(o, w.pieces), word = c % (n + 1);
    if (word < n)
      memcpy(to + w.first, o->by_pieces.id[w.pieces] + word * w.pieces, w.pieces * sizeof *to);
    c /= n + 1;
  }
}

/* All texts of d with their c-th replacements; those that have fewer begin anew. */
static r4_data *replaced(const r4_data *d, size_t c, const struct substitute_options *o, r4_error *e)
{
  r4_data *made = data_derive(d, e);
  struct column *x = made ? column_for_changed(data_x(d), d->n, e) : NULL;
  if (!x) {
    r4_data_free(made);
    return NULL;
  }
  for (size_t i = 0; i < d->n; i++) {
    size_t all = replacements(d, i, o);
    replace(d, i, all ? c % all : c, o, column_row(x, i));
    x->length[i] = (uint32_t)r4_data_length(d, i);
  }
  for (size_t i = 0; i < d->n; i++) made->record[i].row = (uint32_t)i;
  data_set_x(made, x);
  return made;
}

static r4_status answer(const r4_net *net, const float *weights, const r4_data *d, int64_t batch, bool *right,
                        r4_error *e)
{
  double loss;
  int32_t *predicted = mem_new(d->n + 1, sizeof *predicted, "predictions", e);
  struct probe *p = predicted ? predictor_new(net, batch, e) : NULL;
  r4_status s = p ? predictor_run(p, weights, d, predicted, &loss, e) : e->status;
  for (size_t i = 0; i < d->n && !s; i++) right[i] = right[i] && predicted[i] == d->record[i].label;
  probe_free(p);
  r4_mem_free(predicted);
  return s;
}

/* right[i] stays if the answer to text i is right with each of its replacements; those that have too many are left as
 * they are. */
static r4_status enumerate(const r4_net *net, const float *weights, const r4_data *d,
                           const struct substitute_options *o, bool *right, r4_error *e)
{
  r4_status s = R4_OK;
  size_t most = 0;
  for (size_t i = 0; i < d->n; i++) {
    size_t all = replacements(d, i, o);
    if (all > most) most = all;
  }
  for (size_t c = 0; c < most && !s; c++) {
    r4_data *other = replaced(d, c, o, e);
    s = other ? answer(net, weights, other, o->batch, right, e) : e->status;
    r4_data_free(other);
  }
  return s;
}

/* ---- The test ---- */

/* Those with masked tokens, evenly spread. */
static r4_data *sample(const r4_data *d, size_t most, r4_error *e)
{
  size_t n = 0, *example = mem_new(d->n + 1, sizeof *example, "choosing among texts", e);
  if (!example) return NULL;
  for (size_t i = 0; i < d->n; i++)
    if (r4_data_has_mask(d, i)) example[n++] = i;
  size_t chosen = n < most ? n : most;
  for (size_t k = 0; k < chosen; k++) example[k] = example[k * n / chosen];
  r4_data *some = r4_data_subset(d, chosen, example, e);
  r4_mem_free(example);
  return some;
}

/* Its pieces in a row, as far as there is room. */
static void name_word(const r4_data *d, size_t i, struct masked_word w, char *to, size_t size)
{
  const int32_t *id = column_row(data_x(d), d->record[i].row);
  struct text name = {0};
  for (size_t k = w.first; k < w.first + w.pieces; k++)
    if (d->pieces && (size_t)id[k] < d->pieces->n)
      text_add(&name, "%s", d->pieces->name[id[k]] + (continues(d, id[k]) ? 2 : 0));
    else
      text_add(&name, "%d", (int)id[k]);
  if (name.s) c_locale_print(to, size, "%.40s", name.s);
  r4_mem_free(name.s);
}

/* The list has another word of as many pieces than the one that stands there. */
static bool has_other(const r4_data *d, size_t i, struct masked_word w, const struct substitute_options *o)
{
  const int32_t *id = column_row(data_x(d), d->record[i].row);
  for (size_t k = 0; k < candidates(o, w.pieces); k++)
    if (memcmp(id + w.first, o->by_pieces.id[w.pieces] + k * w.pieces, w.pieces * sizeof *id)) return true;
  return false;
}

/* Masked words that the list has no other for. */
static void count_kept(const r4_data *d, const struct substitute_options *o, r4_substituted *to)
{
  for (size_t i = 0; i < d->n; i++)
    for (struct masked_word w = next_word(d, i, 0); w.pieces; w = next_word(d, i, w.first + w.pieces))
      if (!has_other(d, i, w, o) && !to->kept++)
        name_word(d, i, w, to->first_kept, sizeof to->first_kept);
}

static void count(const r4_data *d, const struct substitute_options *o, const bool *right,
                  const bool *certified, const bool *exact, r4_substituted *to)
{
  to->groups = r4_data_groups(d);
  for (size_t i = 0; i < d->n; i++) {
    size_t g = (size_t)d->record[i].group;
    bool few = replacements(d, i, o) > 0;
    to->examples[g]++;
    to->right[g] += right[i];
    to->certified[g] += certified[i];
    to->tried[g] += few;
    to->held[g] += few && exact[i];
    to->proved[g] += few && certified[i];
  }
}

static r4_status test(const r4_net *net, const float *weights, const r4_data *d,
                      const struct substitute_options *o, r4_substituted *to, r4_error *e)
{
  bool *flag = mem_new(3 * d->n + 1, sizeof *flag, "texts", e), *right = flag, *certified = flag + d->n,
       *exact = flag + 2 * d->n;
  if (!flag) return R4_E_MEMORY;
  memset(flag, 1, d->n * sizeof *flag);
  r4_status s = answer(net, weights, d, o->batch, right, e);
  memcpy(exact, right, d->n * sizeof *flag);
  if (!s) s = certify(net, weights, d, o, certified, &to->overflowed, e);
  if (!s) s = enumerate(net, weights, d, o, exact, e);
  if (!s) count(d, o, right, certified, exact, to);
  if (!s) count_kept(d, o, to);
  r4_mem_free(flag);
  return s;
}

r4_status substitute_test(const r4_net *net, const float *weights, const r4_data *d,
                          const struct substitute_options *o, r4_substituted *to, r4_error *e)
{
  *to = (r4_substituted){.tries = o->tries};
  for (size_t n = 1; n <= MOST_PIECES; n++) to->words += o->by_pieces.count[n];
  r4_status s = eval_check(net, weights, d, e);
  if (s) return s;
  r4_data *some = sample(d, o->most, e);
  if (!some) return e->status;
  if (!some->n)
    to->none = "no text has a mask";
  else
    s = test(net, weights, some, o, to, e);
  r4_data_free(some);
  return s;
}
