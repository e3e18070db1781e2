/* The claim "words": whatever tokens of a list stand at the masked tokens of a text, the class stays.
 *
 * Up to the leaf of the net a token knows nothing but its id and its place. So at each masked token the leaf is in
 *
 *     H_t = hull { leaf of token i at place t : i of the list, or what stands there },
 *
 * and the rest of the net is enclosed over the product of these boxes. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "certify/example.h"
#include "module/net.h"
#include "op/sound.h"

enum { BATCH = 32 };

struct certifier {
  const r4_net *net;
  const r4_data *d;
  const int32_t *word;
  size_t words;
  const r4_certify_options *o;
  r4_graph *before, *behind; /* the leaf */
  r4_id leaf;                /* of before */
  struct margins margins;
  struct encloser *leaves, *rest;
  size_t batch, tokens, each; /* each: values of the leaf of one text */
  double *weights, *id, *valid;        /* [batch, tokens]              */
  double *lo, *hi, *hull_lo, *hull_hi; /* [batch, each]; [each]        */
  float *row;                          /* [batch, tokens]: ids, or mask */
  r4_certified *to;
};

/* ---- Making ---- */

static r4_shape rows_of(size_t batch, r4_shape one)
{
  r4_shape s = {.rank = one.rank + 1, .dim = {(int64_t)batch}};
  memcpy(s.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
  return s;
}

/* Both graphs: ids to leaf, and leaf to logits. */
static r4_status build(struct certifier *c, r4_id *param, r4_error *e)
{
  const r4_net *n = c->net;
  r4_id node[MARGIN_NODES];
  c->before = r4_graph_new();
  c->behind = r4_graph_new();
  if (!c->before || !c->behind) return r4_fail(e, R4_E_MEMORY, "out of memory for a net's graph");
  r4_id x = r4_input(c->before, "x", rows_of(c->batch, r4_net_input(n)));
  r4_net_inputs(n, c->before, param);
  c->leaf = net_to_leaf(n, c->before, param, NULL, x);
  r4_id leaf = r4_input(c->behind, "leaf", rows_of(c->batch, net_leaf(n)));
  struct net_use use = {.valid = r4_input(c->behind, "valid", rows_of(c->batch, r4_net_input(n)))};
  r4_net_inputs(n, c->behind, param);
  margins_find(&c->margins, c->behind, net_from_leaf(n, c->behind, param, &use, leaf), c->o->semantics);
  c->leaves = encloser_new(c->before, 1, &c->leaf, c->o->semantics, e);
  size_t nodes = margins_nodes(&c->margins, node);
  c->rest = c->leaves ? encloser_new(c->behind, nodes, node, c->o->semantics, e) : NULL;
  return c->rest ? R4_OK : e->status;
}

static r4_status bind(struct certifier *c, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < r4_net_params(c->net) && !s; k++) {
    const double *w = c->weights + r4_net_param_offset(c->net, k);
    s = encloser_input(c->leaves, r4_net_param_name(c->net, k), w, w, e);
    if (!s) s = encloser_input(c->rest, r4_net_param_name(c->net, k), w, w, e);
  }
  if (!s) s = encloser_input(c->leaves, "x", c->id, c->id, e);
  if (!s) s = encloser_input(c->rest, "valid", c->valid, c->valid, e);
  return s ? s : encloser_input(c->rest, "leaf", c->lo, c->hi, e);
}

static r4_status make_room(struct certifier *c, const float *stored, r4_error *e)
{
  size_t size = r4_net_size(c->net), ids = c->batch * c->tokens, all = c->batch * c->each;
  c->weights = mem_new(size + 1, sizeof *c->weights, "weights", e);
  c->id = c->weights ? mem_new(2 * ids, sizeof *c->id, "texts", e) : NULL;
  c->lo = c->id ? mem_new(2 * (all + c->each), sizeof *c->lo, "boxes", e) : NULL;
  c->row = c->lo ? mem_new(ids, sizeof *c->row, "texts", e) : NULL;
  if (!c->row) return R4_E_MEMORY;
  c->valid = c->id + ids;
  c->hi = c->lo + all;
  c->hull_lo = c->hi + all;
  c->hull_hi = c->hull_lo + c->each;
  for (size_t k = 0; k < size; k++) c->weights[k] = stored[k];
  return R4_OK;
}

static r4_status open_certifier(struct certifier *c, const float *stored, r4_error *e)
{
  c->tokens = (size_t)r4_net_input(c->net).dim[0];
  c->each = (size_t)r4_shape_count(net_leaf(c->net));
  c->batch = c->o->batch > 0 ? (size_t)c->o->batch : BATCH;
  r4_id *param = mem_new(r4_net_params(c->net) + 1, sizeof *param, "a net's graph", e);
  r4_status s = param ? build(c, param, e) : R4_E_MEMORY;
  r4_mem_free(param);
  if (!s) s = make_room(c, stored, e);
  return s ? s : bind(c, e);
}

static void close_certifier(struct certifier *c)
{
  encloser_free(c->leaves);
  encloser_free(c->rest);
  r4_graph_free(c->before);
  r4_graph_free(c->behind);
  r4_mem_free(c->weights);
  r4_mem_free(c->id);
  r4_mem_free(c->lo);
  r4_mem_free(c->row);
}

/* ---- Hulls ---- */

static void widen(size_t n, double *lo, double *hi, const double *other_lo, const double *other_hi)
{
  for (size_t k = 0; k < n; k++) {
    lo[k] = sound_min(lo[k], other_lo[k]);
    hi[k] = sound_max(hi[k], other_hi[k]);
  }
}

/* Of the words of the list, at every place: texts of one word. */
static r4_status enclose_words(struct certifier *c, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < c->each; k++) c->hull_lo[k] = INFINITY, c->hull_hi[k] = -INFINITY;
  for (size_t first = 0; first < c->words && !s; first += c->batch) {
    size_t n = c->words - first < c->batch ? c->words - first : c->batch;
    for (size_t k = 0; k < c->batch * c->tokens; k++) {
      size_t row = k / c->tokens;
      c->id[k] = c->word[first + (row < n ? row : 0)];
    }
    s = encloser_run(c->leaves, e);
    for (size_t k = 0; k < n && !s; k++)
      widen(c->each, c->hull_lo, c->hull_hi, encloser_lo(c->leaves, c->leaf) + k * c->each,
            encloser_hi(c->leaves, c->leaf) + k * c->each);
  }
  return s;
}

/* Rows behind the last example are of no interest: copies of the first. */
static size_t example_of(size_t first, size_t n, size_t row)
{
  return first + (row < n ? row : 0);
}

static void read_texts(struct certifier *c, size_t first, size_t n)
{
  for (size_t row = 0; row < c->batch; row++) {
    size_t i = example_of(first, n, row), at = row * c->tokens;
    r4_data_values(c->d, i, c->row + at);
    for (size_t t = 0; t < c->tokens; t++) {
      c->id[at + t] = c->row[at + t];
      c->valid[at + t] = t < r4_data_length(c->d, i);
    }
  }
}

static void widen_masked(struct certifier *c, size_t first, size_t n)
{
  size_t width = c->each / c->tokens;
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < c->batch; row++) {
    float *mask = c->row + row * c->tokens;
    r4_data_mask(c->d, example_of(first, n, row), mask);
    for (size_t t = 0; t < c->tokens; t++) {
      size_t at = row * c->each + t * width, of = t * width;
      if (mask[t] > 0) widen(width, c->lo + at, c->hi + at, c->hull_lo + of, c->hull_hi + of);
    }
  }
}

static r4_status enclose_texts(struct certifier *c, size_t first, size_t n, r4_error *e)
{
  read_texts(c, first, n);
  r4_status s = encloser_run(c->leaves, e);
  if (s) return s;
  memcpy(c->lo, encloser_lo(c->leaves, c->leaf), c->batch * c->each * sizeof *c->lo);
  memcpy(c->hi, encloser_hi(c->leaves, c->leaf), c->batch * c->each * sizeof *c->hi);
  widen_masked(c, first, n);
  return encloser_run(c->rest, e);
}

/* ---- All texts ---- */

/* Batches have the same texts wherever it begins, and so the same bits. */
static r4_status certify_all(struct certifier *c, r4_error *e)
{
  size_t all = r4_data_count(c->d);
  r4_status s = enclose_words(c, e);
  for (size_t first = c->o->done - c->o->done % c->batch; first < all && !s; first += c->batch) {
    size_t n = all - first < c->batch ? all - first : c->batch;
    s = enclose_texts(c, first, n, e);
    for (size_t k = 0; k < n && !s; k++) certified_take(&c->margins, c->rest, k, &c->to[first + k]);
    if (!s && c->o->progress && !c->o->progress(first + n, all, c->o->user))
      s = r4_fail(e, R4_E_ARGUMENT, "certify: stopped after %zu of %zu texts", first + n, all);
  }
  return s;
}

static r4_status check(const struct certifier *c, r4_error *e)
{
  long long texts = (long long)r4_data_vocabulary(c->d), known = (long long)r4_net_vocabulary(c->net);
  r4_shape in = r4_net_input(c->net), leaf = net_leaf(c->net);
  if (!texts) return r4_fail(e, R4_E_ARGUMENT, "certify: the claim words is about texts, and the examples are numbers");
  if (in.rank != 1 || in.dim[0] != r4_data_shape(c->d).dim[0])
    return r4_fail(e, R4_E_SHAPE, "certify: the examples are not what the net takes");
  if (leaf.rank != 2 || leaf.dim[0] != in.dim[0] || !net_leaf_by_token(c->net))
    return r4_fail(e, R4_E_ARGUMENT,
                   "certify: the claim words needs a net with a leaf behind its embedding, before tokens see each "
                   "other");
  if (c->o->method != R4_BOUND_INTERVALS || c->o->slopes > 0)
    return r4_fail(e, R4_E_ARGUMENT, "certify: words are certified by intervals; expected that method, without slopes");
  if (!c->words) return r4_fail(e, R4_E_ARGUMENT, "certify: the list of words is empty");
  for (size_t k = 0; k < c->words; k++)
    if (c->word[k] < 0 || c->word[k] >= known)
      return r4_fail(e, R4_E_ARGUMENT, "certify: the vocabulary has no token %d", (int)c->word[k]);
  return R4_OK;
}

r4_status r4_certify_words(const r4_net *n, const float *weights, const r4_data *d, const int32_t *word, size_t words,
                           const r4_certify_options *options, r4_certified *to, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(word, "a list of words", R4_E_ARGUMENT);
  NEEDS(options, "options", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct certifier c = {.net = n, .d = d, .word = word, .words = words, .o = options, .to = to};
  r4_status s = check(&c, e);
  if (!s) s = open_certifier(&c, weights, e);
  if (!s) s = certified_begin(n, weights, d, options->done, to, e);
  if (!s) s = certify_all(&c, e);
  close_certifier(&c);
  return s;
}
