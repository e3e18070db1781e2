/* Sound enclosures against exact arithmetic: tiny nets in fixed point of 128 bits, and products in long double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "enclose_case.h"

/* ---- Exactly: nets in fixed point of 128 bits ---- */

enum { WIDTH = 5, LAYERS = 3, X_BITS = 24, W_BITS = 22 };
typedef __int128 fixed;

struct tiny {
  int64_t width[LAYERS + 1];
  int32_t w[LAYERS][WIDTH][WIDTH], b[LAYERS][WIDTH]; /* w times 2^-22, b times 2^-22 */
  int32_t x[WIDTH], r[WIDTH];                        /* times 2^-24 */
};

static int32_t draw_fixed(int64_t most)
{
  return (int32_t)draw_between(-most, most);
}

static void tiny_draw(struct tiny *t)
{
  for (int l = 0; l <= LAYERS; l++) t->width[l] = draw_between(1, WIDTH);
  for (int l = 0; l < LAYERS; l++)
    for (int i = 0; i < WIDTH; i++) {
      t->b[l][i] = draw_fixed(1 << W_BITS);
      for (int k = 0; k < WIDTH; k++) t->w[l][i][k] = draw_below(6) ? draw_fixed(1 << W_BITS) : 0;
    }
  bool still = draw_below(4) == 0;
  for (int k = 0; k < WIDTH; k++) {
    t->x[k] = draw_fixed(1 << X_BITS);
    t->r[k] = still || draw_below(3) == 0 ? 0 : (int32_t)draw_below((uint64_t)1 << draw_between(1, X_BITS));
  }
}

/* Exact intervals of the last layer, times 2^-bits. */
static int tiny_exact(const struct tiny *t, fixed lo[WIDTH], fixed hi[WIDTH])
{
  int bits = X_BITS;
  for (int k = 0; k < WIDTH; k++) lo[k] = (fixed)t->x[k] - t->r[k], hi[k] = (fixed)t->x[k] + t->r[k];
  for (int l = 0; l < LAYERS; l++, bits += W_BITS) {
    fixed a[WIDTH], b[WIDTH];
    for (int i = 0; i < t->width[l + 1]; i++) {
      a[i] = b[i] = (fixed)t->b[l][i] * ((fixed)1 << bits);
      for (int k = 0; k < t->width[l]; k++) {
        fixed w = t->w[l][i][k];
        a[i] += w * (w < 0 ? hi[k] : lo[k]);
        b[i] += w * (w < 0 ? lo[k] : hi[k]);
      }
    }
    for (int i = 0; i < t->width[l + 1]; i++) {
      lo[i] = l + 1 < LAYERS && a[i] < 0 ? 0 : a[i];
      hi[i] = l + 1 < LAYERS && b[i] < 0 ? 0 : b[i];
    }
  }
  return bits;
}

static r4_id tiny_build(const struct tiny *t, r4_graph *g)
{
  r4_id h = r4_input(g, "x", R4_SHAPE(1, t->width[0]));
  for (int l = 0; l < LAYERS; l++) {
    char name[2][8];
    snprintf(name[0], sizeof name[0], "w%d", l), snprintf(name[1], sizeof name[1], "b%d", l);
    r4_id w = r4_input(g, name[0], R4_SHAPE(t->width[l + 1], t->width[l]));
    h = r4_add(g, r4_matmul(g, h, w, false, true), r4_input(g, name[1], R4_SHAPE(t->width[l + 1])));
    if (l + 1 < LAYERS) h = r4_relu(g, h);
  }
  return h;
}

static void tiny_inputs(const struct tiny *t, struct boxes *b)
{
  boxes_add(b, "x", (size_t)t->width[0], true);
  for (int k = 0; k < t->width[0]; k++) {
    b->lo[0][k] = ldexp(t->x[k] - t->r[k], -X_BITS);
    b->hi[0][k] = ldexp((double)t->x[k] + t->r[k], -X_BITS);
  }
  for (int l = 0; l < LAYERS; l++) {
    char name[8];
    snprintf(name, sizeof name, "w%d", l);
    boxes_add(b, name, (size_t)(t->width[l] * t->width[l + 1]), false);
    snprintf(name, sizeof name, "b%d", l);
    boxes_add(b, name, (size_t)t->width[l + 1], false);
    for (int i = 0; i < t->width[l + 1]; i++) {
      b->lo[b->n - 1][i] = ldexp(t->b[l][i], -W_BITS);
      for (int k = 0; k < t->width[l]; k++) b->lo[b->n - 2][i * t->width[l] + k] = ldexp(t->w[l][i][k], -W_BITS);
    }
  }
}

static void check_tiny(const struct tiny *t)
{
  fixed lo[WIDTH], hi[WIDTH];
  double got_lo[WIDTH], got_hi[WIDTH];
  r4_error e = {0};
  int bits = tiny_exact(t, lo, hi);
  r4_graph *g = r4_graph_new();
  struct boxes b = {0};
  r4_id y = tiny_build(t, g);
  tiny_inputs(t, &b);
  if (enclose(g, y, &b, R4_SEMANTICS_REAL, got_lo, got_hi, &e)) fail_msg("%s", e.text);
  for (int i = 0; i < t->width[LAYERS]; i++) { /* both times 2^bits, which is exact */
    double below = ldexp(got_lo[i], bits), above = ldexp(got_hi[i], bits), room = ldexp(1e-13, bits);
    if (!((fixed)ceil(below) <= lo[i] && hi[i] <= (fixed)floor(above)))
      fail_msg("[%a, %a] is not around [%a, %a]", got_lo[i], got_hi[i], ldexp((double)lo[i], -bits),
               ldexp((double)hi[i], -bits));
    if (below < (double)lo[i] - room || above > (double)hi[i] + room) fail_msg("an enclosure is too wide");
  }
  boxes_free(&b);
  r4_graph_free(g);
}

static void test_exact_nets(void **state)
{
  (void)state;
  for (uint32_t k = 0; k < 4000; k++) {
    struct tiny t;
    draw_start(500, k);
    tiny_draw(&t);
    check_tiny(&t);
  }
}

/* ---- Products whose rounding can be seen: numbers of many sizes, summed in long double ---- */

static void check_product(int64_t m, int64_t inner, int64_t n, bool spread)
{
  r4_graph *g = r4_graph_new();
  r4_id y = r4_matmul(g, r4_input(g, "a", R4_SHAPE(m, inner)), r4_input(g, "b", R4_SHAPE(inner, n)), false, false);
  struct boxes b = {0};
  boxes_add(&b, "a", (size_t)(m * inner), true);
  boxes_add(&b, "b", (size_t)(inner * n), spread);
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < b.count[k]; i++) {
      double x = ldexp(draw(-1, 1) + draw(-1, 1) * 0x1p-26, (int)draw_between(-8, 8));
      double r = (k && !spread) || draw_below(3) == 0 ? 0 : fabs(x) * draw(0, 1) * (draw_below(2) ? 1 : 1e-12);
      b.lo[k][i] = x - r;
      if (b.hi[k] != b.lo[k]) b.hi[k][i] = x + r;
    }
  double *lo = malloc((size_t)(m * n) * sizeof *lo), *hi = malloc((size_t)(m * n) * sizeof *hi);
  assert_int_equal(enclose(g, y, &b, R4_SEMANTICS_REAL, lo, hi, NULL), R4_OK);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      long double least = 0, most = 0, sizes = 0, a2 = 0, b2 = 0;
      for (int64_t k = 0; k < inner; k++) {
        long double a0 = b.lo[0][i * inner + k], a1 = b.hi[0][i * inner + k];
        long double b0 = b.lo[1][k * n + j], b1 = b.hi[1][k * n + j];
        least += fminl(fminl(a0 * b0, a0 * b1), fminl(a1 * b0, a1 * b1));
        most += fmaxl(fmaxl(a0 * b0, a0 * b1), fmaxl(a1 * b0, a1 * b1));
        long double p = fmaxl(fabsl(a0), fabsl(a1)), q = fmaxl(fabsl(b0), fabsl(b1));
        sizes += p * q, a2 += p * p, b2 += q * q;
      }
      long double room = sizes * (long double)inner * 0x1p-62L;
      long double slack = spread ? sizes * 4 : sqrtl(a2 * b2) * ((long double)inner + 16) * 0x1p-50L;
      if (!(lo[i * n + j] <= least + room && most - room <= hi[i * n + j]))
        fail_msg("product %lld %lld: [%a, %a] is not around [%La, %La]", (long long)i, (long long)j, lo[i * n + j],
                 hi[i * n + j], least, most);
      if (lo[i * n + j] < least - slack || hi[i * n + j] > most + slack) fail_msg("a product is too wide");
    }
  free(lo), free(hi);
  boxes_free(&b);
  r4_graph_free(g);
}

static void test_products(void **state)
{
  (void)state;
  if (1 + 0x1p-60L == 1) check_skip("long double has no more digits");
  for (uint32_t k = 0; k < 60; k++) {
    draw_start(501, k);
    check_product(draw_between(1, 120), draw_between(1, 90), draw_between(1, 20), draw_below(2));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact_nets), cmocka_unit_test(test_products)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  check_seed();
  r4_threads(1, false); /* most of it is small */
  return cmocka_run_group_tests_name("enclose exact", tests, NULL, NULL);
}
