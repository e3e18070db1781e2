#include "optim/auto.h"

#include <math.h>

#include "base/c_locale.h"

enum { FINE_RUNS = 2, DECADE = 2, RUNS = 6, LONGER = 2, LONGER_BUDGET = 4 };
static const double LEAST_TOLERANCE = 0.005;

double auto_lambda(double own, int at)
{
  char text[32];
  c_locale_print(text, sizeof text, "%.3g", own * pow(10, at / 2.0));
  return c_locale_real(text, NULL);
}

int64_t auto_epochs(int64_t epochs)
{
  return epochs < 4 ? 1 : epochs / 4;
}

size_t auto_budget(int64_t epochs)
{
  int64_t fifth = 7 * epochs / (5 * auto_epochs(epochs));
  return fifth < RUNS ? (size_t)fifth : RUNS;
}

/* ---- Scores ---- */

/* A smaller lambda gave the same numbers. */
static bool was_held_back(const struct auto_try *t, size_t n, size_t k)
{
  for (size_t i = 0; i < n; i++)
    if (t[i].at < t[k].at && t[i].score == t[k].score && t[i].penalty == t[k].penalty) return true;
  return false;
}

static double score(const struct auto_try *t, size_t n, size_t k)
{
  if (t[k].lost || isnan(t[k].score)) return -INFINITY;
  return t[k].learned && was_held_back(t, n, k) ? -INFINITY : t[k].score;
}

/* Scores that are closer cannot be told apart. */
static double tolerance(const struct auto_try *t, size_t n)
{
  size_t top = 0;
  for (size_t k = 1; k < n; k++)
    if (score(t, n, k) > score(t, n, top)) top = k;
  return n && t[top].se > LEAST_TOLERANCE ? t[top].se : LEAST_TOLERANCE;
}

/* The best of the runs from low to high, or of the decades among them. */
static double best(const struct auto_try *t, size_t n, int low, int high, bool decades)
{
  double most = -INFINITY;
  for (size_t k = 0; k < n; k++)
    if (t[k].at >= low && t[k].at <= high && !(decades && t[k].at % DECADE))
      most = fmax(most, score(t, n, k));
  return most;
}

static size_t choose(const struct auto_try *t, size_t n, bool decades)
{
  double enough = best(t, n, INT32_MIN, INT32_MAX, decades) - tolerance(t, n);
  size_t taken = n;
  for (size_t k = 0; k < n; k++) {
    double own = score(t, n, k);
    if ((decades && t[k].at % DECADE) || isinf(own) || own < enough) continue;
    if (taken == n || t[k].at > t[taken].at) taken = k;
  }
  return taken;
}

/* The first run of the length of the last. */
static size_t first_that_counts(const struct auto_try *t, size_t n)
{
  size_t k = n;
  while (k && t[k - 1].epochs == t[n - 1].epochs) k--;
  return k;
}

size_t auto_choice(const struct auto_try *t, size_t n)
{
  for (size_t first, end = n; end; end = first) {
    first = first_that_counts(t, end);
    size_t taken = first + choose(t + first, end - first, false);
    if (taken < end) return taken;
  }
  return n;
}

/* ---- The next ---- */

static bool was_tried(const struct auto_try *t, size_t n, int at)
{
  for (size_t k = 0; k < n; k++)
    if (t[k].at == at) return true;
  return false;
}

/* The score of a decade that was tried. */
static double score_at(const struct auto_try *t, size_t n, int at)
{
  return best(t, n, at, at, true);
}

static bool has_learned(const struct auto_try *t, size_t n, int low, int high)
{
  for (size_t k = 0; k < n; k++)
    if (t[k].at >= low && t[k].at <= high && t[k].learned) return true;
  return false;
}

static bool next_up(const struct auto_try *t, size_t n, int *at)
{
  int top = 0;
  while (was_tried(t, n, top + DECADE)) top += DECADE;
  double reached = score_at(t, n, top);
  *at = top + DECADE;
  return has_learned(t, n, top, top) && reached >= best(t, n, INT32_MIN, INT32_MAX, true) - tolerance(t, n);
}

static bool next_down(const struct auto_try *t, size_t n, int *at)
{
  int bottom = 0;
  while (was_tried(t, n, bottom - DECADE)) bottom -= DECADE;
  double reached = score_at(t, n, bottom), above = best(t, n, bottom + 1, INT32_MAX, true);
  *at = bottom - DECADE;
  if (!bottom) return !(above > reached + tolerance(t, n));
  return reached > above + tolerance(t, n) || !has_learned(t, n, INT32_MIN, INT32_MAX);
}

static bool next_fine(const struct auto_try *t, size_t n, int *at)
{
  size_t taken = choose(t, n, true);
  if (taken == n || !t[taken].learned) return false;
  *at = t[taken].at + 1;
  if (was_tried(t, n, *at)) *at = t[taken].at - 1;
  return !was_tried(t, n, *at);
}

static bool next_place(const struct auto_try *t, size_t n, size_t budget, int *at)
{
  size_t decades = 0;
  *at = 0;
  if (!n || n >= budget) return n < budget;
  for (size_t k = 0; k < n; k++) decades += t[k].at % DECADE == 0;
  if (decades + FINE_RUNS < budget && (next_up(t, n, at) || next_down(t, n, at))) return true;
  return next_fine(t, n, at);
}

/* ---- How long ---- */

/* Of so many epochs each, after the n runs that were shorter. */
static size_t budget_of(const struct auto_try *t, size_t n, int64_t each, int64_t epochs)
{
  if (!n) return auto_budget(epochs);
  int64_t left = LONGER_BUDGET * epochs;
  for (size_t k = 0; k < n; k++) left -= t[k].epochs;
  int64_t runs = left > 0 ? left / each : 0;
  return runs < RUNS ? (size_t)runs : RUNS;
}

/* A longer run may show more. */
static bool may_learn(const struct auto_try *t, size_t n)
{
  for (size_t k = 0; k < n; k++)
    if (!t[k].diverged) return !has_learned(t, n, INT32_MIN, INT32_MAX);
  return false;
}

static bool lengthen(const struct auto_try *t, size_t n, int64_t epochs, struct auto_run *next)
{
  int64_t now = t[n - 1].epochs, longer = LONGER * now < epochs ? LONGER * now : epochs;
  *next = (struct auto_run){.at = 0, .epochs = longer};
  return longer > now && budget_of(t, n, longer, epochs);
}

bool auto_next(const struct auto_try *t, size_t n, int64_t epochs, struct auto_run *next)
{
  size_t first = first_that_counts(t, n);
  *next = (struct auto_run){.at = 0, .epochs = n ? t[n - 1].epochs : auto_epochs(epochs)};
  if (!n || n >= AUTO_RUNS) return !n;
  const struct auto_try *own = t + first;
  if (t[n - 1].idle && !t[n - 1].diverged) return lengthen(t, n, epochs, next);
  if (next_place(own, n - first, budget_of(t, first, next->epochs, epochs), &next->at)) return true;
  return may_learn(own, n - first) && lengthen(t, n, epochs, next);
}
