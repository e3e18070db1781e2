#include "train/step.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "exec/watch.h"
#include "measure/predict.h"
#include "objective/objective.h"
#include "train/collapse.h"

/* Masks on any example, on the first eighth only, or on none. */
enum { PART = 8 };
/* Outputs: PENALTY and FORM are those of the first term, and those of the others follow. */
enum {
  LOSS,
  DATA,
  PENALTY,
  FORM = PENALTY + R4_TERMS,
  SCALARS = FORM + R4_TERMS,
  LOSSES = SCALARS,
  EACH,
  LOGITS,
  OUTPUTS
};

struct drawn {
  r4_drawn how; /* its name and node are gone with the graph */
  float *to;
};

/* What the objective is compiled for. */
struct size {
  size_t count, guided; /* examples, and the first of them that may have masks */
  size_t features;      /* of an example: tokens of texts that were cut */
  size_t places;        /* of a search through words: at most so many masked tokens of a text; else 0 */
};

struct variant {
  struct size size;
  r4_net *shorter; /* the net for texts that were cut; NULL: it is the net itself */
  r4_plan *plan;
  size_t classes, places; /* columns of the logits; elements of the input at */
  size_t masks;           /* elements of cells */
  float scalar[SCALARS];
  float *losses, *each, *logits, *at;
  float *cells; /* masks at the leaf; NULL: they are those of the batch */
  int32_t *answer;
  struct drawn *drawn; /* inputs that are drawn anew for each step */
  size_t draws;
  size_t *final_from; /* by kernel of the plan: from where on the gradient is final after it; NULL: not asked for */
};

struct step {
  struct step_options options;
  struct variant **variant;
  size_t variants, room;
  const struct variant *last;  /* that was run */
  float lambda[R4_TERMS], eps; /* inputs of live objectives */
  void (*settled)(size_t from, void *user);
  void *settled_user;
  float *buffers;              /* new values of the net's buffers, one after the other; NULL: it has none */
};

/* Floats of parameter k if it is a buffer, else 0. */
static size_t buffer_size(const r4_net *n, size_t k)
{
  return r4_net_param_is_buffer(n, k) ? (size_t)r4_shape_count(r4_net_param_shape(n, k)) : 0;
}

struct step *step_new(const struct step_options *options, r4_error *e)
{
  struct step *s = mem_new(1, sizeof *s, "a training step", e);
  size_t buffers = 0;
  for (size_t k = 0; k < r4_net_params(options->net); k++) buffers += buffer_size(options->net, k);
  if (s && buffers) s->buffers = mem_new_aligned(buffers, sizeof *s->buffers, "a training step", e);
  if (s && (s->buffers || !buffers)) {
    s->options = *options;
    return s;
  }
  r4_mem_free(s);
  return NULL;
}

r4_plan *step_plan(const struct step *s)
{
  return s->last ? s->last->plan : NULL;
}

const float *step_losses(const struct step *s)
{
  return s->last->losses;
}

const float *step_buffers(const struct step *s, size_t *n)
{
  *n = 0;
  for (size_t k = 0; k < r4_net_params(s->options.net); k++) *n += buffer_size(s->options.net, k);
  return s->buffers;
}

void step_put_buffers(const struct step *s, const float *values, float *weights)
{
  const r4_net *n = s->options.net;
  const float *from = values ? values : s->buffers;
  if (!s->buffers) return;
  for (size_t k = 0; k < r4_net_params(n) && from; k++) {
    size_t size = buffer_size(n, k);
    memcpy(weights + r4_net_param_offset(n, k), from, size * sizeof *from);
    from += size;
  }
}

static void variant_free(struct variant *v)
{
  if (!v) return;
  r4_plan_free(v->plan);
  r4_net_free(v->shorter);
  r4_mem_free(v->losses);
  r4_mem_free(v->each);
  r4_mem_free(v->logits);
  r4_mem_free(v->at);
  r4_mem_free(v->cells);
  for (size_t k = 0; k < v->draws; k++) r4_mem_free(v->drawn[k].to);
  r4_mem_free(v->drawn);
  r4_mem_free(v->answer);
  r4_mem_free(v->final_from);
  r4_mem_free(v);
}

void step_free(struct step *s)
{
  if (!s) return;
  for (size_t k = 0; k < s->variants; k++) variant_free(s->variant[k]);
  r4_mem_free(s->variant);
  r4_mem_free(s->buffers);
  r4_mem_free(s);
}

/* ---- Compiling ---- */

static size_t elements(const r4_graph *g, r4_id x)
{
  return x.i ? (size_t)r4_shape_count(r4_node_shape(g, x)) : 0;
}

static r4_status list_drawn(struct variant *v, const r4_objective *o, r4_error *e)
{
  if (!(v->drawn = mem_new(o->draws + 1, sizeof *v->drawn, "inputs", e))) return R4_E_MEMORY;
  for (; v->draws < o->draws; v->draws++) v->drawn[v->draws].how = o->drawn[v->draws];
  return R4_OK;
}

static r4_status allocate(struct variant *v, r4_error *e)
{
  v->losses = mem_new_aligned(v->size.count, sizeof(float), "a batch", e);
  v->each = mem_new_aligned(v->size.count, sizeof(float), "a batch", e);
  v->logits = mem_new_aligned(v->size.count * v->classes, sizeof(float), "a batch", e);
  v->answer = mem_new(v->size.count, sizeof *v->answer, "a batch", e);
  v->at = v->places ? mem_new_aligned(v->places, sizeof(float), "a batch", e) : NULL;
  v->cells = v->masks ? mem_new_aligned(v->masks, sizeof(float), "a batch", e) : NULL;
  bool all =
    v->losses && v->each && v->logits && v->answer && (v->at || !v->places) && (v->cells || !v->masks);
  for (size_t k = 0; k < v->draws && all; k++) {
    v->drawn[k].to = mem_new_aligned(v->drawn[k].how.count, sizeof(float), "a batch", e);
    all = v->drawn[k].to;
  }
  return all ? R4_OK : R4_E_MEMORY;
}

/* Inputs that a variant does not have are accepted if the graph knows the name; so ask the graph. */
static r4_status bind(struct step *s, struct variant *v, const r4_objective *o, r4_error *e)
{
  const struct {
    r4_id node;
    const char *name;
    const void *memory;
  } input[] = {
    {o->in.index, "index", s->options.index},
    {o->in.at, "at", v->at},
    {o->in.eps, "eps", &s->eps},
  };
  float *const output[OUTPUTS] = {[LOSSES] = v->losses, [EACH] = v->each, [LOGITS] = v->logits};
  r4_status status = R4_OK;
  for (size_t k = 0; k < sizeof input / sizeof *input && !status; k++)
    if (input[k].node.i) status = r4_plan_input(v->plan, input[k].name, input[k].memory, e);
  for (size_t k = 0; k < R4_TERMS && !status; k++)
    if (o->in.lambda[k].i) status = r4_plan_input(v->plan, objective_weight_names[k], &s->lambda[k], e);
  for (size_t k = 0; k < v->draws && !status; k++)
    status = r4_plan_input(v->plan, v->drawn[k].how.name, v->drawn[k].to, e);
  for (size_t k = 0; k < OUTPUTS && !status; k++)
    status = r4_plan_output(v->plan, k, k < SCALARS ? &v->scalar[k] : output[k], e);
  return status;
}

/* A buffer is set, not learned. The gradient of what does not learn is not computed. */
static bool learns(const struct step_options *o, size_t k)
{
  const double *rates = o->objective.rates;
  return !r4_net_param_is_buffer(o->net, k) && !(rates && rates[k] == 0);
}

/* The gradients are one block, so that activations can be where gradients will be. */
static r4_status compile_graph(struct step *s, struct variant *v, r4_graph *g, r4_id *param, r4_id *out,
                               size_t *place, r4_error *e)
{
  const r4_net *net = v->shorter ? v->shorter : s->options.net;
  size_t n = r4_net_params(net);
  r4_objective_options options = s->options.objective;
  options.batch = (int64_t)v->size.count;
  options.masked = (int64_t)s->options.masked;
  options.guided = (int64_t)v->size.guided;
  options.places = (int64_t)v->size.places;
  options.reach = v->size.guided ? s->options.reach : NULL;
  if (!v->size.guided) {
    options.method = r4_method_name(0);
    options.live = false;
  }
  r4_net_inputs(net, g, param);
  r4_objective o = r4_objective_build(g, net, param, &options);
  const r4_id values[OUTPUTS] = {
    [LOSS] = o.loss, [DATA] = o.data, [LOSSES] = o.losses, [EACH] = o.each, [LOGITS] = o.logits};
  memcpy(out, values, sizeof values);
  memcpy(out + PENALTY, o.penalty, sizeof o.penalty);
  memcpy(out + FORM, o.form, sizeof o.form);
  r4_grad(g, o.loss, n, param, out + OUTPUTS);
  size_t outputs = OUTPUTS;
  for (size_t k = 0; k < OUTPUTS; k++) place[k] = R4_ELSEWHERE;
  for (size_t k = 0; k < n; k++) {
    bool buffer = r4_net_param_is_buffer(net, k);
    r4_id result = !buffer ? out[OUTPUTS + k] : o.updated && o.updated[k].i ? o.updated[k] : param[k];
    if (!buffer && !learns(&s->options, k)) continue;
    place[outputs] = buffer ? R4_ELSEWHERE : r4_net_param_offset(net, k);
    out[outputs++] = result;
  }
  const r4_plan_options how = {.place = place, .winograd = s->options.winograd, .bf16 = s->options.bf16};
  v->plan = r4_plan_new(g, outputs, out, &how, e);
  if (!v->plan) return e->status;
  v->classes = elements(g, o.logits) / v->size.count;
  v->places = elements(g, o.in.at);
  v->masks = v->size.guided && net_leaf_has_cells(net) ? elements(g, o.in.m) : 0;
  r4_status status = list_drawn(v, &o, e);
  if (!status) status = allocate(v, e);
  return status ? status : bind(s, v, &o, e);
}

static r4_status compile(struct step *s, struct variant *v, r4_error *e)
{
  size_t n = r4_net_params(s->options.net);
  r4_graph *g = r4_graph_new();
  r4_id *param = r4_mem_new(n + 1, sizeof *param), *out = r4_mem_new(OUTPUTS + n, sizeof *out);
  size_t *place = r4_mem_new(OUTPUTS + n, sizeof *place);
  r4_status status = g && param && out && place
                       ? compile_graph(s, v, g, param, out, place, e)
                       : r4_fail(e, R4_E_MEMORY, "out of memory for the graph of a training step");
  r4_mem_free(place);
  r4_mem_free(out);
  r4_mem_free(param);
  r4_graph_free(g);
  return status;
}

/* How many examples have to be looked at for the penalty. A part shares no products with the data term, so that a
 * quarter or half of the batch can cost more than all of it. What was pasted is on any example. */
static size_t guided_rows(const r4_objective_options *o, const r4_batch *b, bool off)
{
  size_t part = (b->count + PART - 1) / PART;
  bool anywhere = !o->filled_within && r4_method_describe(o->method).pairs;
  if (off || !b->m) return 0;
  if (anywhere) return b->count;
  if (!b->masked) return 0;
  return b->masked_first && b->masked <= part ? part : b->count;
}

bool step_guides(const r4_objective_options *o, const r4_batch *b, bool off)
{
  return guided_rows(o, b, off) > 0;
}

/* The most masked tokens of a text, as the next power of two: few numbers, so that few plans are made. */
static size_t places_of(const struct step *s, const r4_batch *b, size_t guided)
{
  size_t most = 0, places = 1, limit = (size_t)s->options.objective.steps;
  if (!guided || !r4_method_uses(s->options.objective.method, "words.candidates")) return 0;
  for (size_t i = 0; i < guided; i++) {
    size_t masked = 0;
    for (size_t k = 0; k < b->features; k++) masked += b->m[i * b->features + k] >= 0.5f;
    if (masked > most) most = masked;
  }
  while (places < most && places < limit) places *= 2;
  return places < limit ? places : limit;
}

static bool same_size(const struct size *a, const struct size *b)
{
  return a->count == b->count && a->guided == b->guided && a->features == b->features &&
         a->places == b->places;
}

/* Variants stay where they are: plans know their memory. */
static struct variant *add_variant(struct step *s, r4_error *e)
{
  if (mem_more(&s->variant, &s->room, s->variants + 1, sizeof *s->variant, "a training step", e)) return NULL;
  return mem_new(1, sizeof(struct variant), "a training step", e);
}

static r4_status shorten(const struct step *s, struct variant *v, r4_error *e)
{
  int64_t features = r4_shape_count(r4_net_input(s->options.net));
  if ((int64_t)v->size.features == features) return R4_OK;
  v->shorter = net_of_length(s->options.net, (int64_t)v->size.features);
  if (v->shorter) return R4_OK;
  return r4_fail(e, R4_E_INTERNAL, "the net takes %lld features, and a batch has %zu", (long long)features,
                 v->size.features);
}

static r4_status variant_for(struct step *s, struct size size, struct variant **found, r4_error *e)
{
  for (size_t k = 0; k < s->variants; k++) {
    *found = s->variant[k];
    if (same_size(&(*found)->size, &size)) return R4_OK;
  }
  struct variant *v = add_variant(s, e);
  if (!v) return R4_E_MEMORY;
  v->size = size;
  r4_status status = shorten(s, v, e);
  if (!status) status = compile(s, v, e);
  if (status)
    variant_free(v);
  else
    *found = s->variant[s->variants++] = v;
  return status;
}

/* ---- Running ---- */

static r4_status bind_batch(struct variant *v, const struct step_options *o, const r4_batch *b,
                            const float *weights, float *gradient, float *buffers, r4_error *e)
{
  r4_status status = r4_plan_input(v->plan, "x", b->x, e);
  if (!status && o->objective.filled) status = r4_plan_input(v->plan, "filled", b->filled, e);
  if (!status && o->objective.lengths) status = r4_plan_input(v->plan, "length", b->length, e);
  if (!status) status = r4_plan_input(v->plan, "y", b->y, e);
  if (v->cells) cut_masks(o->net, o->cells, v->size.guided, b->m, v->cells);
  if (!status && v->size.guided) status = r4_plan_input(v->plan, "m", v->cells ? v->cells : b->m, e);
  int64_t channels = r4_net_input(o->net).dim[2];
  if (!status && v->at) status = r4_reach_find(o->reach, v->size.guided, channels, b->m, v->at, e);
  for (size_t k = 0, output = OUTPUTS; k < r4_net_params(o->net) && !status; k++) {
    size_t offset = r4_net_param_offset(o->net, k);
    status = r4_plan_input(v->plan, r4_net_param_name(o->net, k), weights + offset, e);
    bool buffer = r4_net_param_is_buffer(o->net, k);
    float *to = buffer ? buffers : gradient + offset;
    if (!status && (buffer || learns(o, k))) status = r4_plan_output(v->plan, output++, to, e);
    if (buffer) buffers += buffer_size(o->net, k);
  }
  return status;
}

/* ---- Who listens ---- */

void step_listen(struct step *s, void (*settled)(size_t from, void *user), void *user)
{
  s->settled = settled;
  s->settled_user = user;
}

/* Parameters from the last to the first: all from this one on are final after the latest of their kernels. */
static void find_final(const struct step *s, const struct variant *v, const size_t *last)
{
  const r4_net *net = s->options.net;
  size_t kernels = r4_plan_kernels(v->plan), output = OUTPUTS, latest = 0;
  for (size_t k = 0; k < kernels; k++) v->final_from[k] = r4_net_size(net);
  for (size_t k = 0; k < r4_net_params(net); k++)
    output += r4_net_param_is_buffer(net, k) || learns(&s->options, k);
  for (size_t k = r4_net_params(net); k-- > 0;) {
    bool buffer = r4_net_param_is_buffer(net, k), written = buffer || learns(&s->options, k);
    if (written) output--;
    if (written && !buffer && last[output] > latest) latest = last[output];
    v->final_from[latest] = r4_net_param_offset(net, k);
  }
  for (size_t k = 1; k < kernels; k++)
    if (v->final_from[k - 1] < v->final_from[k]) v->final_from[k] = v->final_from[k - 1];
}

static void kernel_ran(size_t kernel, void *user)
{
  const struct step *s = user;
  s->settled(s->last->final_from[kernel], s->settled_user);
}

/* The plan tells this step, or nobody. */
static r4_status watch(struct step *s, struct variant *v, r4_error *e)
{
  size_t kernels = r4_plan_kernels(v->plan);
  plan_watch(v->plan, NULL, NULL);
  if (!s->settled || !kernels) return R4_OK;
  if (!v->final_from) {
    size_t *last = mem_new(OUTPUTS + r4_net_params(s->options.net), sizeof *last, "a training step", e);
    v->final_from = last ? mem_new(kernels, sizeof *v->final_from, "a training step", e) : NULL;
    if (v->final_from) {
      plan_last_uses(v->plan, last);
      find_final(s, v, last);
    }
    r4_mem_free(last);
    if (!v->final_from) return R4_E_MEMORY;
  }
  plan_watch(v->plan, kernel_ran, s);
  return R4_OK;
}

static void answer_all(struct variant *v)
{
  for (size_t i = 0; i < v->size.count; i++)
    v->answer[i] = (int32_t)predict_class(v->logits + i * v->classes, v->classes);
}

static size_t count_right(const struct variant *v, const r4_batch *b)
{
  size_t right = 0;
  for (size_t i = 0; i < v->size.count; i++) right += (float)v->answer[i] == b->y[i];
  return right;
}

static r4_status not_finite(const struct variant *v, const r4_batch *b, uint32_t n, r4_error *e)
{
  enum { SHOWN = 8 };
  struct text list = {0};
  size_t bad = 0;
  double penalty = 0;
  for (size_t k = 0; k < R4_TERMS; k++) penalty += (double)v->scalar[PENALTY + k];
  for (size_t i = 0; i < v->size.count; i++) {
    if (isfinite(v->losses[i]) && isfinite(v->each[i])) continue;
    if (bad++ < SHOWN) text_add(&list, "%s%zu", bad > 1 ? ", " : "", b->example[i]);
  }
  char *examples = text_take(&list);
  r4_status s = r4_fail(e, R4_E_DOMAIN,
                        "step %u: the loss is %g (data %g, penalty %g); %zu of %zu examples at fault%s%s%s",
                        n, (double)v->scalar[LOSS], (double)v->scalar[DATA], penalty, bad, v->size.count,
                        bad ? ": " : "", examples ? examples : "", bad > SHOWN ? ", ..." : "");
  r4_string_free(examples);
  return s;
}

/* Far from the seeds that people choose. */
static uint64_t seed_of(const struct step *s, uint32_t shard)
{
  return s->options.seed ^ shard * UINT64_C(0x9e3779b97f4a7c15);
}

r4_status step_run(struct step *s, const r4_batch *batch, uint32_t n, const struct step_weights *at,
                   const float *weights, float *gradient, struct step_result *result, r4_error *e)
{
  struct variant *v = NULL;
  size_t guided = guided_rows(&s->options.objective, batch, at->off);
  struct size size = {.count = batch->count,
                      .guided = guided,
                      .features = batch->features,
                      .places = places_of(s, batch, guided)};
  r4_status status = variant_for(s, size, &v, e);
  if (!status) status = bind_batch(v, &s->options, batch, weights, gradient, s->buffers, e);
  if (!status && s->options.objective.weighted) status = r4_plan_input(v->plan, "v", at->example, e);
  if (!status) status = watch(s, v, e);
  if (status) return status;
  s->last = v;
  for (size_t k = 0; k < R4_TERMS; k++) s->lambda[k] = (float)at->lambda[k];
  s->eps = (float)at->eps;
  for (size_t k = 0; k < v->draws; k++)
    r4_drawn_fill(&v->drawn[k].how, seed_of(s, at->shard), n, batch, v->drawn[k].to);
  status = r4_plan_run(v->plan, e);
  if (status) return status;
  if (!isfinite(v->scalar[LOSS])) return not_finite(v, batch, n, e);
  answer_all(v);
  *result = (struct step_result){.loss = v->scalar[LOSS],
                                 .data = v->scalar[DATA],
                                 .right = count_right(v, batch),
                                 .only = pulse_of(v->answer, v->size.count),
                                 .guided = v->size.guided > 0};
  for (size_t k = 0; k < R4_TERMS; k++) {
    result->penalty[k] = v->scalar[PENALTY + k];
    result->form[k] = v->scalar[FORM + k];
  }
  return R4_OK;
}
