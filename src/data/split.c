/* Splits into parts for training, validation and test.
 *
 * What moves is a unit: the examples that share an id (a lesion, a patient), or one example without an id. A unit
 * belongs to the class that most of its examples have, the first of those at a tie. In each class the units are
 * taken in random order as long as the examples moved stay within round(share * examples of the class); if some are
 * missing then, the smallest unit left moves as well if that comes closer. Without shared ids every class gives
 * exactly its rounded share. Groups may take the place of classes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/data.h"

struct unit {
  uint32_t label, n; /* its class, and how many examples */
  uint32_t first;    /* in the list of members           */
  double drawn;
};

struct member {
  uint32_t unit, label, example;
};

struct units {
  size_t n, members;
  struct unit *unit;
  struct member *member; /* those of a unit are neighbours */
};

static int compare_members(const void *a, const void *b)
{
  const struct member *p = a, *q = b;
  if (p->unit != q->unit) return p->unit < q->unit ? -1 : 1;
  if (p->label != q->label) return p->label < q->label ? -1 : 1;
  return (p->example > q->example) - (p->example < q->example);
}

static int compare_units(const void *a, const void *b)
{
  const struct unit *p = a, *q = b;
  if (p->label != q->label) return p->label < q->label ? -1 : 1;
  if (p->drawn != q->drawn) return p->drawn < q->drawn ? -1 : 1;
  return (p->first > q->first) - (p->first < q->first);
}

/* The unit of the members first .. end - 1, which are sorted by label: its class is that of the longest run. It draws
 * the number of the first of its examples. */
static struct unit unit_of(const struct member *m, size_t first, size_t end, r4_random key)
{
  uint32_t longest = 0, label = 0, example = m[first].example;
  for (size_t k = first, run = 0; k < end; k++) {
    run = k > first && m[k].label == m[k - 1].label ? run + 1 : 1;
    if (run > longest) {
      longest = (uint32_t)run;
      label = m[k].label;
    }
    if (m[k].example < example) example = m[k].example;
  }
  return (struct unit){label, (uint32_t)(end - first), (uint32_t)first, r4_random_uniform(key, example)};
}

static void units_free(struct units *u)
{
  r4_mem_free(u->unit);
  r4_mem_free(u->member);
  *u = (struct units){0};
}

/* What gives a share of its own. */
enum strata { CLASSES, GROUPS };

/* The units of the examples of one split, in random order within each class (or group). */
static r4_status units_make(struct units *u, const r4_data *d, r4_split of, enum strata by, r4_random key,
                            r4_error *e)
{
  size_t ids = d->ids ? d->ids->n : 0;
  *u = (struct units){.unit = mem_new(d->n ? d->n : 1, sizeof *u->unit, "splitting examples", e),
                      .member = mem_new(d->n ? d->n : 1, sizeof *u->member, "splitting examples", e)};
  if (!u->unit || !u->member) {
    units_free(u);
    return R4_E_MEMORY;
  }
  for (size_t i = 0; i < d->n; i++) {
    const struct record *r = d->record + i;
    if (r->split != of) continue;
    uint32_t unit = r->id < ids ? r->id : (uint32_t)(ids + i);
    u->member[u->members++] =
      (struct member){unit, (uint32_t)(by == GROUPS ? r->group : r->label), (uint32_t)i};
  }
  qsort(u->member, u->members, sizeof *u->member, compare_members);
  for (size_t first = 0, end; first < u->members; first = end) {
    for (end = first; end < u->members && u->member[end].unit == u->member[first].unit; end++) continue;
    u->unit[u->n++] = unit_of(u->member, first, end, key);
  }
  qsort(u->unit, u->n, sizeof *u->unit, compare_units);
  return R4_OK;
}

static void move_unit(r4_data *d, const struct units *u, const struct unit *one, r4_split to)
{
  for (uint32_t k = 0; k < one->n; k++) d->record[u->member[one->first + k].example].split = (uint8_t)to;
}

/* Moves units of one class, unit[0..n) in random order, until wanted examples have moved, or as near as may be. */
static void move_share(r4_data *d, const struct units *u, const struct unit *unit, size_t n, size_t wanted,
                       r4_split to)
{
  const struct unit *smallest = NULL;
  for (size_t k = 0; k < n; k++) {
    if (unit[k].n <= wanted) {
      move_unit(d, u, unit + k, to);
      wanted -= unit[k].n;
    } else if (!smallest || unit[k].n < smallest->n) {
      smallest = unit + k;
    }
  }
  if (smallest && wanted && smallest->n - wanted < wanted) move_unit(d, u, smallest, to);
}

/* Moves a share of each class (or group) of the training part. */
static r4_status move_from_training(r4_data *d, double share, r4_split to, enum strata by, r4_random key,
                                    r4_error *e)
{
  if (share == 0) return R4_OK;
  struct units u;
  r4_status s = units_make(&u, d, R4_TRAIN, by, key, e);
  if (s) return s;
  for (size_t first = 0, end; first < u.n; first = end) {
    size_t examples = 0;
    for (end = first; end < u.n && u.unit[end].label == u.unit[first].label; end++) examples += u.unit[end].n;
    size_t wanted = (size_t)llround(share * (double)examples);
    move_share(d, &u, u.unit + first, end - first, wanted, to);
  }
  units_free(&u);
  return R4_OK;
}

static r4_status check_share(const char *name, double share, r4_error *e)
{
  if (share >= 0 && share < 1) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT, "a %s share of %g, expected 0 or more and less than 1", name, share);
}

static r4_data *split_by(const r4_data *d, enum strata by, double val, double test, uint64_t seed,
                         r4_error *e)
{
  if (check_share("validation", val, e) || check_share("test", test, e) ||
      check_share("validation and test", val + test, e))
    return NULL;
  r4_data *split = data_derive(d, e);
  if (!split) return NULL;
  for (size_t i = 0; i < split->n; i++) split->record[i].split = R4_TRAIN;
  if (!move_from_training(split, test, R4_TEST, by, (r4_random){seed, PURPOSE_TEST, 0}, e) &&
      !move_from_training(split, val / (1 - test), R4_VAL, by, (r4_random){seed, PURPOSE_VAL, 0}, e))
    return split;
  r4_data_free(split);
  return NULL;
}

r4_data *r4_data_split(const r4_data *d, double val, double test, uint64_t seed, r4_error *e)
{
  NEEDS(d, "data", NULL);
  return split_by(d, CLASSES, val, test, seed, e);
}

r4_data *data_split_groups(const r4_data *d, double val, double test, uint64_t seed, r4_error *e)
{
  return split_by(d, GROUPS, val, test, seed, e);
}

r4_data *data_hold_out(const r4_data *d, r4_split to, double share, uint64_t seed, r4_error *e)
{
  uint32_t purpose = to == R4_TEST ? PURPOSE_TEST : PURPOSE_VAL;
  r4_data *split = data_derive(d, e);
  if (split && !move_from_training(split, share, to, CLASSES, (r4_random){seed, purpose, 0}, e)) return split;
  r4_data_free(split);
  return NULL;
}

r4_data *r4_data_hold_out(const r4_data *d, double val, uint64_t seed, r4_error *e)
{
  NEEDS(d, "data", NULL);
  return check_share("validation", val, e) ? NULL : data_hold_out(d, R4_VAL, val, seed, e);
}
