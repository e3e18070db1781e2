/* "method: auto": which method fits the masks. */
#include <string.h>

#include "base/plain.h"
#include "data/data.h"
#include "train/task.h"

/* What the choice looks at. */
struct facts {
  size_t examples, masked;
  double area; /* the mean share of an example that its mask covers */
  bool one_sided, texts;
};

/* Masks on at least this share of the examples are most; masks that cover more than this are wide. */
static const double MOST = 0.5, WIDE = 0.5;

/* Of some examples with a mask: it is the same for most. */
static double mean_area(const r4_data *d, size_t masked)
{
  enum { ENOUGH = 200 };
  size_t elements = data_mask_layout(d).size, step = masked / ENOUGH + 1, seen = 0, used = 0;
  double sum = 0;
  for (size_t i = 0; i < d->n; i++) {
    const uint8_t *mask = data_mask_bytes(d, i);
    if (!mask || seen++ % step) continue;
    size_t all = r4_data_vocabulary(d) ? r4_data_length(d, i) : elements;
    double covered = 0;
    for (size_t k = 0; k < all; k++) covered += mask[k] / 255.;
    sum += covered / (double)(all ? all : 1);
    used++;
  }
  return used ? sum / (double)used : 0;
}

static struct facts facts_of(const r4_data *train)
{
  struct facts f = {.examples = r4_data_count(train), .masked = r4_data_mask_count(train, R4_TRAIN, -1)};
  f.area = mean_area(train, f.masked);
  f.one_sided = r4_fill_for(train) == R4_FILL_PASTE;
  f.texts = r4_data_vocabulary(train) > 0;
  return f;
}

struct choice {
  const char *method, *reason;
};

/* doc/methods.md has the table that this rests on. */
static struct choice choose(const struct facts *f, bool bound)
{
  bool few = (double)f->masked < MOST * (double)f->examples;
  if (!f->masked) return (struct choice){"erm", "no training example has a mask"};
  if (bound && (few || f->one_sided))
    return (struct choice){"cert-r4+pairing", "a bound is wanted, and masks are not on all examples alike"};
  if (bound) return (struct choice){"cert-r4", "a bound is wanted, and most examples have masks"};
  if (f->one_sided) return (struct choice){"pairing", "masks are much more frequent in some classes"};
  if (few) return (struct choice){"pairing", "few examples have masks"};
  if (f->area > WIDE) return (struct choice){"fill", "most examples have masks, which cover most of them"};
  return (struct choice){"pairing", "most examples have masks"};
}

static r4_status take(r4_settings *s, const r4_data *train, char why[R4_ERROR_SIZE], r4_error *e)
{
  struct facts f = facts_of(train);
  struct choice c = choose(&f, s->values.bound);
  char assignment[64];
  plain_print(assignment, sizeof assignment, "method=%s", c.method);
  plain_print(why, R4_ERROR_SIZE,
              "method is auto: takes %s, as %s (%zu of %zu training examples have one); method: NAME "
              "overrides it%s",
              c.method, c.reason, f.masked, f.examples,
              f.masked && !s->values.bound ? ", and bound: true asks for a method that bounds the effect"
                                           : "");
  return r4_settings_set(s, assignment, "auto", e);
}

bool r4_method_is_open(const r4_settings *s)
{
  return s && settings_method_is_open(&s->values);
}

r4_status r4_method_choose(r4_settings *s, const r4_data *d, char why[R4_ERROR_SIZE], r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  r4_error own = {0};
  char ignored[R4_ERROR_SIZE];
  if (!e) e = &own;
  if (!r4_method_is_open(s)) return r4_fail(e, R4_E_ARGUMENT, "method is not auto, but %s", s->values.method);
  r4_data *opened = d ? NULL : task_data(&s->values, e);
  r4_data *train = d || opened ? r4_data_part(d ? d : opened, R4_TRAIN, e) : NULL;
  r4_status status = train ? take(s, train, why ? why : ignored, e) : e->status;
  r4_data_free(train);
  r4_data_free(opened);
  return status;
}
