/* Random numbers by counter: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (SC 2011). One draw is one block:
 *
 *     key = seed,   counter = (index, purpose, step),   block = Philox(key, counter), 128 bits
 *
 * so that a draw depends on nothing that came before it. Two kinds of draw with equal keys and
 * indices share their bits: give each use a purpose of its own. */
#include <math.h>

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

static struct block draw(r4_random r, uint64_t index)
{
  struct block b = {{(uint32_t)index, (uint32_t)(index >> 32), r.purpose, r.step}};
  uint32_t key[2] = {(uint32_t)r.seed, (uint32_t)(r.seed >> 32)};
  for (int round = 0; round < ROUNDS; round++) {
    mix(&b, key);
    key[0] += 0x9E3779B9u; /* the Weyl sequence of the paper: golden ratio and sqrt(3) - 1 */
    key[1] += 0xBB67AE85u;
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

/* x, or what is next below high if rounding made it high. */
static float below(float high, float low, float x)
{
  return x < high ? x : nextafterf(high, low);
}

/* Four floats a block, of 24 bits each. */
void r4_random_fill(r4_random key, size_t n, float low, float high, float *to)
{
  size_t blocks = (n + 3) / 4;
#pragma omp parallel for schedule(static) if (n > 16384)
  for (size_t k = 0; k < blocks; k++) {
    struct block b = draw(key, k);
    for (size_t j = 0; j < 4 && 4 * k + j < n; j++)
      to[4 * k + j] = below(high, low, low + (high - low) * ((float)(b.word[j] >> 8) * 0x1p-24f));
  }
}
