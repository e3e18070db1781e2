/* Initial weights, by name. W of a layer has fan_in inputs and fan_out outputs per unit:
 *
 *     default   W, b ~ U(-1/sqrt(fan_in), 1/sqrt(fan_in)), as PyTorch
 *     xavier    W ~ U(-a, a), a = sqrt(6 / (fan_in + fan_out)), b = 0              Glorot and Bengio, 2010
 *     kaiming   W ~ N(0, 2 / fan_in), b = 0                                        He et al., 2015
 *     ibp       W ~ N(0, 2 pi / fan_in^2), b = 0: the width of interval bounds stays the same from
 *               layer to layer when half of the units are active                   Shi et al., 2021
 *
 * These are about the weights of dense and conv. Whatever the name, scales of norms begin with 1 and what they add
 * with 0, tables of tokens and the like with N(0, 0.02^2), as in BERT. */
#include <math.h>
#include <string.h>

#include "base/purpose.h"
#include "module/net.h"

static const double PI = 3.14159265358979323846;

/* For a parameter: half the width of a uniform distribution, or the deviation of a normal one. */
struct spread {
  double uniform, normal;
};

static bool is_weight(const struct param *p)
{
  return p->init == INIT_WEIGHT;
}

static struct spread spread_default(const struct param *p)
{
  return (struct spread){.uniform = 1 / sqrt((double)p->fan_in)};
}

static struct spread spread_xavier(const struct param *p)
{
  double kernel =
    (double)(r4_shape_count(p->shape) / p->shape.dim[0]) / (double)p->shape.dim[p->shape.rank - 1];
  double fan_out = (double)p->shape.dim[0] * kernel;
  return (struct spread){.uniform = is_weight(p) ? sqrt(6 / ((double)p->fan_in + fan_out)) : 0};
}

static struct spread spread_kaiming(const struct param *p)
{
  return (struct spread){.normal = is_weight(p) ? sqrt(2 / (double)p->fan_in) : 0};
}

static struct spread spread_ibp(const struct param *p)
{
  return (struct spread){.normal = is_weight(p) ? sqrt(2 * PI) / (double)p->fan_in : 0};
}

static const struct {
  const char *name;
  struct spread (*spread)(const struct param *p);
} ways[] = {
  {"default", spread_default}, {"xavier", spread_xavier}, {"kaiming", spread_kaiming}, {"ibp", spread_ibp}};

enum { WAYS = sizeof ways / sizeof *ways };

static struct spread spread_of(const struct param *p, struct spread (*by_name)(const struct param *p))
{
  if (p->init == INIT_NORMAL) return (struct spread){.normal = 0.02};
  if (p->init == INIT_ZERO || p->init == INIT_ONE) return (struct spread){0};
  return by_name(p);
}

r4_status r4_net_init(const r4_net *n, const char *name, uint64_t seed, float *weights, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "room for weights", R4_E_ARGUMENT);
  size_t way = 0;
  while (name && way < WAYS && strcmp(ways[way].name, name)) way++;
  if (way == WAYS)
    return r4_fail(e, R4_E_ARGUMENT, "no initialisation \"%.60s\"; expected default, xavier, kaiming or ibp",
                   name);
  for (size_t k = 0; k < n->params; k++) {
    const struct param *p = &n->param[k];
    const r4_random key = {seed, PURPOSE_WEIGHTS, (uint32_t)k};
    const struct spread spread = spread_of(p, ways[way].spread);
    const size_t count = (size_t)r4_shape_count(p->shape);
    float *w = weights + p->offset;
#pragma omp parallel for schedule(static) if (count > 10000)
    for (size_t i = 0; i < count; i++)
      w[i] = (float)(p->init == INIT_ONE ? 1
                     : spread.normal > 0 ? spread.normal * r4_random_normal(key, i)
                                         : spread.uniform * (2 * r4_random_uniform(key, i) - 1));
  }
  return R4_OK;
}
