#include "train/groups.h"

#include <string.h>

#include "base/mem.h"
#include "optim/group_shares.h"

#define LABEL(key) setting_label(s, key).text

static int32_t group_of(const r4_data *train, size_t i)
{
  return r4_data_example(train, i).group;
}

/* ---- What is asked for ---- */

/* The setting that makes groups count, or NULL. */
static const char *asked_by(const struct settings *v)
{
  if (v->group_weights.n || v->group_weights.word) return "group_weights";
  if (v->group_batches) return "group_batches";
  return r4_method_describe(v->method).groups ? "method" : NULL;
}

/* batch: the most examples that one has. */
static r4_status make_room(struct groups *g, const struct settings *v, size_t batch, r4_error *e)
{
  bool weigh = v->group_weights.n || v->group_weights.word, follow = r4_method_describe(v->method).groups;
  g->expected = mem_new(g->n, sizeof *g->expected, "groups", e);
  g->count = mem_new(g->n, sizeof *g->count, "groups", e);
  g->loss = mem_new(g->n, sizeof *g->loss, "groups", e);
  if (weigh) g->weight = mem_new(g->n, sizeof *g->weight, "groups", e);
  if (follow) g->q = mem_new(g->n, sizeof *g->q, "groups", e);
  if (weigh || follow) g->v = mem_new_aligned(batch, sizeof *g->v, "groups", e);
  bool room = g->expected && g->count && g->loss && (g->weight || !weigh) && (g->q || !follow) &&
              (g->v || !(weigh || follow));
  return room ? R4_OK : R4_E_MEMORY;
}

/* One group alone is no choice: all its examples count alike. */
static r4_status count_groups(struct groups *g, const r4_settings *s, const r4_data *train, const char *asked,
                              r4_error *e)
{
  const char *only = "";
  for (size_t i = 0; i < r4_data_count(train); i++) g->count[group_of(train, i)]++;
  for (size_t k = 0; k < g->n; k++)
    if (g->count[k]) g->present++, only = r4_data_group_name(train, k);
  if (g->present > 1) return R4_OK;
  char *value = setting_text(setting_find(asked), s);
  r4_fail(e, R4_E_ARGUMENT,
          "%s is %.60s, but all training examples are of one group, \"%.100s\": there is nothing to weight",
          LABEL(asked), value ? value : "", only);
  r4_string_free(value);
  return R4_E_ARGUMENT;
}

/* N / (G n_g): every group weighs the same in all, and the mean weight of an example is 1. */
static double balanced(const struct groups *g, size_t k, const r4_data *train)
{
  return g->count[k] ? (double)r4_data_count(train) / ((double)g->present * (double)g->count[k]) : 0;
}

static r4_status take_list(struct groups *g, const r4_settings *s, r4_error *e)
{
  const struct reals *given = &s->values.group_weights;
  double most = 0;
  if (given->n != g->n)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s has %zu number%s, but the data have %zu groups: expected one for each",
                   LABEL("group_weights"), given->n, given->n == 1 ? "" : "s", g->n);
  for (size_t k = 0; k < g->n; k++) {
    g->weight[k] = given->v[k];
    if (g->count[k] && given->v[k] > most) most = given->v[k];
  }
  if (most > 0) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "%s are 0 for all groups with training examples: all weights would be 0",
                 LABEL("group_weights"));
}

static r4_status weigh_groups(struct groups *g, const r4_settings *s, const r4_data *train, r4_error *e)
{
  if (!g->weight) return R4_OK;
  if (!s->values.group_weights.word) return take_list(g, s, e);
  for (size_t k = 0; k < g->n; k++) g->weight[k] = balanced(g, k, train);
  return R4_OK;
}

/* In equally likely groups, and in those of equal q, an example counts as if it were balanced. */
static void begin(struct groups *g, const struct settings *v, const r4_data *train)
{
  for (size_t k = 0; k < g->n; k++) {
    g->expected[k] = v->group_batches || g->q ? balanced(g, k, train) : 1;
    if (g->weight) g->expected[k] *= g->weight[k];
    if (g->q) g->q[k] = g->count[k] ? 1 / (double)g->present : 0;
  }
}

r4_status groups_open(struct groups *g, const r4_settings *s, const r4_data *train, r4_error *e)
{
  const char *asked = asked_by(&s->values);
  *g = (struct groups){0};
  if (!asked) return R4_OK;
  g->n = r4_data_groups(train);
  size_t batch = (size_t)s->values.batch, all = r4_data_count(train);
  r4_status status = make_room(g, &s->values, batch < all ? batch : all, e);
  if (!status) status = count_groups(g, s, train, asked, e);
  if (!status) status = weigh_groups(g, s, train, e);
  if (!status) begin(g, &s->values, train);
  return status;
}

void groups_close(struct groups *g)
{
  r4_mem_free(g->weight);
  r4_mem_free(g->q);
  r4_mem_free(g->expected);
  r4_mem_free(g->count);
  r4_mem_free(g->loss);
  r4_mem_free(g->v);
  *g = (struct groups){0};
}

/* ---- Steps ---- */

static void count_batch(struct groups *g, const r4_data *train, const r4_batch *b)
{
  memset(g->count, 0, g->n * sizeof *g->count);
  for (size_t i = 0; i < b->count; i++) g->count[group_of(train, b->example[i])]++;
}

const float *groups_weigh(struct groups *g, const r4_data *train, const r4_batch *b)
{
  if (!g->v) return NULL;
  if (g->q) count_batch(g, train, b);
  for (size_t i = 0; i < b->count; i++) {
    int32_t k = group_of(train, b->example[i]);
    g->v[i] = (float)(g->q ? (double)b->count * g->q[k] / (double)g->count[k] : g->weight[k]);
  }
  return g->v;
}

void groups_follow(struct groups *g, double eta, const r4_data *train, const r4_batch *b, const float *losses)
{
  if (!g->q) return;
  count_batch(g, train, b);
  memset(g->loss, 0, g->n * sizeof *g->loss);
  for (size_t i = 0; i < b->count; i++) {
    int32_t k = group_of(train, b->example[i]);
    g->loss[k] += (double)losses[i] / (double)g->count[k];
  }
  group_dro_step(eta, g->n, g->loss, g->q);
}

/* ---- What may not be meant ---- */

const char *groups_of_one(const struct groups *g, const r4_data *train)
{
  for (size_t k = 0; k < g->n; k++)
    if (r4_data_counts(train, -1, (int32_t)k).examples[R4_TRAIN] == 1) return r4_data_group_name(train, k);
  return NULL;
}

bool groups_are_classes(const r4_data *train)
{
  size_t n = r4_data_classes(train);
  if (r4_data_groups(train) != n) return false;
  for (size_t k = 0; k < n; k++)
    if (strcmp(r4_data_group_name(train, k), r4_data_class_name(train, k))) return false;
  return true;
}
