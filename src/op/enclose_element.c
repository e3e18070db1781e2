/* Sound rules of element-wise operations. Each loop reads the formula of one element: a and b are the ends of the
 * arguments, and *lo and *hi those of the result. */
#include "op/sound.h"

typedef struct {
  double lo, hi;
} ends;

/* The rule NAME from an inline function of up to three elements. */
#define ENCLOSE(NAME, CALL)                                          \
  r4_status enclose_##NAME(const struct enclosing *c)                \
  {                                                                  \
    const size_t n = (size_t)r4_shape_count(c->shape);               \
    double *restrict lo = c->out_lo, *restrict hi = c->out_hi;       \
    SOUND_PARALLEL for (size_t k = 0; k < n; k++)                    \
    {                                                                \
      const ends r = CALL;                                           \
      lo[k] = r.lo;                                                  \
      hi[k] = r.hi;                                                  \
    }                                                                \
    return R4_OK;                                                    \
  }
#define ARG(K) ((ends){c->lo[K][k], c->hi[K][k]})
#define ENCLOSE1(NAME) ENCLOSE(NAME, NAME##_of(ARG(0)))
#define ENCLOSE2(NAME) ENCLOSE(NAME, NAME##_of(ARG(0), ARG(1)))
#define ENCLOSE3(NAME) ENCLOSE(NAME, NAME##_of(ARG(0), ARG(1), ARG(2)))

static inline ends widened(double lo, double hi)
{
  return (ends){sound_down(lo), sound_up(hi)};
}

/* ---- Arithmetic ---- */

static inline ends add_of(ends a, ends b)
{
  return widened(a.lo + b.lo, a.hi + b.hi);
}

static inline ends sub_of(ends a, ends b)
{
  return widened(a.lo - b.hi, a.hi - b.lo);
}

static inline ends neg_of(ends a)
{
  return (ends){-a.hi, -a.lo};
}

/* Of four numbers one of which may be not a number, which stays. */
static inline ends hull4(double p, double q, double r, double s)
{
  return widened(sound_min(sound_min(p, q), sound_min(r, s)), sound_max(sound_max(p, q), sound_max(r, s)));
}

static inline ends mul_of(ends a, ends b)
{
  double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
  double unknown = 0 * (p + q + r + s); /* NaN if one of them is not finite */
  ends y = hull4(p, q, r, s);
  return (ends){y.lo + unknown, y.hi + unknown};
}

/* Where the divisor may be 0 nothing is known. */
static inline ends div_of(ends a, ends b)
{
  double p = a.lo / b.lo, q = a.lo / b.hi, r = a.hi / b.lo, s = a.hi / b.hi;
  double unknown = b.lo > 0 || b.hi < 0 ? 0 * (p + q + r + s) : NAN;
  ends y = hull4(p, q, r, s);
  return (ends){y.lo + unknown, y.hi + unknown};
}

/* ---- Comparisons. At kinks the whole of [0, 1], or [-1, 1]: whatever derivative a program takes there. ---- */

static inline ends step_of(ends a)
{
  return (ends){a.lo > 0 ? 1 : 0, a.hi < 0 ? 0 : 1};
}

static inline ends sign_of(ends a)
{
  return (ends){a.lo > 0 ? 1 : -1, a.hi < 0 ? -1 : 1};
}

static inline ends abs_of(ends a)
{
  return (ends){sound_max(sound_max(a.lo, -a.hi), 0), sound_max(-a.lo, a.hi)};
}

static inline ends less_of(ends a, ends b)
{
  return (ends){a.hi < b.lo ? 1 : 0, a.lo >= b.hi ? 0 : 1};
}

static inline ends equal_of(ends a, ends b)
{
  bool surely = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo, never = a.hi < b.lo || b.hi < a.lo;
  return (ends){surely ? 1 : 0, never ? 0 : 1};
}

static inline ends select_of(ends c, ends a, ends b)
{
  if (c.lo > 0) return a;
  if (c.hi <= 0) return b;
  return (ends){sound_min(a.lo, b.lo), sound_max(a.hi, b.hi)};
}

/* ---- Powers ---- */

static inline ends square_of(ends a)
{
  ends s = abs_of(a), y = widened(s.lo * s.lo, s.hi * s.hi);
  return (ends){sound_max(y.lo, 0), y.hi};
}

/* Of what may be negative nothing is known. */
static inline ends sqrt_of(ends a)
{
  ends y = widened(sqrt(a.lo), sqrt(a.hi));
  return (ends){sound_max(y.lo, 0), y.hi};
}

/* Two roundings of at most u each: down and up take 3 u off after their own. */
static inline ends rsqrt_of(ends a)
{
  double unknown = a.lo > 0 ? 0 : NAN;
  ends y = widened(1 / sqrt(a.hi), 1 / sqrt(a.lo));
  return (ends){y.lo + unknown, y.hi + unknown};
}

/* ---- Others ---- */

/* A whole number is meant as it is; other constants stand for what a text or a formula says, of which they are the
 * nearest double, or as near as three operations come. */
static inline ends const_of(double value)
{
  return value == rint(value) && fabs(value) < 0x1p53 ? (ends){value, value} : widened(value, value);
}

static inline ends check_of(ends x, ends ok)
{
  double unknown = ok.lo > 0 ? 0 : NAN;
  return (ends){x.lo + unknown, x.hi + unknown};
}

ENCLOSE2(add)
ENCLOSE2(sub)
ENCLOSE2(mul)
ENCLOSE2(div)
ENCLOSE1(neg)
ENCLOSE1(step)
ENCLOSE1(sign)
ENCLOSE1(abs)
ENCLOSE2(less)
ENCLOSE2(equal)
ENCLOSE3(select)
ENCLOSE1(square)
ENCLOSE1(sqrt)
ENCLOSE(const, const_of(c->attr->f))
ENCLOSE2(check)

static inline ends float_rsqrt_of(ends a)
{
  ends y = rsqrt_of(a);
  return (ends){y.lo - (fabs(y.lo) * (3 * FLOAT_EPS) + FLOAT_TINY), y.hi + (fabs(y.hi) * (3 * FLOAT_EPS) + FLOAT_TINY)};
}

/* In floats there are two roundings. */
ENCLOSE(rsqrt, c->any_float ? float_rsqrt_of(ARG(0)) : rsqrt_of(ARG(0)))
