/* "method: auto": which method fits the masks. */
#include <string.h>

#include "base/c_locale.h"
#include "data/batch/mask_fill.h"
#include "train/task.h"

/* What the choice looks at. */
struct facts {
  size_t examples, masked;
  bool wide; /* masks cover most of each example */
  bool one_sided, texts;
};

/* Masks on at least this share of the examples are most. */
static const double MOST = 0.5, ALL = 0.9;

static struct facts facts_of(const r4_data *train)
{
  struct facts f = {.examples = r4_data_count(train), .masked = r4_data_mask_count(train, R4_TRAIN, -1)};
  f.wide = data_masks_are_wide(train);
  f.one_sided = fill_for(train) == R4_FILL_PASTE;
  f.texts = r4_data_vocabulary(train) > 0;
  return f;
}

struct choice {
  const char *method, *reason;
};

static bool have_masks(const struct facts *f, double share)
{
  return (double)f->masked >= share * (double)f->examples;
}

/* doc/training.md has it as a table, and experiments/gauntlet what it rests on. */
static struct choice choose(const struct facts *f, bool bound)
{
  bool few = !have_masks(f, MOST);
  if (!f->masked) return (struct choice){"erm", "no training example has a mask"};
  if (bound && f->texts) return (struct choice){"cert-r4+pairing", "a bound is required, and these are texts"};
  /* Photos of lesions with a coloured frame, masks on 70 %: cert-r4 alone learns the frame from the rest. Its worst
   * group has 32.7 %, and 8.4 % of its correct predictions are lost by exchange; with pairing 54.4 and 0.0. */
  if (bound && (!have_masks(f, ALL) || f->one_sided))
    return (struct choice){"cert-r4+pairing", "a bound is required, and not all examples have masks alike"};
  if (bound) return (struct choice){"cert-r4", "a bound is required, and all or nearly all examples have masks"};
  if (f->one_sided) return (struct choice){"pairing", "masks are much more frequent in some classes"};
  if (few) return (struct choice){"pairing", "few examples have masks"};
  if (f->wide) return (struct choice){"fill", "most examples have masks, which cover most of them"};
  return (struct choice){"pairing", "most examples have masks"};
}

static bool is_given(const r4_settings *s, const char *key)
{
  return s->origin[setting_number(setting_find(key))];
}

/* What bounds are over: vectors near that of a masked word are no words, and a bound over them keeps no word out.
 * Sentences of editorials with a planted name, masks on all: 35.7 % of the predictions change with the name so, 0.0
 * with a box that has the masked words in it (experiments/gauntlet). Whoever gives box or eps is obeyed. */
static r4_status take_box(r4_settings *s, const struct facts *f, char said[48], r4_error *e)
{
  *said = 0;
  if (!f->texts || !s->values.bound || !f->masked || is_given(s, "box") || is_given(s, "eps")) return R4_OK;
  c_locale_print(said, 48, " over all masked words");
  r4_status status = r4_settings_set(s, "box=words", "auto", e);
  return status ? status : r4_settings_set(s, "eps=1", "auto", e);
}

static r4_status take(r4_settings *s, const r4_data *train, char why[R4_ERROR_SIZE], r4_error *e)
{
  struct facts f = facts_of(train);
  struct choice c = choose(&f, s->values.bound);
  char assignment[64], box[48];
  c_locale_print(assignment, sizeof assignment, "method=%s", c.method);
  r4_status status = r4_settings_set(s, assignment, "auto", e);
  if (!status) status = take_box(s, &f, box, e);
  if (status) return status;
  c_locale_print(why, R4_ERROR_SIZE,
                 "method is auto: chose %s%s, as %s (%zu of %zu training examples have one); method: NAME overrides "
                 "it%s",
                 c.method, box, c.reason, f.masked, f.examples,
                 f.masked && !s->values.bound ? ", and bound: true asks for a method that bounds the effect"
                                              : "");
  return R4_OK;
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
