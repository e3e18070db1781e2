/* The built-in digits: the same bytes whatever the threads and the range, labels, ink, difficulty. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data/known/digits.h"

enum { N = 4000, P = DIGITS_PIXELS };

static uint8_t images[N * P], labels[N], again[N * P], labels_again[N];

/* The bytes of the first hundred images: FNV-1a. Changes on purpose only: results name the data by seed. */
static void test_known_answer(void **state)
{
  (void)state;
  uint64_t hash = 14695981039346656037u;
  r4_digits(1, 0, 100, images, labels);
  for (size_t k = 0; k < 100 * P; k++) hash = (hash ^ images[k]) * 1099511628211u;
  for (size_t k = 0; k < 100; k++) hash = (hash ^ labels[k]) * 1099511628211u;
  assert_int_equal(hash, 0x12e54200dd3218b3u);
}

static void test_threads(void **state)
{
  (void)state;
  enum { FEW = 500 };
  int before = omp_get_max_threads();
  omp_set_num_threads(1);
  r4_digits(3, 0, FEW, images, labels);
  for (int threads = 2; threads < 8; threads++) {
    omp_set_num_threads(threads);
    memset(again, 0, FEW * P);
    memset(labels_again, 77, FEW);
    r4_digits(3, 0, FEW, again, labels_again);
    assert_memory_equal(images, again, FEW * P);
    assert_memory_equal(labels, labels_again, FEW);
  }
  omp_set_num_threads(before);
}

/* Any split of a range gives the same images, and nothing is written behind them. */
static void test_ranges(void **state)
{
  (void)state;
  enum { FEW = 300 };
  const uint64_t first[] = {0, 17, ((uint64_t)1 << 32) - 100, UINT64_MAX - 100};
  for (size_t f = 0; f < sizeof first / sizeof *first; f++) {
    r4_digits(5, first[f], FEW, images, labels);
    for (size_t k = 0, n = 0; k < FEW; k += n) {
      n = k * k % 97 + 1 < FEW - k ? k * k % 97 + 1 : FEW - k;
      again[n * P] = labels_again[n] = 42;
      r4_digits(5, first[f] + k, n, again, labels_again);
      assert_memory_equal(images + k * P, again, n * P);
      assert_memory_equal(labels + k, labels_again, n);
      assert_true(again[n * P] == 42 && labels_again[n] == 42);
    }
  }
  r4_digits(5, 0, 0, NULL, NULL);
}

/* No image comes twice: not in a range, not from another seed, not from indices 2^32 apart. */
static void test_all_differ(void **state)
{
  (void)state;
  enum { FEW = 60, KINDS = 5 };
  const uint64_t seed[KINDS] = {1, 2, (uint64_t)1 << 32, 1, 1},
                 first[KINDS] = {0, 0, 0, (uint64_t)1 << 32, FEW};
  for (size_t k = 0; k < KINDS; k++)
    r4_digits(seed[k], first[k], FEW, images + k * FEW * P, labels + k * FEW);
  for (size_t a = 0; a < KINDS * FEW; a++) {
    for (size_t b = 0; b < a; b++) assert_true(memcmp(images + a * P, images + b * P, P) != 0);
  }
  for (size_t k = 1; k < KINDS; k++) assert_true(memcmp(labels, labels + k * FEW, FEW) != 0);
}

/* Each class within four standard deviations of its share; neighbours are independent. */
static void test_labels(void **state)
{
  (void)state;
  int seen[DIGITS_CLASSES] = {0}, pairs = 0;
  r4_digits(7, 0, N, images, labels);
  for (size_t k = 0; k < N; k++) {
    assert_true(labels[k] < DIGITS_CLASSES);
    seen[labels[k]]++;
    pairs += k > 0 && labels[k] == labels[k - 1];
  }
  for (int c = 0; c < DIGITS_CLASSES; c++) assert_true(abs(seen[c] - N / 10) < 76);
  assert_true(abs(pairs - N / 10) < 76);
}

/* Every image has paper and ink, in amounts that a digit can have; the ink is in the middle. */
static void test_ink(void **state)
{
  (void)state;
  double sum = 0, edge = 0;
  r4_digits(8, 0, N, images, labels);
  for (size_t i = 0; i < N; i++) {
    int ink = 0, dark = 0, most = 0;
    for (int k = 0; k < P; k++) {
      int v = images[i * P + (size_t)k], row = k / DIGITS_SIDE, column = k % DIGITS_SIDE;
      ink += v;
      dark += v > 100;
      most = v > most ? v : most;
      if (row < 2 || row >= DIGITS_SIDE - 2 || column < 2 || column >= DIGITS_SIDE - 2) edge += v;
    }
    assert_in_range(ink, 4 * P, 100 * P);
    assert_in_range(dark, 10, P / 2);
    assert_true(most > 130);
    sum += ink;
  }
  assert_true(sum / N / P > 25 && sum / N / P < 40);
  assert_true(edge < 0.1 * sum);
}

/* Squared distance of an image to the mean of a class. */
static double distance(const uint8_t *image, const double *mean)
{
  double sum = 0;
  for (size_t k = 0; k < P; k++) sum += (image[k] - mean[k]) * (image[k] - mean[k]);
  return sum;
}

/* The nearest of the ten mean images, learned from the first half, is right more often than not in the
 * second, and far from always; each class is found. */
static void test_difficulty(void **state)
{
  (void)state;
  static double mean[DIGITS_CLASSES][P];
  int seen[DIGITS_CLASSES] = {0}, right[DIGITS_CLASSES] = {0}, tried[DIGITS_CLASSES] = {0}, all = 0;
  r4_digits(9, 0, N, images, labels);
  for (size_t i = 0; i < N / 2; i++) seen[labels[i]]++;
  for (size_t i = 0; i < N / 2; i++) {
    for (size_t k = 0; k < P; k++) mean[labels[i]][k] += images[i * P + k] / (double)seen[labels[i]];
  }
  for (size_t i = N / 2; i < N; i++) {
    int best = 0;
    for (int c = 1; c < DIGITS_CLASSES; c++)
      if (distance(images + i * P, mean[c]) < distance(images + i * P, mean[best])) best = c;
    tried[labels[i]]++;
    right[labels[i]] += best == labels[i];
    all += best == labels[i];
  }
  assert_in_range(all, N / 2 * 50 / 100, N / 2 * 90 / 100);
  for (int c = 0; c < DIGITS_CLASSES; c++) assert_true(right[c] > tried[c] * 3 / 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_known_answer), cmocka_unit_test(test_threads), cmocka_unit_test(test_ranges),
    cmocka_unit_test(test_all_differ),   cmocka_unit_test(test_labels),  cmocka_unit_test(test_ink),
    cmocka_unit_test(test_difficulty),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("digits", tests, NULL, NULL);
}
