#include "data/mask/mask_values.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

void mask_values_add(struct mask_values *v, uint16_t value)
{
  v->bits[value / 64] |= UINT64_C(1) << value % 64;
}

bool mask_values_have(const struct mask_values *v, uint16_t value)
{
  return v->bits[value / 64] >> value % 64 & 1;
}

void mask_values_text(const struct mask_values *v, char *text, size_t size)
{
  enum { SHOWN = 8, LONGEST = 40 };
  size_t n = 0, left = 0;
  char *at = text;
  *text = 0;
  for (uint32_t value = 0; value < MASK_VALUES; value++) {
    if (!mask_values_have(v, (uint16_t)value)) continue;
    if (n == SHOWN || size - (size_t)(at - text) < LONGEST)
      left++;
    else
      at += snprintf(at, LONGEST, "%s%u", n++ ? ", " : "", value);
  }
  if (left) snprintf(at, size - (size_t)(at - text), " and %zu more", left);
}

bool mask_values_stated(const r4_data_options *options)
{
  return options->mask_value_count > 0;
}

r4_status mask_values_read(const r4_data_options *options, struct mask_values *v, r4_error *e)
{
  *v = (struct mask_values){0};
  for (size_t k = 0; k < options->mask_value_count; k++) {
    double value = options->mask_values[k];
    if (!(value >= 0 && value < MASK_VALUES && value == floor(value)))
      return r4_fail(e, R4_E_ARGUMENT, "mask_values has %g, expected whole numbers from 0 to %d", value,
                     MASK_VALUES - 1);
    mask_values_add(v, (uint16_t)value);
  }
  return R4_OK;
}

/* ---- What was found ---- */

void mask_report_kept(struct mask_report *r)
{
#pragma omp atomic
  r->kept++;
}

/* Not "omp critical", whose lock is a name that the whole program sees. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void tally_add(struct tally *t, size_t example)
{
  pthread_mutex_lock(&one_at_a_time);
  if (!t->n || example < t->first) t->first = example;
  t->n++;
  pthread_mutex_unlock(&one_at_a_time);
}

void mask_report_unmarked(struct mask_report *r, size_t example, size_t n, const uint16_t *value)
{
  struct mask_values seen = {0};
  uint16_t any = 0;
  for (size_t k = 0; k < n; k++) {
    mask_values_add(&seen, value[k]);
    any |= value[k];
  }
  pthread_mutex_lock(&one_at_a_time);
  for (size_t k = 0; k < MASK_VALUES / 64; k++) r->seen.bits[k] |= seen.bits[k];
  r->empty += !any;
  pthread_mutex_unlock(&one_at_a_time);
  if (any) tally_add(&r->lost, example);
}

static r4_status nothing_stated_is_there(const char *seen, const r4_data_options *options, const char *source,
                                         r4_error *e)
{
  char stated[128];
  struct mask_values wanted;
  r4_status s = mask_values_read(options, &wanted, e);
  if (s) return s;
  mask_values_text(&wanted, stated, sizeof stated);
  return r4_fail(e, R4_E_ARGUMENT, "%s: its masks hold the values %s, but mask_values says %s", source, seen,
                 stated);
}

r4_status mask_report_settle(const struct mask_report *r, const r4_data_options *options, const char *source,
                             r4_data *d, r4_error *e)
{
  char seen[128];
  r4_status s = R4_OK;
  mask_values_text(&r->seen, seen, sizeof seen);
  if (r->gone.n)
    s = data_add_note(
      d, e,
      "%zu of %zu masks mark so little that nothing is left after resizing, that of example %zu first",
      r->gone.n, r->kept, r->gone.first);
  if (s) return s;
  if (mask_values_stated(options))
    return r->kept || !(r->lost.n + r->empty) ? R4_OK : nothing_stated_is_there(seen, options, source, e);
  if (!r->lost.n) return R4_OK;
  if (!r->kept)
    return r4_fail(
      e, R4_E_ARGUMENT,
      "%s: its masks hold the values %s, and none of them is white (128 or more): state which of "
      "them mark something with mask_values, for example 1",
      source, seen);
  return data_add_note(d, e,
                       "%zu of %zu masks hold no white (128 or more), only the values %s, and count as none, "
                       "that of example %zu first: if these are labels, state mask_values",
                       r->lost.n, r->lost.n + r->kept, seen, r->lost.first);
}
