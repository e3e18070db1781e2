/* Random numbers: the published vectors of Philox, ranges, moments, independence of the key. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "r4.h"

static double unit(uint32_t low, uint32_t high)
{
  return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

/* kat_vectors of Random123: counter (4 words), key (2 words), result (4 words). */
static const struct {
  uint32_t counter[4], key[2], result[4];
} known[] = {
  {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
  {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
  {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
   {0xa4093822, 0x299f31d0},
   {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

/* uniform shows words 0 and 1, normal shows all four. */
static void test_known_answers(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    const uint32_t *c = known[k].counter, *r = known[k].result;
    r4_random key = {(uint64_t)known[k].key[1] << 32 | known[k].key[0], c[2], c[3]};
    uint64_t index = (uint64_t)c[1] << 32 | c[0];
    double u = unit(r[0], r[1]), v = unit(r[2], r[3]);
    assert_true(r4_random_uniform(key, index) == u);
    double normal = sqrt(-2 * log(1 - u)) * cos(2 * acos(-1.0) * v);
    assert_true(fabs(r4_random_normal(key, index) - normal) < 1e-12);
    unsigned __int128 product = (unsigned __int128)((uint64_t)r[1] << 32 | r[0]) * 1000000007u;
    assert_true(r4_random_below(key, index, 1000000007u) == (uint64_t)(product >> 64));
  }
}

static void test_uniform_moments(void **state)
{
  (void)state;
  enum { N = 200000 };
  double sum = 0, square = 0, lag = 0, last = 0.5;
  for (int i = 0; i < N; i++) {
    double u = r4_random_uniform((r4_random){7, 1, 2}, (uint64_t)i);
    assert_true(u >= 0 && u < 1);
    sum += u;
    square += u * u;
    lag += (u - 0.5) * (last - 0.5);
    last = u;
  }
  assert_true(fabs(sum / N - 0.5) < 0.004);
  assert_true(fabs(square / N - 1.0 / 3) < 0.004);
  assert_true(fabs(lag / N) < 0.002);
}

static void test_normal_moments(void **state)
{
  (void)state;
  enum { N = 200000 };
  double sum[5] = {0}, beyond = 0;
  for (int i = 0; i < N; i++) {
    double z = r4_random_normal((r4_random){7, 1, 3}, (uint64_t)i);
    assert_true(isfinite(z));
    for (int k = 1; k < 5; k++) sum[k] += pow(z, k);
    beyond += fabs(z) > 1.959963984540054;
  }
  assert_true(fabs(sum[1] / N) < 0.012);
  assert_true(fabs(sum[2] / N - 1) < 0.02);
  assert_true(fabs(sum[3] / N) < 0.05);
  assert_true(fabs(sum[4] / N - 3) < 0.15);
  assert_true(fabs(beyond / N - 0.05) < 0.003);
}

static void test_below(void **state)
{
  (void)state;
  enum { N = 70000, SIDES = 7 };
  int seen[SIDES] = {0};
  for (int i = 0; i < N; i++) seen[r4_random_below((r4_random){9, 1, 0}, (uint64_t)i, SIDES)]++;
  for (int k = 0; k < SIDES; k++) assert_true(abs(seen[k] - N / SIDES) < 500);
  for (uint64_t i = 0; i < 1000; i++) {
    assert_true(r4_random_below((r4_random){9, 1, 0}, i, 1) == 0);
    assert_true(r4_random_below((r4_random){9, 1, 0}, i, 0) == 0);
    assert_true(r4_random_below((r4_random){9, 1, 0}, i, UINT64_MAX) < UINT64_MAX);
  }
}

/* Below agrees with the wide product for divisors of every size. */
static void test_below_product(void **state)
{
  (void)state;
  for (int bits = 1; bits < 64; bits++) {
    for (uint64_t i = 0; i < 100; i++) {
      r4_random key = {i, 3, 4};
      uint64_t all = 0, n = ((uint64_t)1 << bits) + (i * i) % ((uint64_t)1 << bits);
      for (int b = 63; b > 0; b--) {
        uint64_t top = r4_random_below(key, i, (uint64_t)1 << b); /* the upper b bits */
        if (b == 63) all = top;
        assert_true(top == all >> (63 - b));
      }
      unsigned __int128 low = (unsigned __int128)(all << 1) * n, high = (unsigned __int128)(all << 1 | 1) * n;
      uint64_t got = r4_random_below(key, i, n);
      assert_true(got == (uint64_t)(low >> 64) || got == (uint64_t)(high >> 64));
    }
  }
}

/* Each part of the key, and the index, changes the draw. */
static void test_key(void **state)
{
  (void)state;
  const r4_random key[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1ull << 40, 1, 1}};
  const uint64_t index[] = {0, 1, 1ull << 32};
  double seen[15];
  size_t n = 0;
  for (size_t k = 0; k < 5; k++) {
    for (size_t i = 0; i < 3; i++) seen[n++] = r4_random_uniform(key[k], index[i]);
  }
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < a; b++) assert_true(seen[a] != seen[b]);
  }
}

/* A prefix is the same whatever the length, and the range and moments are right. */
static void test_fill(void **state)
{
  (void)state;
  enum { N = 100001, PREFIX = 1234 };
  static float all[N], few[PREFIX + 1];
  r4_random key = {7, 8, 9};
  double sum = 0, squares = 0;
  few[PREFIX] = 42;
  r4_random_fill(key, N, -1, 3, all);
  r4_random_fill(key, PREFIX, -1, 3, few);
  assert_memory_equal(all, few, PREFIX * sizeof *few);
  assert_true(few[PREFIX] == 42);
  for (size_t i = 0; i < N; i++) {
    assert_true(all[i] >= -1 && all[i] < 3);
    sum += (double)all[i];
    squares += (double)all[i] * (double)all[i];
  }
  assert_true(fabs(sum / N - 1) < 0.02);
  assert_true(fabs(squares / N - 7. / 3) < 0.05);
}

static int by_size(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: the largest distance from the normal distribution, times sqrt(n), is above 1.95 by chance
 * once in a thousand. Neighbours are not correlated, squares of neighbours neither. */
static void test_fill_normal(void **state)
{
  (void)state;
  enum { N = 100003, PREFIX = 777 };
  static float all[N], few[PREFIX + 1];
  r4_random key = {7, 8, 10};
  few[PREFIX] = 42;
  r4_random_fill_normal(key, N, all);
  r4_random_fill_normal(key, PREFIX, few);
  assert_memory_equal(all, few, PREFIX * sizeof *few);
  assert_true(few[PREFIX] == 42);
  double product = 0, squares = 0;
  for (size_t i = 0; i + 1 < N; i++) {
    double a = all[i], b = all[i + 1];
    product += a * b;
    squares += (a * a - 1) * (b * b - 1);
  }
  assert_true(fabs(product) / sqrt(N) < 4);
  assert_true(fabs(squares) / (2 * sqrt(N)) < 4);
  qsort(all, N, sizeof *all, by_size);
  double distance = 0;
  for (size_t i = 0; i < N; i++) {
    double expected = erfc(-(double)all[i] / sqrt(2)) / 2;
    distance = fmax(distance, fmax(fabs(expected - (double)i / N), fabs(expected - (double)(i + 1) / N)));
  }
  assert_true(distance * sqrt(N) < 1.95);
  assert_true(all[0] > -6 && all[0] < -3.5 && all[N - 1] < 6 && all[N - 1] > 3.5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_known_answers),  cmocka_unit_test(test_uniform_moments),
    cmocka_unit_test(test_normal_moments), cmocka_unit_test(test_below),
    cmocka_unit_test(test_below_product),  cmocka_unit_test(test_key),
    cmocka_unit_test(test_fill),           cmocka_unit_test(test_fill_normal),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
