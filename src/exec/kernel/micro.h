/* The inner kernel of own products: a 6 x 16 block of C in registers,
 *
 *     C[r, :] = sum_k a[r][place of k] * b[k step_b, 0..16)
 *
 * where k runs through a box of images, rows and columns. A convolution reads the image where it
 * is: no matrix of image patches is ever made. Also what else the own products share. */
#ifndef R4_EXEC_KERNEL_MICRO_H
#define R4_EXEC_KERNEL_MICRO_H

#include <stdint.h>

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum { LANES = 8 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef float lanes_anywhere __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float))));

/* Macros, as a function must not take or return vectors that the machine compiled for may lack. */
#define LOAD(p) (*(const lanes_anywhere *)(p))
#define STORE(p, x) (*(lanes_anywhere *)(p) = (x))

/* The larger of x and 0; not a number stays. */
typedef int32_t lanes_bits __attribute__((vector_size(LANES * sizeof(int32_t))));
#define RECTIFY(x) ((lanes)((lanes_bits)(x) & ~((x) < 0)))

/* ---- The block ---- */

enum { ROWS = 6, COLUMNS = 2 * LANES };

struct box { /* of k; the steps are those of the index into a[r]; b skips some after each row and image */
  int64_t images, image_step, rows, row_step, columns, b_row_skip, b_image_skip;
};

typedef lanes micro_sum[ROWS][2];

static inline __attribute__((always_inline)) void micro_rows(const int R, const struct box *k,
                                                             const float *const *from, int64_t step_a,
                                                             const float *b, int64_t step_b, micro_sum sum)
{
  micro_sum acc;
  const float *a[ROWS];
  UNROLL for (int r = 0; r < R; r++) acc[r][0] = acc[r][1] = (lanes){0}, a[r] = from[r];
  for (int64_t image = 0; image < k->images; image++, b += k->b_image_skip)
    for (int64_t row = 0; row < k->rows; row++, b += k->b_row_skip) {
      int64_t i = image * k->image_step + row * k->row_step;
      for (int64_t n = k->columns; n > 0; n--, i += step_a, b += step_b) {
        lanes b0 = LOAD(b), b1 = LOAD(b + LANES);
        UNROLL for (int r = 0; r < R; r++) acc[r][0] += a[r][i] * b0, acc[r][1] += a[r][i] * b1;
      }
    }
  UNROLL for (int r = 0; r < R; r++) sum[r][0] = acc[r][0], sum[r][1] = acc[r][1];
}

/* The number of rows as a constant, so that the sums of each fit their registers. */
static inline __attribute__((always_inline)) void micro(int64_t rows, const struct box *k,
                                                        const float *const *a, int64_t step_a, const float *b,
                                                        int64_t step_b, micro_sum sum)
{
  switch (rows) {
  case 1:
    micro_rows(1, k, a, step_a, b, step_b, sum);
    break;
  case 2:
    micro_rows(2, k, a, step_a, b, step_b, sum);
    break;
  case 3:
    micro_rows(3, k, a, step_a, b, step_b, sum);
    break;
  case 4:
    micro_rows(4, k, a, step_a, b, step_b, sum);
    break;
  case 5:
    micro_rows(5, k, a, step_a, b, step_b, sum);
    break;
  default:
    micro_rows(6, k, a, step_a, b, step_b, sum);
    break;
  }
}

/* ---- Cutting a batch into pieces that fit a cache ---- */

static inline int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* A strip is some images, or some output rows of one. */
struct strips {
  int64_t batch, rows;  /* images, output rows of each */
  int64_t group, band;  /* images and output rows of a strip */
  int64_t bands, count; /* strips of a group, of all */
};

struct strip {
  int64_t image, images, row, rows;
};

static inline int64_t divide_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Sets all but batch and rows. A strip has at most so many output rows, but at least one. */
static inline void strips_choose(struct strips *s, int64_t most_rows, int threads)
{
  int64_t share = divide_up(s->batch, threads);
  s->group = most(1, least(share, most_rows / s->rows));
  s->group = divide_up(share, divide_up(share, s->group)); /* as many in each */
  s->band = least(s->rows, most(1, most_rows));
  s->band = divide_up(s->rows, divide_up(s->rows, s->band));
  s->bands = divide_up(s->rows, s->band);
  s->count = divide_up(s->batch, s->group) * s->bands;
}

static inline struct strip strips_at(const struct strips *s, int64_t index)
{
  int64_t image = index / s->bands * s->group, row = index % s->bands * s->band;
  return (struct strip){image, least(s->group, s->batch - image), row, least(s->band, s->rows - row)};
}

/* ---- Transposing 8 x 8 in registers: swap the off-diagonal blocks of 4, 2 and 1 ---- */

#define LOW4(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH4(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#define LOW2(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH2(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW1(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define HIGH1(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define SWAP_BLOCKS(SIZE)                                 \
  UNROLL for (int i = 0; i < LANES; i++) if (!(i & SIZE)) \
  {                                                       \
    lanes a = r[i], b = r[i + SIZE];                      \
    r[i] = LOW##SIZE(a, b);                               \
    r[i + SIZE] = HIGH##SIZE(a, b);                       \
  }

static inline void transpose8(lanes *r)
{
  SWAP_BLOCKS(4)
  SWAP_BLOCKS(2)
  SWAP_BLOCKS(1)
}

#endif
