#include "find/sphere_means.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { ROUNDS = 30 };

float sphere_cosine(const float *x, const float *y, size_t size)
{
  float sum = 0;
  for (size_t k = 0; k < size; k++) sum += x[k] * y[k];
  return sum;
}

void sphere_put(float *x, size_t size)
{
  double square = 0;
  for (size_t k = 0; k < size; k++) square += (double)x[k] * (double)x[k];
  float scale = square > 0 ? (float)(1 / sqrt(square)) : 0;
  for (size_t k = 0; k < size; k++) x[k] *= scale;
}

/* nearest[i]: the cosine with the centre that is most like vector i. */
static void start(const float *x, size_t n, size_t size, size_t k, r4_random key, float *centre,
                  float *nearest)
{
  size_t next = (size_t)r4_random_below(key, 0, n);
  for (size_t i = 0; i < n; i++) nearest[i] = -2;
  for (size_t c = 0; c < k; c++) {
    memcpy(centre + c * size, x + next * size, size * sizeof *x);
    next = 0;
    for (size_t i = 0; i < n; i++) {
      nearest[i] = fmaxf(nearest[i], sphere_cosine(x + i * size, centre + c * size, size));
      if (nearest[i] < nearest[next]) next = i;
    }
  }
}

/* Returns whether any vector changed its centre. */
static bool assign(const float *x, size_t n, size_t size, size_t k, const float *centre, uint32_t *of)
{
  int changed = 0;
#pragma omp parallel for schedule(static) reduction(+ : changed)
  for (size_t i = 0; i < n; i++) {
    uint32_t best = 0;
    float most = -2;
    for (uint32_t c = 0; c < k; c++) {
      float cosine = sphere_cosine(x + i * size, centre + c * size, size);
      if (cosine > most) most = cosine, best = c;
    }
    changed += of[i] != best;
    of[i] = best;
  }
  return changed;
}

static void move(const float *x, size_t n, size_t size, size_t k, const uint32_t *of, float *centre)
{
  for (size_t c = 0; c < k; c++) {
    size_t members = 0;
    for (size_t i = 0; i < n; i++) members += of[i] == c;
    if (!members) continue;
    memset(centre + c * size, 0, size * sizeof *centre);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; of[i] == c && j < size; j++) centre[c * size + j] += x[i * size + j];
    sphere_put(centre + c * size, size);
  }
}

r4_status sphere_means(const float *x, size_t n, size_t size, size_t k, r4_random key, float *centre,
                       r4_error *e)
{
  uint32_t *of = mem_new(n, sizeof *of, "clusters", e);
  float *nearest = mem_new(n, sizeof *nearest, "clusters", e);
  if (of && nearest) {
    start(x, n, size, k, key, centre, nearest);
    for (size_t i = 0; i < n; i++) of[i] = UINT32_MAX;
    for (int round = 0; round < ROUNDS && assign(x, n, size, k, centre, of); round++)
      move(x, n, size, k, of, centre);
  }
  r4_status s = of && nearest ? R4_OK : R4_E_MEMORY;
  r4_mem_free(of);
  r4_mem_free(nearest);
  return s;
}
