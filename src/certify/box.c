#include "certify/box.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "op/sound.h"

/* ---- Decimals ---- */

struct decimal {
  bool negative, zero, small_whole; /* small_whole: at most 15 digits, which a double holds */
  double near;                      /* within an ulp or two: no more is asked of strtod */
};

static bool read(const char *text, struct decimal *d)
{
  size_t digits = 0, points = 0, nonzero = 0;
  const char *s = text + (*text == '-');
  for (const char *p = s; *p; p++) {
    digits += isdigit((unsigned char)*p) != 0;
    nonzero += *p >= '1' && *p <= '9';
    points += *p == '.';
    if (!isdigit((unsigned char)*p) && *p != '.') return false;
  }
  if (!digits || points > 1 || digits > 400) return false;
  *d = (struct decimal){.negative = *text == '-', .zero = !nonzero, .small_whole = !points && digits <= 15};
  d->near = fabs(c_locale_real(text, NULL));
  return d->near < 1e30;
}

/* Its size from above or below: 4 ulp further than strtod says. */
static double outward(const struct decimal *d, bool up)
{
  if (d->zero || d->small_whole) return d->near;
  return up ? sound_up(d->near) : sound_max(sound_down(d->near), 0);
}

bool decimal_above(const char *text, double *value)
{
  struct decimal d;
  if (!text || !read(text, &d)) return false;
  *value = d.negative ? -outward(&d, false) : outward(&d, true);
  return true;
}

bool decimal_below(const char *text, double *value)
{
  struct decimal d;
  if (!text || !read(text, &d)) return false;
  *value = d.negative ? -outward(&d, true) : outward(&d, false);
  return true;
}

/* ---- Boxes ---- */

/* Whether eps is at most high - low, as far as roundings tell. */
static bool fits(const char *eps, const struct box *b)
{
  double least = 0;
  return !decimal_below(eps, &least) || least <= sound_up(b->high - b->low);
}

r4_status box_read(struct box *b, const char *eps, const char *low, const char *high, r4_error *e)
{
  *b = (struct box){.whole = !eps, .ranged = low != NULL};
  if (!low != !high) return r4_fail(e, R4_E_ARGUMENT, "a range of valid values needs both of its ends");
  if (b->whole && !b->ranged) return r4_fail(e, R4_E_ARGUMENT, "the whole range is to be certified, but there is no "
                                                               "range");
  if (eps && (!decimal_above(eps, &b->eps) || b->eps < 0))
    return r4_fail(e, R4_E_ARGUMENT, "eps is \"%.40s\", expected a decimal of at least 0, such as 0.1", eps);
  if (b->ranged && (!decimal_below(low, &b->low) || !decimal_above(high, &b->high) || !(b->low < b->high)))
    return r4_fail(e, R4_E_ARGUMENT, "the range is \"%.40s\" to \"%.40s\", expected two decimals, the lower one "
                                     "first", low,
                   high);
  if (b->ranged && !b->whole && !fits(eps, b))
    return r4_fail(e, R4_E_ARGUMENT, "eps is %.40s, larger than the range, %.40s to %.40s: expected the whole range",
                   eps, low, high);
  return R4_OK;
}

/* What is outside of the range may stay, or move into it. */
static void one_feature(const struct box *b, double x, double m, double *lo, double *hi)
{
  double r = sound_up(b->eps * m);
  *lo = *hi = x;
  if (!(m > 0) || (!b->whole && b->eps == 0)) return;
  *lo = b->whole ? -INFINITY : sound_down(x - r);
  *hi = b->whole ? INFINITY : sound_up(x + r);
  if (!b->ranged) return;
  *lo = fmax(*lo, fmin(b->low, x));
  *hi = fmin(*hi, fmax(b->high, x));
}

void box_ends(const struct box *b, size_t n, const float *x, const float *m, double *lo, double *hi)
{
  for (size_t k = 0; k < n; k++) one_feature(b, x[k], m[k], &lo[k], &hi[k]);
}
