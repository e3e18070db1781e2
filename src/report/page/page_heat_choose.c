/* Which examples, and what each net makes of them. Half of them are wrong answers of the first run that was trained
 * without masks, half right ones: there the shortcut shows. */
#include "base/mem.h"
#include "report/page/page_heat.h"
#include "report/picture/heat.h"

enum { POOL = 256, EXAMPLES = 6, MOST_EXAMPLES = 64, MOST_TILES = 160 };

/* ---- Examples ---- */

/* The examples with a mask, and all of the classes without one. Returns how many. */
static size_t list_candidates(const r4_data *d, bool *masked, size_t *list)
{
  size_t n = 0, count = r4_data_count(d);
  for (size_t i = 0; i < count; i++) masked[r4_data_example(d, i).label] |= r4_data_has_mask(d, i);
  for (size_t i = 0; i < count; i++)
    if (r4_data_has_mask(d, i) || !masked[r4_data_example(d, i).label]) list[n++] = i;
  return n;
}

/* Up to POOL of these, evenly spread: enough to choose from, and soon asked about. */
static r4_status find_pool(const r4_data *d, size_t *pool, size_t *n, r4_error *e)
{
  size_t *list = mem_new(r4_data_count(d) + 1, sizeof *list, "choosing among examples", e);
  bool *masked = mem_new(r4_data_classes(d) + 1, sizeof *masked, "choosing among examples", e);
  if (list && masked) {
    size_t all = list_candidates(d, masked, list);
    *n = all < POOL ? all : POOL;
    for (size_t k = 0; k < *n; k++) pool[k] = list[k * all / *n];
  }
  r4_status s = list && masked ? R4_OK : R4_E_MEMORY;
  r4_mem_free(list);
  r4_mem_free(masked);
  return s;
}

/* Up to n of the pool that the judge gets right, or wrong: one of each class in turn. */
static r4_status choose(const r4_data *d, const size_t *pool, size_t pooled, const int32_t *answer,
                        bool right, size_t n, size_t *example, size_t *found, r4_error *e)
{
  size_t some[POOL], chosen[MOST_EXAMPLES], k = 0, got = 0;
  for (size_t i = 0; i < pooled; i++)
    if ((answer[i] == r4_data_example(d, pool[i]).label) == right) some[k++] = pool[i];
  r4_data *part = r4_data_subset(d, k, some, e);
  r4_status s = part ? r4_heat_examples(part, n, NULL, chosen, &got, e) : e->status;
  for (size_t i = 0; i < got && !s; i++) example[(*found)++] = some[chosen[i]];
  r4_data_free(part);
  return s;
}

static r4_status choose_both(struct heat *t, size_t n, r4_error *e)
{
  const r4_data *d = t->p->d;
  size_t pool[POOL], pooled = 0;
  int32_t answer[POOL];
  r4_status s = find_pool(d, pool, &pooled, e);
  r4_data *part = s ? NULL : r4_data_subset(d, pooled, pool, e);
  if (!s) s = part ? heat_predict(&t->judge->subject, part, answer, e) : e->status;
  r4_data_free(part);
  if (!s) s = choose(d, pool, pooled, answer, false, n / 2, t->example, &t->n, e);
  t->wrong = t->n;
  return s ? s : choose(d, pool, pooled, answer, true, n - t->n, t->example, &t->n, e);
}

/* ---- Maps ---- */

static r4_status ask_run(struct heat *t, size_t run, r4_error *e)
{
  const char *const name[HEAT_MAPS] = {t->texts ? "input-x-gradient" : "gradient", "bounds"};
  const r4_subject *who = &t->p->run[run].subject;
  r4_attribution_options o = r4_attribution_defaults();
  o.eps = t->eps;
  r4_status s = heat_predict(who, t->d, t->answer + run * t->n, e);
  for (enum heat_map m = 0; m < HEAT_MAPS && !s; m++)
    if (m == HEAT_GRADIENT || t->masks)
      s = r4_attribute(name[m], who->net, who->weights, t->d, &o, (float *)heat_at(t, run, m, 0), e);
  return s;
}

static const r4_report_run *find_judge(const struct page *p)
{
  for (size_t k = 0; k < p->runs; k++)
    if (!page_uses_masks(&p->run[k])) return &p->run[k];
  return &p->run[0];
}

static const char *why_nothing(const struct page *p)
{
  if (r4_data_shape(p->d).rank != 3 && !r4_data_vocabulary(p->d))
    return "The examples are neither images nor texts: there are no heat maps to draw.";
  for (size_t k = 0; k < p->runs; k++)
    if (!p->run[k].subject.net) return "A model could not be read: there are no heat maps to draw.";
  return NULL;
}

r4_status heat_open(struct heat *t, const struct page *p, const char **why, r4_error *e)
{
  size_t n = p->o->examples ? p->o->examples : EXAMPLES, most = MOST_TILES / (HEAT_MAPS * p->runs);
  if (n > MOST_EXAMPLES) n = MOST_EXAMPLES;
  if (n > most && !p->o->examples) n = most > 2 ? most : 2;
  *t = (struct heat){.p = p, .judge = find_judge(p), .eps = p->run[0].measured->metrics.eps};
  t->texts = r4_data_vocabulary(p->d) > 0;
  *why = why_nothing(p);
  if (*why) return R4_OK;
  t->features = (size_t)r4_shape_count(r4_data_shape(p->d));
  t->example = mem_new(n, sizeof *t->example, "heat maps", e);
  t->a = mem_new(p->runs * HEAT_MAPS * n, t->features * sizeof *t->a, "heat maps", e);
  t->answer = mem_new(p->runs * n, sizeof *t->answer, "heat maps", e);
  r4_status s = t->example && t->a && t->answer ? choose_both(t, n, e) : R4_E_MEMORY;
  if (!s) t->d = r4_data_subset(p->d, t->n, t->example, e);
  if (!s && !t->d) s = e->status;
  for (size_t i = 0; i < t->n && !s; i++) t->masks |= r4_data_has_mask(t->d, i);
  for (size_t k = 0; k < p->runs && !s; k++) s = ask_run(t, k, e);
  if (s) heat_close(t);
  return s;
}

void heat_close(struct heat *t)
{
  r4_data_free(t->d);
  r4_mem_free(t->example);
  r4_mem_free(t->a);
  r4_mem_free(t->answer);
}

const float *heat_at(const struct heat *t, size_t run, enum heat_map map, size_t i)
{
  return t->a + ((run * HEAT_MAPS + map) * t->n + i) * t->features;
}

int32_t heat_answer(const struct heat *t, size_t run, size_t i)
{
  return t->answer[run * t->n + i];
}
