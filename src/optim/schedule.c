#include "optim/schedule.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

const char *const schedule_words[] = {[SCHEDULE_CONSTANT] = "constant",
                                      [SCHEDULE_LINEAR] = "linear",
                                      [SCHEDULE_COSINE] = "cosine",
                                      [SCHEDULE_STEPS] = "steps",
                                      NULL};

double schedule_rate(const struct schedule *s, double t)
{
  if (t < s->warmup) return t / s->warmup;
  double rest = s->epochs - s->warmup, u = rest > 0 ? fmin(1, (t - s->warmup) / rest) : 0, factor = 1;
  switch (s->kind) {
  case SCHEDULE_CONSTANT:
    break;
  case SCHEDULE_LINEAR:
    factor = 1 - u;
    break;
  case SCHEDULE_COSINE:
    factor = (1 + cos(PI * u)) / 2;
    break;
  case SCHEDULE_STEPS:
    for (size_t k = 0; k < s->decays; k++)
      if (s->decay_at[k] <= t) factor *= s->decay_by;
    break;
  }
  return factor;
}

double schedule_ramp(double length, double t)
{
  return t < length ? t / length : 1;
}
