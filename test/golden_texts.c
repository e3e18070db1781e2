#include "golden_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9;

const golden_tensor *golden_texts_tensor(const struct golden_texts *f, const char *what, const char *name)
{
  return golden_get(f->gold, "%s%s", what, name);
}

double golden_texts_number(const struct golden_texts *f, const char *name)
{
  return golden_number(f->gold, name);
}

struct golden_texts *golden_texts_new(const char *file, const char *method)
{
  r4_error e;
  struct golden_texts *f = calloc(1, sizeof *f);
  f->gold = golden_open(file);
  const golden_tensor *x = golden_texts_tensor(f, "x", ""), *list = golden_texts_tensor(f, "list", "");
  f->net = r4_net_open(golden_text(f->gold, "net"), R4_SHAPE(x->dim[1]), &e);
  if (!f->net) fail_msg("%s", e.text);
  f->g = r4_graph_new();
  assert_true(r4_net_params(f->net) <= GOLDEN_PARAMS && list->count <= GOLDEN_LISTED);
  for (size_t k = 0; k < list->count; k++) f->list[k] = (float)list->value[k];
  r4_net_inputs(f->net, f->g, f->param);
  f->options = (r4_objective_options){
    .method = method, .batch = x->dim[0], .lambda = {1}, .lengths = true, .steps = (int)x->dim[1]};
  return f;
}

void golden_texts_free(struct golden_texts *f)
{
  r4_graph_free(f->g);
  r4_net_free(f->net);
  golden_free(f->gold);
  free(f);
}

void golden_texts_take_list(struct golden_texts *f)
{
  f->options.words = f->list;
  f->options.word_count = golden_texts_tensor(f, "list", "")->count;
}

struct runner *golden_texts_run(const struct golden_texts *f, size_t n, const r4_id *out)
{
  const char *why;
  if (r4_graph_status(f->g, &why)) fail_msg("%s", why);
  struct runner *r = runner_new(f->g, n, out, FAST64);
  for (size_t k = 0; k < r->n_in; k++) {
    const golden_tensor *t = golden_texts_tensor(f, r->name[k], "");
    assert_int_equal(t->count, r->in_count[k]);
    memcpy(r->in[k], t->value, t->count * sizeof *t->value);
  }
  runner_run(r);
  return r;
}

void golden_texts_compare(const struct golden_texts *f, const struct runner *r, size_t k, const char *what,
                          const char *name)
{
  const golden_tensor *t = golden_texts_tensor(f, what, name);
  assert_int_equal(t->count, r->out_count[k]);
  assert_close(t->name, r->out[k], t->value, t->count, TOLERANCE, 1);
}

void golden_texts_check(struct golden_texts *f, const char *what)
{
  enum { EACH, LOSS, GRADIENTS };
  char gradient[40];
  r4_id out[GRADIENTS + GOLDEN_PARAMS];
  r4_objective o = r4_objective_build(f->g, f->net, f->param, &f->options);
  size_t params = r4_net_params(f->net);
  out[EACH] = o.each;
  out[LOSS] = o.loss;
  r4_grad(f->g, o.loss, params, f->param, out + GRADIENTS);
  struct runner *r = golden_texts_run(f, GRADIENTS + params, out);
  golden_texts_compare(f, r, EACH, what, "each");
  golden_texts_compare(f, r, LOSS, what, "loss");
  snprintf(gradient, sizeof gradient, "%sgrad.", what);
  for (size_t k = 0; k < params; k++)
    golden_texts_compare(f, r, GRADIENTS + k, gradient, r4_net_param_name(f->net, k));
  runner_free(r);
}
