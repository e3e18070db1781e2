#include "certify/slopes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const double FIRST = 0.5, DECAY = 0.85; /* of a step, on slopes from 0 to 1 */

struct slopes {
  r4_plan *plan;
  size_t n, functionals, count; /* relus; functionals of all rows; slopes of all of them */
  size_t first[MOST_RELUS + 1];
  double *now, *best, *slope;   /* [count] */
  double *least, *most;         /* [functionals]: of now, and of best */
};

static r4_status bind(struct slopes *s, const r4_net *n, const double *weights, const double *lo, const double *hi,
                      const double *class, r4_error *e)
{
  char name[32];
  r4_status status = r4_plan_input(s->plan, "lo", lo, e);
  if (!status) status = r4_plan_input(s->plan, "hi", hi, e);
  if (!status) status = r4_plan_input(s->plan, "class", class, e);
  for (size_t k = 0; k < r4_net_params(n) && !status; k++)
    status = r4_plan_input(s->plan, r4_net_param_name(n, k), weights + r4_net_param_offset(n, k), e);
  for (size_t k = 0, out = 1; k < s->n && !status; k++) {
    if (s->first[k] == s->first[k + 1]) continue;
    snprintf(name, sizeof name, "slope.%zu", k);
    status = r4_plan_input(s->plan, name, s->now + s->first[k], e);
    if (!status) status = r4_plan_output(s->plan, out++, s->slope + s->first[k], e);
  }
  return status ? status : r4_plan_output(s->plan, 0, s->least, e);
}

static r4_status make_room(struct slopes *s, const r4_graph *g, r4_id least, const struct linear_relus *relus,
                           r4_error *e)
{
  s->n = relus->n;
  for (size_t k = 0; k < s->n; k++) {
    r4_id slope = relus->relu[k].slope; /* none: the walk does not pass it */
    s->first[k + 1] = s->first[k] + (slope.i ? (size_t)r4_shape_count(r4_node_shape(g, slope)) : 0);
  }
  s->count = s->first[s->n];
  s->functionals = (size_t)r4_shape_count(r4_node_shape(g, least));
  s->now = mem_new(3 * s->count + 2 * s->functionals, sizeof *s->now, "slopes", e);
  if (!s->now) return R4_E_MEMORY;
  s->best = s->now + s->count;
  s->slope = s->best + s->count;
  s->least = s->slope + s->count;
  s->most = s->least + s->functionals;
  return R4_OK;
}

struct slopes *slopes_new(const r4_net *n, r4_graph *g, r4_id least, const struct linear_relus *relus,
                          const double *weights, const double *lo, const double *hi, const double *class, r4_error *e)
{
  struct slopes *s = mem_new(1, sizeof *s, "slopes", e);
  r4_id out[MOST_RELUS + 1] = {least}, input[MOST_RELUS];
  size_t free = 0;
  if (!s || make_room(s, g, least, relus, e)) goto failed;
  for (size_t k = 0; k < relus->n; k++)
    if (relus->relu[k].slope.i) input[free++] = relus->relu[k].slope;
  r4_grad(g, r4_sum(g, least, R4_ALL), free, input, out + 1);
  s->plan = r4_plan_new(g, free + 1, out, &(r4_plan_options){.type = R4_F64}, e);
  if (s->plan && !bind(s, n, weights, lo, hi, class, e)) return s;
failed:
  slopes_free(s);
  return NULL;
}

void slopes_free(struct slopes *s)
{
  if (!s) return;
  r4_plan_free(s->plan);
  r4_mem_free(s->now);
  r4_mem_free(s);
}

double *slopes_values(struct slopes *s, size_t k)
{
  return s->best + s->first[k];
}

void slopes_reset(struct slopes *s)
{
  memset(s->now, 0, s->count * sizeof *s->now);
  memset(s->best, 0, s->count * sizeof *s->best);
  for (size_t f = 0; f < s->functionals; f++) s->most[f] = -INFINITY;
}

/* Functionals do not share slopes: each keeps its own best ones. */
static void keep_best(struct slopes *s)
{
  for (size_t f = 0; f < s->functionals; f++) {
    if (!(s->least[f] > s->most[f])) continue;
    s->most[f] = s->least[f];
    for (size_t k = 0; k < s->n; k++) {
      size_t each = (s->first[k + 1] - s->first[k]) / s->functionals, at = s->first[k] + f * each;
      memcpy(s->best + at, s->now + at, each * sizeof *s->now);
    }
  }
}

/* Uphill by the sign of the derivative. */
r4_status slopes_search(struct slopes *s, int64_t steps, r4_error *e)
{
  double size = FIRST;
  r4_status status = R4_OK;
  slopes_reset(s);
  for (int64_t t = 0; t <= steps && !status; t++, size *= DECAY) {
    status = r4_plan_run(s->plan, e);
    if (status) break;
    keep_best(s);
    for (size_t k = 0; k < s->count; k++) s->now[k] += s->slope[k] > 0 ? size : s->slope[k] < 0 ? -size : 0;
  }
  return status;
}
