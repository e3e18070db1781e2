#include "find/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hypergeometric.h"
#include "base/mem.h"

enum { LEAST = 10, SAME_LEAST = 20, OTHERS = 3 };

static const double KEPT = -6.9; /* log 0.001 */

/* ---- Ranking ---- */

r4_status ranking_new(struct ranking *r, size_t room, size_t classes, const int32_t *label, r4_error *e)
{
  *r = (struct ranking){.room = room, .classes = classes, .label = label};
  r->at = mem_new(room, sizeof *r->at, "ranking examples", e);
  r->of_class = mem_new(classes, 2 * sizeof *r->of_class, "ranking examples", e);
  if (r->at && r->of_class) return R4_OK;
  ranking_clear(r);
  return R4_E_MEMORY;
}

void ranking_clear(struct ranking *r)
{
  r4_mem_free(r->at);
  r4_mem_free(r->of_class);
  *r = (struct ranking){0};
}

static int more(const void *a, const void *b)
{
  const struct ranked *x = a, *y = b;
  if (x->value != y->value) return x->value > y->value ? -1 : 1;
  return x->k < y->k ? -1 : x->k > y->k;
}

void ranking_make(struct ranking *r, const float *value)
{
  r->n = 0;
  memset(r->of_class, 0, r->classes * sizeof *r->of_class);
  for (size_t k = 0; k < r->room; k++) {
    if (isnan(value[k])) continue;
    r->at[r->n++] = (struct ranked){value[k], (uint32_t)k};
    r->of_class[r->label[k]]++;
  }
  qsort(r->at, r->n, sizeof *r->at, more);
}

/* The first that is not equal to number k. */
static size_t end_of(const struct ranking *r, size_t k)
{
  float value = r->at[k].value;
  while (k < r->n && r->at[k].value == value) k++;
  return k;
}

/* ---- One set ---- */

/* Tests first .. first + m - 1, of which so many are of class c. best: the one with the smallest p so far. */
static void test(const struct ranking *r, int32_t c, size_t first, size_t m, size_t of_class,
                 struct telling *best)
{
  size_t n = r->n, of = r->of_class[c];
  if (m < LEAST || of_class * n <= of * m) return; /* no more than elsewhere */
  double log_p = hypergeometric_tail(n, of, m, of_class);
  if (log_p > KEPT || log_p >= best->log_p) return;
  *best = (struct telling){.label = c,
                           .kind = best->kind,
                           .log_p = log_p,
                           .m = m,
                           .of_class = of_class,
                           .ranked = n,
                           .ranked_of_class = of,
                           .low = r->at[first + m - 1].value,
                           .high = r->at[first].value};
}

static r4_status keep(struct tries *t, const struct telling *best, r4_error *e)
{
  if (!(best->log_p <= KEPT)) return R4_OK;
  r4_status s = mem_more(&t->at, &t->room, t->n + 1, sizeof *t->at, "what tells", e);
  if (s) return s;
  t->at[t->n] = *best;
  t->at[t->n++].cue = t->cue;
  return R4_OK;
}

/* ---- The three kinds ---- */

static void try_pure(const struct ranking *r, int32_t c, struct telling *best)
{
  size_t others = 0, j = 0;
  for (size_t k = 0; k < r->n && j < OTHERS;) {
    size_t end = end_of(r, k), here = 0;
    for (size_t i = k; i < end; i++) here += r->label[r->at[i].k] != c;
    for (; j < OTHERS && others + here > j; j++) test(r, c, 0, k, k - others, best);
    others += here;
    k = end;
  }
  for (; j < OTHERS; j++) test(r, c, 0, r->n, r->n - others, best);
}

/* The k-th size that is tried: 20, 30, 50, 80, 120, and ten times these, and so on. */
static size_t size_at(size_t k)
{
  static const size_t first[] = {20, 30, 50, 80, 120};
  size_t size = first[k % 5];
  for (k /= 5; k; k--) size *= 10;
  return size;
}

/* The number of sizes tried: the same for all classes. */
static size_t try_mostly(const struct ranking *r, int32_t c, struct telling *best)
{
  size_t tests = 0, end = 0, of_class = 0;
  for (size_t k = 0; size_at(k) <= r->n / 2; k++) {
    size_t from = end;
    if (size_at(k) <= end) continue; /* equals took it along */
    end = end_of(r, size_at(k) - 1);
    for (size_t i = from; i < end; i++) of_class += r->label[r->at[i].k] == c;
    if (2 * end > r->n) break;
    tests++;
    test(r, c, 0, end, of_class, best);
  }
  return tests;
}

static r4_status try_same(const struct ranking *r, struct tries *t, uint64_t *tests, r4_error *e)
{
  size_t *here = r->of_class + r->classes;
  r4_status s = R4_OK;
  for (size_t k = 0, end; !s && k < r->n; k = end) {
    end = end_of(r, k);
    if (end - k < SAME_LEAST || 2 * (end - k) > r->n) continue;
    memset(here, 0, r->classes * sizeof *here);
    for (size_t i = k; i < end; i++) here[r->label[r->at[i].k]]++;
    for (size_t c = 0; !s && c < r->classes; c++) {
      struct telling best = {.kind = SET_SAME};
      if (!r->of_class[c]) continue;
      (*tests)++;
      test(r, (int32_t)c, k, end - k, here[c], &best);
      s = keep(t, &best, e);
    }
  }
  return s;
}

static bool can_tell(const struct ranking *r)
{
  return r->n >= 2 * LEAST && r->at[0].value != r->at[r->n - 1].value;
}

r4_status ranking_try_names(const struct ranking *r, struct tries *t, uint64_t tests[SET_KINDS], r4_error *e)
{
  return can_tell(r) ? try_same(r, t, tests + SET_SAME, e) : R4_OK;
}

r4_status ranking_try(const struct ranking *r, struct tries *t, uint64_t tests[SET_KINDS], r4_error *e)
{
  if (!can_tell(r)) return R4_OK;
  r4_status s = try_same(r, t, tests + SET_SAME, e);
  for (size_t c = 0; !s && c < r->classes; c++) {
    struct telling pure = {.kind = SET_PURE}, mostly = {.kind = SET_MOSTLY};
    if (!r->of_class[c] || r->of_class[c] == r->n) continue;
    tests[SET_PURE] += OTHERS;
    try_pure(r, (int32_t)c, &pure);
    tests[SET_MOSTLY] += try_mostly(r, (int32_t)c, &mostly);
    s = keep(t, &pure, e);
    if (!s) s = keep(t, &mostly, e);
  }
  return s;
}
