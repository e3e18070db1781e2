/* Products of intervals as balls, a = c -+ r: with A = C -+ R and B = D -+ S,
 *
 *     A B  in  C D  -+  ( R (|D| + S) + |C| S + error ),
 *     error of C D in any order  <=  gamma_n ||c||_2 ||d||_2 + n 2^-1075          (Cauchy-Schwarz: no further product)
 *
 * The products are our own: a foreign one may be Strassen's or Winograd's, which have larger errors. Each element is
 * added up in the order of k, whoever computes it: the bits do not depend on the number of threads. */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "op/sound.h"

typedef double panel __attribute__((vector_size(SOUND_PANEL * sizeof(double)), aligned(SOUND_PANEL * sizeof(double))));

enum { BLOCK = 6 };

void sound_balls(int64_t n, const double *lo, const double *hi, double *centre, double *radius)
{
  SOUND_PARALLEL
  for (int64_t k = 0; k < n; k++) {
    double c = (lo[k] + hi[k]) * 0.5, d = sound_max(hi[k] - c, c - lo[k]);
    centre[k] = c;
    radius[k] = d == 0 ? 0 : sound_up(d);
  }
}

/* ---- The matrix ---- */

static int64_t panels_of(int64_t n)
{
  return (n + SOUND_PANEL - 1) / SOUND_PANEL;
}

static double norm_of(const struct sound_matrix *b, int64_t j)
{
  const double *column = b->size + j / SOUND_PANEL * b->inner * SOUND_PANEL + j % SOUND_PANEL;
  double sum = 0;
  for (int64_t k = 0; k < b->inner; k++) sum += column[k * SOUND_PANEL] * column[k * SOUND_PANEL];
  return sound_up(sqrt(sound_up(sum + sound_sum_error((double)b->inner, sum))));
}

static void fill(struct sound_matrix *b, const double *lo, const double *hi, sound_place *at, const void *where)
{
  const int64_t n = b->inner * b->n;
  SOUND_PARALLEL
  for (int64_t j = 0; j < b->n; j++) {
    for (int64_t k = 0; k < b->inner; k++) {
      int64_t from = at(where, k, j), to = (j / SOUND_PANEL * b->inner + k) * SOUND_PANEL + j % SOUND_PANEL;
      double c = (lo[from] + hi[from]) * 0.5, d = sound_max(hi[from] - c, c - lo[from]);
      d = d == 0 ? 0 : sound_up(d);
      b->centre[to] = c;
      b->size[to] = d == 0 ? fabs(c) : sound_up(fabs(c) + d);
      if (b->radius) b->radius[to] = d;
    }
    b->norm[j] = norm_of(b, j);
  }
}

r4_status sound_matrix_new(struct sound_matrix *b, int64_t inner, int64_t n, const double *lo, const double *hi,
                           sound_place *at, const void *where, r4_error *e)
{
  size_t each = (size_t)(panels_of(n) * inner) * SOUND_PANEL, parts = lo == hi ? 2 : 3;
  *b = (struct sound_matrix){.inner = inner, .n = n};
  b->centre = b->memory = mem_new_aligned(parts * each + (size_t)n, sizeof(double), "a matrix of intervals", e);
  if (!b->memory) return R4_E_MEMORY;
  b->size = b->centre + each;
  b->radius = lo == hi ? NULL : b->size + each;
  b->norm = b->centre + parts * each;
  fill(b, lo, hi, at, where);
  return R4_OK;
}

void sound_matrix_free(struct sound_matrix *b)
{
  r4_mem_free(b->memory);
  b->memory = NULL;
}

/* ---- Products ---- */

/* to[i, 0..8) (+)= sum over the listed k of a[i, k] b[k, 0..8): for BLOCK rows of a. */
static inline void block(int64_t n, const int32_t *list, const double *a, int64_t inner, const double *b, panel *to)
{
  panel sum[BLOCK];
  for (int i = 0; i < BLOCK; i++) sum[i] = to[i];
  for (int64_t t = 0; t < n; t++) {
    int64_t k = list ? list[t] : t;
    const panel row = *(const panel *)(const void *)(b + k * SOUND_PANEL);
#pragma GCC unroll 6
    for (int i = 0; i < BLOCK; i++) sum[i] += a[i * inner + k] * row;
  }
  for (int i = 0; i < BLOCK; i++) to[i] = sum[i];
}

/* The last rows, of which there are fewer, one by one: the same sums in the same order. */
static inline void single(int64_t n, const int32_t *list, const double *a, const double *b, panel *to)
{
  panel sum = *to;
  for (int64_t t = 0; t < n; t++) {
    int64_t k = list ? list[t] : t;
    sum += a[k] * *(const panel *)(const void *)(b + k * SOUND_PANEL);
  }
  *to = sum;
}

/* to [rows] (+)= a [rows, inner] times a panel. */
static void rows_by_panel(int64_t rows, int64_t n, const int32_t *list, const double *a, int64_t inner, const double *b,
                          panel *to)
{
  int64_t i = 0;
  for (; i + BLOCK <= rows; i += BLOCK) {
    if (list)
      block(n, list, a + i * inner, inner, b, to + i);
    else
      block(inner, NULL, a + i * inner, inner, b, to + i);
  }
  for (; i < rows; i++) single(list ? n : inner, list, a + i * inner, b, to + i);
}

/* What is known of the rows of A before they meet a panel. */
struct rows {
  int64_t rows, inner;
  const double *a, *radius;
  double *size, *norm; /* [rows, inner]: |a|, [rows]: of |a| + radius, from above */
  int32_t *list;       /* columns in which some radius is not 0 */
  int64_t listed;
};

/* Room: |a|, norms and the list. */
size_t sound_room(const struct sound_matrix *b)
{
  return (size_t)(SOUND_ROWS * b->inner + SOUND_ROWS + b->inner / 2 + 1);
}

static void look_at(struct rows *r, double *room)
{
  r->size = room;
  r->norm = room + SOUND_ROWS * r->inner;
  r->list = (int32_t *)(void *)(r->norm + SOUND_ROWS);
  for (int64_t i = 0; i < r->rows; i++) {
    double sum = 0;
    for (int64_t k = 0; k < r->inner; k++) {
      double size = fabs(r->a[i * r->inner + k]), all = r->radius ? size + r->radius[i * r->inner + k] : size;
      r->size[i * r->inner + k] = size;
      sum += all * all;
    }
    r->norm[i] = sound_up(sqrt(sound_up(sum + sound_sum_error((double)r->inner + 2, sum))));
  }
  r->listed = 0;
  for (int64_t k = 0; k < r->inner && r->radius; k++) {
    bool moves = false;
    for (int64_t i = 0; i < r->rows; i++) moves |= r->radius[i * r->inner + k] != 0;
    if (moves) r->list[r->listed++] = (int32_t)k;
  }
}

/* The ends of row i, from the products of centres and radii with a panel. */
static void finish(const struct sound_matrix *b, const struct rows *r, int64_t i, int64_t first, const double *centre,
                   const double *radius, bool any_float, double *lo, double *hi)
{
  const double inner = (double)b->inner;
  for (int64_t j = first; j < first + SOUND_PANEL && j < b->n; j++) {
    double sizes = sound_up(r->norm[i] * b->norm[j]), c = centre[j - first], spread = radius[j - first];
    double error = sound_sum_error(inner, sizes);
    if (any_float) error += sound_float_error(inner, sizes);
    spread += sound_sum_error(2 * inner + 4, spread);
    double all = sound_up(sound_up(spread) + error);
    lo[j] = sound_down(c - all);
    hi[j] = sound_up(c + all);
  }
}

void sound_rows(const struct sound_matrix *b, int64_t rows, const double *a, const double *radius, bool any_float,
                double *lo, double *hi, int64_t stride, double *room)
{
  struct rows r = {.rows = rows, .inner = b->inner, .a = a, .radius = radius};
  look_at(&r, room);
  for (int64_t p = 0; p < panels_of(b->n); p++) {
    panel centre[SOUND_ROWS] = {{0}}, spread[SOUND_ROWS] = {{0}};
    int64_t from = p * b->inner * SOUND_PANEL;
    rows_by_panel(rows, 0, NULL, a, b->inner, b->centre + from, centre);
    if (r.listed) rows_by_panel(rows, r.listed, r.list, radius, b->inner, b->size + from, spread);
    if (b->radius) rows_by_panel(rows, 0, NULL, r.size, b->inner, b->radius + from, spread);
    for (int64_t i = 0; i < rows; i++)
      finish(b, &r, i, p * SOUND_PANEL, (const double *)&centre[i], (const double *)&spread[i], any_float,
             lo + i * stride, hi + i * stride);
  }
}

/* ---- matmul ---- */

struct strides {
  int64_t k, j;
};

static int64_t matrix_place(const void *where, int64_t k, int64_t j)
{
  const struct strides *s = where;
  return k * s->k + j * s->j;
}

/* A [m, inner] as balls in rows, transposed if it is not. */
static void take_rows(const double *lo, const double *hi, int64_t m, int64_t inner, bool transposed, double *centre,
                      double *radius)
{
  const int64_t n = m * inner;
  SOUND_PARALLEL
  for (int64_t i = 0; i < m; i++)
    for (int64_t k = 0; k < inner; k++) {
      int64_t from = transposed ? k * m + i : i * inner + k, to = i * inner + k;
      double c = (lo[from] + hi[from]) * 0.5, d = sound_max(hi[from] - c, c - lo[from]);
      centre[to] = c;
      radius[to] = d == 0 ? 0 : sound_up(d);
    }
}

struct product {
  int64_t m, inner, n;
  bool transpose[2], any_float;
};

static r4_status multiply(const struct product *p, const double *const a[2], const double *const b[2], double *lo,
                          double *hi, r4_error *e)
{
  struct sound_matrix matrix = {0};
  struct strides s = {p->transpose[1] ? 1 : p->n, p->transpose[1] ? p->inner : 1};
  size_t count = (size_t)(p->m * p->inner), threads = (size_t)omp_get_max_threads();
  r4_status status = sound_matrix_new(&matrix, p->inner, p->n, b[0], b[1], matrix_place, &s, e);
  size_t room = status ? 0 : sound_room(&matrix);
  double *balls = status ? NULL : mem_new(2 * count + threads * room, sizeof *balls, "a product of intervals", e);
  if (balls) {
    double *radius = balls + count;
    take_rows(a[0], a[1], p->m, p->inner, p->transpose[0], balls, radius);
    const int64_t chunks = (p->m + SOUND_ROWS - 1) / SOUND_ROWS;
#pragma omp parallel for schedule(static) if (chunks > 1)
    for (int64_t t = 0; t < chunks; t++) {
      int64_t first = t * SOUND_ROWS, rows = p->m - first < SOUND_ROWS ? p->m - first : SOUND_ROWS;
      sound_rows(&matrix, rows, balls + first * p->inner, a[0] == a[1] ? NULL : radius + first * p->inner,
                 p->any_float, lo + first * p->n, hi + first * p->n, p->n,
                 radius + count + (size_t)omp_get_thread_num() * room);
    }
  }
  bool failed = !status && !balls;
  r4_mem_free(balls);
  sound_matrix_free(&matrix);
  return failed ? R4_E_MEMORY : status;
}

r4_status enclose_matmul(const struct enclosing *c)
{
  int r = c->shape.rank;
  struct product p = {.m = c->shape.dim[r - 2], .n = c->shape.dim[r - 1], .any_float = c->any_float};
  p.transpose[0] = c->attr->i[0], p.transpose[1] = c->attr->i[1];
  p.inner = c->in_shape[0].dim[p.transpose[0] ? r - 2 : r - 1];
  int64_t batch = r4_shape_count(c->shape) / (p.m * p.n);
  r4_status s = R4_OK;
  for (int64_t t = 0; t < batch && !s; t++) {
    int64_t at_a = t * p.m * p.inner, at_b = t * p.inner * p.n, at_c = t * p.m * p.n;
    s = multiply(&p, (const double *const[]){c->lo[0] + at_a, c->hi[0] + at_a},
                 (const double *const[]){c->lo[1] + at_b, c->hi[1] + at_b}, c->out_lo + at_c, c->out_hi + at_c,
                 c->error);
  }
  return s;
}
