#include "find/pixel_model.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static const double MOST = 10, BLUR = .03;

enum { BLUR_REACH = 3 }; /* standard deviations */

struct pixel_model pixel_model_of(const r4_data *d)
{
  const int64_t *dim = data_x(d)->shape.dim;
  struct pixel_model m = {.height = (size_t)dim[0], .width = (size_t)dim[1], .channels = (size_t)dim[2]};
  m.numbers = (m.channels < PIXEL_NUMBERS ? m.channels : PIXEL_NUMBERS - 1) + 1;
  return m;
}

static size_t shorter(const struct pixel_model *m)
{
  return m->height < m->width ? m->height : m->width;
}

r4_status pixel_room_new(struct pixel_room *r, const struct pixel_model *m, r4_error *e)
{
  size_t pixels = m->height * m->width, longer = m->height > m->width ? m->height : m->width;
  r->pixel = mem_new(pixels, m->channels * sizeof *r->pixel, "an image", e);
  r->z = mem_new(pixels, m->numbers * sizeof *r->z, "an image", e);
  r->map = mem_new(pixels, sizeof *r->map, "an image", e);
  r->line = mem_new(longer + 1, 2 * sizeof *r->line, "an image", e);
  if (r->pixel && r->z && r->map && r->line) return R4_OK;
  pixel_room_clear(r);
  return R4_E_MEMORY;
}

void pixel_room_clear(struct pixel_room *r)
{
  r4_mem_free(r->pixel);
  r4_mem_free(r->z);
  r4_mem_free(r->map);
  r4_mem_free(r->line);
  *r = (struct pixel_room){0};
}

/* ---- z ---- */

struct window {
  size_t top, bottom, left, right; /* bottom and right are behind the last */
};

static struct window around(const struct pixel_model *m, size_t y, size_t x)
{
  size_t reach = shorter(m) / 26 ? shorter(m) / 26 : 1;
  return (struct window){y > reach ? y - reach : 0, y + reach < m->height ? y + reach + 1 : m->height,
                         x > reach ? x - reach : 0, x + reach < m->width ? x + reach + 1 : m->width};
}

static void look_at(const struct pixel_model *m, const float *pixel, struct window w, float *z)
{
  double sum[PIXEL_NUMBERS] = {0}, light = 0, square = 0;
  double n = (double)((w.bottom - w.top) * (w.right - w.left));
  for (size_t y = w.top; y < w.bottom; y++)
    for (size_t x = w.left; x < w.right; x++) {
      const float *p = pixel + (y * m->width + x) * m->channels;
      double here = 0;
      for (size_t c = 0; c + 1 < m->numbers; c++) sum[c] += (double)p[c], here += (double)p[c];
      here /= (double)(m->numbers - 1);
      light += here;
      square += here * here;
    }
  for (size_t c = 0; c + 1 < m->numbers; c++) z[c] = (float)(sum[c] / n);
  z[m->numbers - 1] = (float)sqrt(fmax(0, square / n - light * light / (n * n)));
}

void pixel_look(const struct pixel_model *m, const r4_data *d, size_t i, struct pixel_room *room)
{
  column_read(data_x(d), d->record[i].row, room->pixel);
  for (size_t y = 0; y < m->height; y++)
    for (size_t x = 0; x < m->width; x++)
      look_at(m, room->pixel, around(m, y, x), room->z + (y * m->width + x) * m->numbers);
}

/* ---- Normal distributions ---- */

void moments_add(struct moments *to, const struct pixel_model *m, const float *z)
{
  to->n++;
  for (size_t a = 0; a < m->numbers; a++) {
    to->sum[a] += (double)z[a];
    for (size_t b = 0; b <= a; b++) to->product[a][b] += (double)z[a] * (double)z[b];
  }
}

static double covariance(const struct moments *a, size_t j, size_t k)
{
  double n = a->n > 0 ? a->n : 1;
  return a->product[j][k] / n - a->sum[j] / n * (a->sum[k] / n);
}

double moments_spread(const struct moments *a, size_t numbers)
{
  double sum = 0;
  for (size_t k = 0; k < numbers; k++) sum += fmax(0, covariance(a, k, k));
  return sum / (double)numbers;
}

/* S = L L' (Cholesky); S^-1 = L^-T L^-1 and log det S = 2 sum log L_kk. */
struct normal normal_of(const struct moments *a, size_t numbers, double least)
{
  struct normal of = {.log_det = 0};
  double l[PIXEL_NUMBERS][PIXEL_NUMBERS] = {{0}}, inverse[PIXEL_NUMBERS][PIXEL_NUMBERS] = {{0}};
  for (size_t j = 0; j < numbers; j++) {
    of.mean[j] = a->sum[j] / (a->n > 0 ? a->n : 1);
    for (size_t k = 0; k <= j; k++) {
      double s = covariance(a, j, k) + (j == k ? least : 0);
      for (size_t i = 0; i < k; i++) s -= l[j][i] * l[k][i];
      l[j][k] = j == k ? sqrt(fmax(s, least)) : s / l[k][k];
    }
    of.log_det += 2 * log(l[j][j]);
  }
  for (size_t j = 0; j < numbers; j++) {
    inverse[j][j] = 1 / l[j][j];
    for (size_t k = 0; k < j; k++) {
      double s = 0;
      for (size_t i = k; i < j; i++) s -= l[j][i] * inverse[i][k];
      inverse[j][k] = s / l[j][j];
    }
  }
  for (size_t j = 0; j < numbers; j++)
    for (size_t k = 0; k < numbers; k++)
      for (size_t i = j > k ? j : k; i < numbers; i++) of.inverse[j][k] += inverse[i][j] * inverse[i][k];
  return of;
}

/* log N(z), without the constant that both have. */
static double log_density(const struct normal *of, const float *z, size_t numbers)
{
  double sum = 0, d[PIXEL_NUMBERS];
  for (size_t k = 0; k < numbers; k++) d[k] = (double)z[k] - of->mean[k];
  for (size_t j = 0; j < numbers; j++)
    for (size_t k = 0; k < numbers; k++) sum += d[j] * of->inverse[j][k] * d[k];
  return -(sum + of->log_det) / 2;
}

/* ---- The map ---- */

/* One line of n values, "step" apart; what is outside takes the nearest. */
static void blur_line(float *at, size_t n, size_t step, double sigma, float *line)
{
  long reach = (long)ceil(BLUR_REACH * sigma), last = (long)n - 1;
  for (size_t k = 0; k < n; k++) line[k] = at[k * step];
  for (long k = 0; k <= last; k++) {
    double sum = 0, weights = 0;
    for (long j = -reach; j <= reach; j++) {
      long from = k + j < 0 ? 0 : k + j > last ? last : k + j;
      double w = exp(-(double)(j * j) / (2 * sigma * sigma));
      sum += w * (double)line[from];
      weights += w;
    }
    at[(size_t)k * step] = (float)(sum / weights);
  }
}

void pixel_map(const struct pixel_model *m, struct pixel_room *room)
{
  double sigma = fmax(.5, BLUR * (double)shorter(m));
  for (size_t k = 0; k < m->height * m->width; k++) {
    const float *z = room->z + k * m->numbers;
    double l = log_density(&m->clue, z, m->numbers) - log_density(&m->other, z, m->numbers);
    room->map[k] = (float)fmin(MOST, fmax(-MOST, l));
  }
  for (size_t y = 0; y < m->height; y++) blur_line(room->map + y * m->width, m->width, 1, sigma, room->line);
  for (size_t x = 0; x < m->width; x++) blur_line(room->map + x, m->height, m->width, sigma, room->line);
}
