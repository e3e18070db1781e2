/* Random numbers by counter: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (SC 2011). One draw is one block:
 *
 *     key = seed,   counter = (index, purpose, step),   block = Philox(key, counter), 128 bits
 *
 * so that a draw depends on nothing that came before it. Two kinds of draw with equal keys and
 * indices share their bits: give each use a purpose of its own. */
#include <math.h>
#include <string.h>

#include "r4.h"

struct block {
  uint32_t word[4];
};

enum { ROUNDS = 10 };

static void mix(struct block *b, const uint32_t key[2])
{
  uint64_t p = (uint64_t)0xD2511F53u * b->word[0];
  uint64_t q = (uint64_t)0xCD9E8D57u * b->word[2];
  *b = (struct block){{(uint32_t)(q >> 32) ^ b->word[1] ^ key[0], (uint32_t)q,
                       (uint32_t)(p >> 32) ^ b->word[3] ^ key[1], (uint32_t)p}};
}

/* The Weyl sequence of the paper: golden ratio and sqrt(3) - 1. */
static void next_key(uint32_t key[2])
{
  key[0] += 0x9E3779B9u;
  key[1] += 0xBB67AE85u;
}

static struct block draw(r4_random r, uint64_t index)
{
  struct block b = {{(uint32_t)index, (uint32_t)(index >> 32), r.purpose, r.step}};
  uint32_t key[2] = {(uint32_t)r.seed, (uint32_t)(r.seed >> 32)};
  for (int round = 0; round < ROUNDS; round++) {
    mix(&b, key);
    next_key(key);
  }
  return b;
}

/* Half 0 or 1 of a block, as 64 bits. */
static uint64_t half(struct block b, int k)
{
  return (uint64_t)b.word[2 * k + 1] << 32 | b.word[2 * k];
}

/* The upper 53 bits, all that a double in [0, 1) with even spacing can hold. */
static double unit(uint64_t bits)
{
  return (double)(bits >> 11) * 0x1p-53;
}

double r4_random_uniform(r4_random key, uint64_t index)
{
  return unit(half(draw(key, index), 0));
}

/* sqrt(-2 log(1 - u)) cos(2 pi v): Box and Muller. Its twin with sin is not used, so that index i
 * is block i here too. 1 - u lies in (0, 1], so the logarithm is finite. */
double r4_random_normal(r4_random key, uint64_t index)
{
  struct block b = draw(key, index);
  double u = unit(half(b, 0)), v = unit(half(b, 1));
  return sqrt(-2 * log1p(-u)) * cos(6.283185307179586477 * v);
}

/* floor(n u / 2^64), the high half of a 64 x 64 bit product. Without rejection a value's
 * probability is off by less than 2^-64, a share n / 2^64 of itself: no experiment can see it, and
 * each index needs exactly one block. */
uint64_t r4_random_below(r4_random key, uint64_t index, uint64_t n)
{
  uint64_t u = half(draw(key, index), 0);
  uint64_t low = (u & UINT32_MAX) * (n & UINT32_MAX);
  uint64_t mid = (u >> 32) * (n & UINT32_MAX) + (low >> 32);
  uint64_t mid2 = (u & UINT32_MAX) * (n >> 32) + (mid & UINT32_MAX);
  return (u >> 32) * (n >> 32) + (mid >> 32) + (mid2 >> 32);
}

/* ---- Many at once ---- */

/* Blocks first .. first + STRETCH - 1, round by round for all of them, which compilers turn into vector code:
 * word[j][k] is word j of block first + k. */
enum { STRETCH = 64 };

static void draw_stretch(r4_random r, uint64_t first, uint32_t word[4][STRETCH])
{
  uint32_t key[2] = {(uint32_t)r.seed, (uint32_t)(r.seed >> 32)};
  for (uint32_t k = 0; k < STRETCH; k++) {
    word[0][k] = (uint32_t)(first + k);
    word[1][k] = (uint32_t)((first + k) >> 32);
    word[2][k] = r.purpose;
    word[3][k] = r.step;
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int k = 0; k < STRETCH; k++) {
      struct block b = {{word[0][k], word[1][k], word[2][k], word[3][k]}};
      mix(&b, key);
      for (int j = 0; j < 4; j++) word[j][k] = b.word[j];
    }
    next_key(key);
  }
}

/* Number 4 k + j of a stretch is number[j][k]; the first n of them go to memory. */
static void store(const float number[4][STRETCH], size_t n, float *to)
{
  float drawn[STRETCH][4];
  for (int k = 0; k < STRETCH; k++)
    for (int j = 0; j < 4; j++) drawn[k][j] = number[j][k];
  memcpy(to, drawn, (n < 4 * STRETCH ? n : 4 * STRETCH) * sizeof *to);
}

/* 24 bits, 0 to 2^24 - 1. */
static inline float bits24(uint32_t word)
{
  return (float)(int32_t)(word >> 8);
}

/* low + (high - low) u, or what is next below high if rounding made it high. */
void r4_random_fill(r4_random key, size_t n, float low, float high, float *to)
{
  float last = nextafterf(high, low);
#pragma omp parallel for schedule(static) if (n > 16384)
  for (size_t first = 0; first < n; first += 4 * STRETCH) {
    uint32_t word[4][STRETCH];
    float number[4][STRETCH];
    draw_stretch(key, first / 4, word);
    for (int j = 0; j < 4; j++) {
      for (int k = 0; k < STRETCH; k++) {
        float x = low + (high - low) * (bits24(word[j][k]) * 0x1p-24f);
        number[j][k] = x < high ? x : last;
      }
    }
    store(number, n - first, to + first);
  }
}

/* log x for normal x > 0, without branches: x = 2^n f with f in [sqrt(1/2), sqrt(2)),
 *
 *     log f = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...),   s = (f - 1) / (f + 1),  |s| < 0.172
 *
 * cut after s^9: what is left out is below 2^-28. */
static inline float log_of(float x)
{
  uint32_t bits, least = 0x3f3504f3u; /* the bits of sqrt(1/2) */
  memcpy(&bits, &x, sizeof bits);
  int32_t n = (int32_t)(bits - least) >> 23;
  bits -= (uint32_t)n << 23;
  float f;
  memcpy(&f, &bits, sizeof f);
  float s = (f - 1) / (f + 1), t = s * s;
  return (float)n * 0.693147181f + 2 * s * (1 + t * (1.f / 3 + t * (1.f / 5 + t * (1.f / 7 + t / 9))));
}

/* cos and sin of 2 pi v, v in [0, 1): to the nearest quarter turn, and by Taylor's polynomials on -+ pi / 4. */
static inline void turn(float v, float *c, float *s)
{
  float quarters = 4 * v;
  int32_t k = (int32_t)(quarters + 0.5f);
  float a = (quarters - (float)k) * 1.57079633f, t = a * a;
  float sine = a * (1 + t * (-1.f / 6 + t * (1.f / 120 + t * (-1.f / 5040))));
  float cosine = 1 + t * (-1.f / 2 + t * (1.f / 24 + t * (-1.f / 720 + t * (1.f / 40320))));
  float x = k & 1 ? sine : cosine, y = k & 1 ? cosine : sine; /* up to signs, which the quarter gives */
  *c = (k + 1) & 2 ? -x : x;
  *s = k & 2 ? -y : y;
}

/* The pairs sqrt(-2 log u) (cos 2 pi v, sin 2 pi v) of Box and Muller, u in (0, 1], from the bits of u and v. */
static void normal_pairs(const uint32_t *a, const uint32_t *b, float *first, float *second)
{
  for (int k = 0; k < STRETCH; k++) {
    float u = (bits24(a[k]) + 1) * 0x1p-24f, c, s;
    float radius = sqrtf(-2 * log_of(u));
    turn(bits24(b[k]) * 0x1p-24f, &c, &s);
    first[k] = radius * c;
    second[k] = radius * s;
  }
}

void r4_random_fill_normal(r4_random key, size_t n, float *to)
{
#pragma omp parallel for schedule(static) if (n > 4096)
  for (size_t first = 0; first < n; first += 4 * STRETCH) {
    uint32_t word[4][STRETCH];
    float number[4][STRETCH];
    draw_stretch(key, first / 4, word);
    normal_pairs(word[0], word[1], number[0], number[1]);
    normal_pairs(word[2], word[3], number[2], number[3]);
    store(number, n - first, to + first);
  }
}
