#include "find/pixel_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const double BLUR = .015, SPREAD_WEIGHT = 2;

enum { BLUR_REACH = 3, /* standard deviations */ ROUNDS = 8, AROUND = 2 };

static size_t shorter(const struct pixel_words *m)
{
  return m->height < m->width ? m->height : m->width;
}

static size_t places(const struct pixel_words *m)
{
  return m->rows * m->columns;
}

r4_status pixel_words_new(struct pixel_words *m, const r4_data *d, bool moves, r4_error *e)
{
  const int64_t *dim = data_x(d)->shape.dim;
  *m = (struct pixel_words){.height = (size_t)dim[0], .width = (size_t)dim[1], .channels = (size_t)dim[2]};
  m->numbers = 2 * (m->channels < PIXEL_CHANNELS ? m->channels : PIXEL_CHANNELS) + 1;
  m->rows = moves ? 1 : m->height < PLACES ? m->height : PLACES;
  m->columns = moves ? 1 : m->width < PLACES ? m->width : PLACES;
  m->p = mem_new(places(m) * WORDS, sizeof *m->p, "what pixels look like", e);
  m->clue = mem_new(places(m) * WORDS, sizeof *m->clue, "what pixels look like", e);
  m->other = mem_new(places(m) * WORDS, sizeof *m->other, "what pixels look like", e);
  return m->p && m->clue && m->other ? R4_OK : R4_E_MEMORY;
}

void pixel_words_clear(struct pixel_words *m)
{
  r4_mem_free(m->p);
  r4_mem_free(m->clue);
  r4_mem_free(m->other);
  m->p = m->clue = m->other = NULL;
}

r4_status pixel_room_new(struct pixel_room *r, const struct pixel_words *m, r4_error *e)
{
  size_t pixels = m->height * m->width, longer = m->height > m->width ? m->height : m->width;
  r->pixel = mem_new(pixels, m->channels * sizeof *r->pixel, "an image", e);
  r->z = mem_new(pixels, m->numbers * sizeof *r->z, "an image", e);
  r->map = mem_new(pixels, sizeof *r->map, "an image", e);
  r->line = mem_new(longer + 1, 2 * sizeof *r->line, "an image", e);
  r->word = mem_new(pixels, sizeof *r->word, "an image", e);
  if (r->pixel && r->z && r->map && r->line && r->word) return R4_OK;
  pixel_room_clear(r);
  return R4_E_MEMORY;
}

void pixel_room_clear(struct pixel_room *r)
{
  r4_mem_free(r->pixel);
  r4_mem_free(r->z);
  r4_mem_free(r->map);
  r4_mem_free(r->line);
  r4_mem_free(r->word);
  *r = (struct pixel_room){0};
}

/* ---- z ---- */

struct window {
  size_t top, bottom, left, right; /* bottom and right are behind the last */
};

static struct window around(const struct pixel_words *m, size_t y, size_t x, size_t reach)
{
  return (struct window){y > reach ? y - reach : 0, y + reach < m->height ? y + reach + 1 : m->height,
                         x > reach ? x - reach : 0, x + reach < m->width ? x + reach + 1 : m->width};
}

/* The means of the channels, to z; returns the spread of the lightness. */
static double look_at(const struct pixel_words *m, const float *pixel, struct window w, float *z)
{
  double sum[PIXEL_CHANNELS] = {0}, light = 0, square = 0;
  double n = (double)((w.bottom - w.top) * (w.right - w.left));
  size_t channels = m->numbers / 2;
  for (size_t y = w.top; y < w.bottom; y++)
    for (size_t x = w.left; x < w.right; x++) {
      const float *p = pixel + (y * m->width + x) * m->channels;
      double here = 0;
      for (size_t c = 0; c < channels; c++) sum[c] += (double)p[c], here += (double)p[c];
      here /= (double)channels;
      light += here;
      square += here * here;
    }
  for (size_t c = 0; c < channels; c++) z[c] = (float)(sum[c] / n);
  return sqrt(fmax(0, square / n - light * light / (n * n)));
}

void pixel_look(const struct pixel_words *m, const r4_data *d, size_t i, struct pixel_room *room)
{
  size_t wide = shorter(m) / 26 ? shorter(m) / 26 : 1, narrow = shorter(m) / 64;
  column_read(data_x(d), d->record[i].row, room->pixel);
  for (size_t y = 0; y < m->height; y++)
    for (size_t x = 0; x < m->width; x++) {
      float *z = room->z + (y * m->width + x) * m->numbers;
      look_at(m, room->pixel, around(m, y, x, narrow), z);
      double spread = look_at(m, room->pixel, around(m, y, x, wide), z + m->numbers / 2);
      z[m->numbers - 1] = (float)(SPREAD_WEIGHT * spread);
    }
}

/* ---- Words ---- */

static size_t nearest(const struct pixel_words *m, const float *z)
{
  size_t best = 0;
  float least = INFINITY;
  for (size_t w = 0; w < m->words; w++) {
    float sum = 0;
    for (size_t k = 0; k < m->numbers; k++) {
      float d = z[k] - m->centre[w][k];
      sum += d * d;
    }
    if (sum < least) least = sum, best = w;
  }
  return best;
}

/* k-means from evenly spread vectors; a centre without any stays. */
r4_status pixel_words_learn(struct pixel_words *m, const float *z, size_t n, r4_error *e)
{
  double(*sum)[PIXEL_NUMBERS + 1] = mem_new(WORDS, sizeof *sum, "what pixels look like", e);
  if (!sum) return R4_E_MEMORY;
  m->words = n < WORDS ? n : WORDS;
  for (size_t w = 0; w < m->words; w++)
    memcpy(m->centre[w], z + w * n / m->words * m->numbers, m->numbers * sizeof *z);
  for (int round = 0; round < ROUNDS; round++) {
    memset(sum, 0, WORDS * sizeof *sum);
    for (size_t i = 0; i < n; i++) {
      size_t w = nearest(m, z + i * m->numbers);
      for (size_t k = 0; k < m->numbers; k++) sum[w][k] += (double)z[i * m->numbers + k];
      sum[w][PIXEL_NUMBERS]++;
    }
    for (size_t w = 0; w < m->words; w++)
      for (size_t k = 0; sum[w][PIXEL_NUMBERS] > 0 && k < m->numbers; k++)
        m->centre[w][k] = (float)(sum[w][k] / sum[w][PIXEL_NUMBERS]);
  }
  r4_mem_free(sum);
  return R4_OK;
}

void pixel_words_of(const struct pixel_words *m, struct pixel_room *room)
{
  for (size_t k = 0; k < m->height * m->width; k++)
    room->word[k] = (uint8_t)nearest(m, room->z + k * m->numbers);
}

/* ---- Counts ---- */

static size_t place_of(const struct pixel_words *m, size_t y, size_t x)
{
  return y * m->rows / m->height * m->columns + x * m->columns / m->width;
}

void pixel_words_count(const struct pixel_words *m, const struct pixel_room *room, const double box[4],
                       bool inside, float *to)
{
  for (size_t y = 0; y < m->height; y++)
    for (size_t x = 0; x < m->width; x++) {
      double u = ((double)x + .5) / (double)m->width, v = ((double)y + .5) / (double)m->height;
      bool in = !box || (u >= box[0] && u < box[0] + box[2] && v >= box[1] && v < box[1] + box[3]);
      if (in == inside) to[place_of(m, y, x) * WORDS + room->word[y * m->width + x]]++;
    }
}

/* Shares at a place, of the counts of the places around it. */
static void shares_at(const struct pixel_words *m, const float *count, size_t place, double share[WORDS])
{
  size_t row = place / m->columns, column = place % m->columns;
  double all = 0;
  for (size_t w = 0; w < WORDS; w++) share[w] = 0;
  for (size_t y = row > AROUND ? row - AROUND : 0; y <= row + AROUND && y < m->rows; y++)
    for (size_t x = column > AROUND ? column - AROUND : 0; x <= column + AROUND && x < m->columns; x++)
      for (size_t w = 0; w < WORDS; w++) {
        double n = (double)count[(y * m->columns + x) * WORDS + w];
        share[w] += n;
        all += n;
      }
  for (size_t w = 0; w < WORDS; w++) share[w] /= all > 0 ? all : 1;
}

static int ascending(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

/* From r_1 / r_0 to P: what three quarters of the places have in common is the class, not the clue. */
static r4_status compare_places(struct pixel_words *m, r4_error *e)
{
  size_t n = places(m);
  float *ratio = mem_new(n, sizeof *ratio, "what pixels look like", e);
  if (!ratio) return R4_E_MEMORY;
  for (size_t w = 0; w < WORDS; w++) {
    for (size_t k = 0; k < n; k++) ratio[k] = m->p[k * WORDS + w];
    qsort(ratio, n, sizeof *ratio, ascending);
    float usual = n > 1 ? fmaxf(1, ratio[3 * n / 4]) : 1;
    for (size_t k = 0; k < n; k++) m->p[k * WORDS + w] = fmaxf(0, 1 - usual / m->p[k * WORDS + w]);
  }
  r4_mem_free(ratio);
  return R4_OK;
}

r4_status pixel_words_weigh(struct pixel_words *m, const float *elsewhere, r4_error *e)
{
  const double least = 1e-3; /* a word as rare as this is there by chance */
  for (size_t place = 0; place < places(m); place++) {
    double clue[WORDS], other[WORDS], same[WORDS] = {0};
    shares_at(m, m->clue, place, clue);
    shares_at(m, m->other, place, other);
    if (elsewhere) shares_at(m, elsewhere, place, same);
    for (size_t w = 0; w < WORDS; w++)
      m->p[place * WORDS + w] = (float)((clue[w] + least) / (fmax(other[w], same[w]) + least));
  }
  return compare_places(m, e);
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

void pixel_map(const struct pixel_words *m, struct pixel_room *room)
{
  double sigma = fmax(.5, BLUR * (double)shorter(m));
  for (size_t y = 0; y < m->height; y++)
    for (size_t x = 0; x < m->width; x++) {
      size_t k = y * m->width + x;
      room->map[k] = m->p[place_of(m, y, x) * WORDS + room->word[k]];
    }
  for (size_t y = 0; y < m->height; y++) blur_line(room->map + y * m->width, m->width, 1, sigma, room->line);
  for (size_t x = 0; x < m->width; x++) blur_line(room->map + x, m->height, m->width, sigma, room->line);
}
