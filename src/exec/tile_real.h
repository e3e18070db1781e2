/* The parts of a tile run that depend on the type. Included with REAL and NAME(x) defined. */

static void NAME(fill)(REAL *to, REAL value, int64_t n)
{
  for (int64_t k = 0; k < n; k++) to[k] = value;
}

static void NAME(repeat)(REAL *to, const REAL *from, int64_t period, int64_t n)
{
  for (int64_t k = 0; k < n; k += period)
    memcpy(to + k, from, (size_t)(period < n - k ? period : n - k) * sizeof *to);
}

/* n elements from number f on of a broadcast operand: in place if they are contiguous there, else
 * copied to the register run by run. */
static const REAL *NAME(load)(const struct broadcast *b, const REAL *from, int64_t f, int64_t n, REAL *reg)
{
  int last = b->rank - 1;
  int64_t at = 0, index[R4_MAX_RANK], rest = f;
  for (int k = last; k >= 0; k--) {
    index[k] = rest % b->dim[k];
    rest /= b->dim[k];
    at += index[k] * b->stride[k];
  }
  if (b->stride[last] == 1 && index[last] + n <= b->dim[last]) return from + at;
  for (int64_t done = 0; done < n;) {
    int64_t run = b->dim[last] - index[last];
    if (run > n - done) run = n - done;
    if (b->stride[last])
      memcpy(reg + done, from + at, (size_t)run * sizeof *reg);
    else
      NAME(fill)(reg + done, from[at], run);
    done += run;
    at += run * b->stride[last];
    index[last] += run;
    for (int k = last; k > 0 && index[k] == b->dim[k]; k--) {
      at += b->stride[k - 1] - b->dim[k] * b->stride[k];
      index[k] = 0;
      index[k - 1]++;
    }
  }
  return reg;
}

static double NAME(row_sum)(const REAL *x, int64_t n)
{
  REAL sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < n; k++) sum += x[k];
  return (double)sum;
}

static double NAME(row_max)(const REAL *x, int64_t n)
{
  REAL best = x[0];
  for (int64_t k = 1; k < n; k++) best = x[k] > best || x[k] != x[k] ? x[k] : best; /* not a number stays */
  return (double)best;
}

static void NAME(column_sum)(REAL *sum, const REAL *x, int64_t n)
{
#pragma omp simd
  for (int64_t k = 0; k < n; k++) sum[k] += x[k];
}

/* Several short rows: the sums of a few columns stay in registers. In the order of the rows, as one by one. */
static void NAME(column_sums)(REAL *sum, const REAL *x, int64_t rows, int64_t length)
{
  enum { FEW = 128 / sizeof(REAL) };
  int64_t c = 0;
  for (; c + FEW <= length; c += FEW) {
    REAL few[FEW];
    memcpy(few, sum + c, sizeof few);
    for (int64_t r = 0; r < rows; r++)
      for (int k = 0; k < FEW; k++) few[k] += x[r * length + c + k];
    memcpy(sum + c, few, sizeof few);
  }
  for (int64_t r = 0; r < rows && c < length; r++) NAME(column_sum)(sum + c, x + r * length + c, length - c);
}

static void NAME(column_max)(REAL *best, const REAL *x, int64_t n)
{
#pragma omp simd
  for (int64_t k = 0; k < n; k++) best[k] = x[k] > best[k] || x[k] != x[k] ? x[k] : best[k];
}

static double NAME(join)(const struct reduction *r, double a, double b)
{
  if (!r->largest) return a + b;
  return b > a || b != b ? b : a;
}

/* Adds a tile of n elements from number f on to a reduction. */
static void NAME(reduce)(const struct tile *t, const struct reduction *r, struct progress *p, const REAL *x,
                         int64_t f, int64_t n, REAL *out)
{
  for (int64_t done = 0; done < n;) {
    int64_t column = (f + done) % t->row_length, run = t->row_length - column;
    if (run > n - done) run = n - done;
    int64_t rows = column ? 0 : (n - done) / t->row_length;
    if (r->how == REDUCE_COLUMNS && !r->largest && rows > 1) {
      run = rows * t->row_length;
      NAME(column_sums)((REAL *)p->columns, x + done, rows, t->row_length);
    } else if (r->how == REDUCE_COLUMNS) {
      REAL *sum = (REAL *)p->columns + column;
      (r->largest ? NAME(column_max) : NAME(column_sum))(sum, x + done, run);
    } else {
      double part = (r->largest ? NAME(row_max) : NAME(row_sum))(x + done, run);
      if (!p->fresh) part = NAME(join)(r, p->value, part);
      p->value = part;
      p->fresh = false;
      if (r->how == REDUCE_ROWS && column + run == t->row_length) {
        out[(f + done) / t->row_length] = (REAL)p->value;
        p->fresh = true;
      }
    }
    done += run;
  }
}

/* The results of all chunks of a column reduction or total, in order. */
static void NAME(combine)(const struct tile *t, const struct reduction *r, REAL *out)
{
  if (r->how == REDUCE_BOTH) {
    double value = r->total[0];
    for (int64_t c = 1; c < t->chunks; c++) value = NAME(join)(r, value, r->total[c]);
    out[0] = (REAL)value;
    return;
  }
  const REAL *part = (const REAL *)r->columns;
  memcpy(out, part, (size_t)t->row_length * sizeof *out);
  for (int64_t c = 1; c < t->chunks; c++)
    (r->largest ? NAME(column_max) : NAME(column_sum))(out, part + c * t->row_length, t->row_length);
}
