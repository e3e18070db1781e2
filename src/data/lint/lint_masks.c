/* What is probably wrong with the masks of a data set. */
#include "data/counts.h"
#include "data/lint/lint.h"
#include "data/mask/mask_places.h"

/* Every mask that was read is zero everywhere. */
static void empty_masks(struct lint *l)
{
  if (data_masks(l->d)->n == 1)
    lint_tell(l, WARNING, "mask-empty", "all masks are zero everywhere: no example has one");
}

static void full_masks(struct lint *l)
{
  size_t n = 0, first = 0;
  for (size_t i = l->d->n; i-- > 0;)
    if (l->d->record[i].mask && data_mask_area(l->d, i) == 1) first = i, n++;
  if (n)
    lint_tell(l, WARNING, "mask-full", "%zu masks cover the whole example, %s first: nothing is left to learn from",
              n, lint_name_of(l->d, first).text);
}

static bool is_soft(const r4_data *d, uint32_t number)
{
  const uint8_t *mask = masks_at(data_masks(d), number);
  for (size_t k = 0; k < data_masks(d)->size; k++)
    if (mask[k] && mask[k] != 255) return true;
  return false;
}

static void soft_masks(struct lint *l)
{
  size_t n = 0, first = 0;
  for (size_t i = l->d->n; i-- > 0;)
    if (l->d->record[i].mask && is_soft(l->d, l->d->record[i].mask)) first = i, n++;
  if (n)
    lint_tell(l, NOTE, "mask-soft", "%zu masks have values between 0 and 1, %s first: these count in part", n,
              lint_name_of(l->d, first).text);
}

/* Training examples without a mask where most have one; an empty mask is none. */
static void missing_masks(struct lint *l)
{
  r4_counts c = r4_data_counts(l->d, -1, -1);
  size_t n = c.examples[R4_TRAIN] - c.masked[R4_TRAIN], first = 0;
  if (!n || 2 * c.masked[R4_TRAIN] <= c.examples[R4_TRAIN]) return;
  while (l->d->record[first].split != R4_TRAIN || l->d->record[first].mask) first++;
  lint_tell(l, WARNING, "mask-missing",
            "%zu of %zu training examples have no mask, or an empty one, %s first", n, c.examples[R4_TRAIN],
            lint_name_of(l->d, first).text);
}

/* A class with less than a quarter of the coverage of another one. If one class alone has masks, what is done about
 * masked content is done to that class alone, and gives it away. */
static void uneven_masks(struct lint *l)
{
  double least = 2, most = -1;
  size_t at = 0, other = 0, with = 0;
  for (size_t k = 0; k < r4_data_classes(l->d); k++) {
    r4_counts c = r4_data_counts(l->d, (int32_t)k, -1);
    if (!c.examples[R4_TRAIN]) continue;
    double share = (double)c.masked[R4_TRAIN] / (double)c.examples[R4_TRAIN];
    with += share > 0;
    if (share < least) least = share, at = k;
    if (share > most) most = share, other = k;
  }
  if (with == 1 && least == 0 && data_x(l->d)->shape.rank == 3)
    lint_tell(l, NOTE, "mask-one-class",
              "only examples of class %s have a mask in training: no action is needed, as r4 pastes masked content on "
              "all classes (fill: auto)",
              r4_data_class_name(l->d, other));
  else if (with == 1 && least == 0)
    lint_tell(l, WARNING, "mask-one-class",
              "only examples of class %s have a mask in training: having one gives the label away",
              r4_data_class_name(l->d, other));
  else if (most > 0 && 4 * least < most)
    lint_tell(l, WARNING, "mask-uneven",
              "%.0f %% of class %s have a mask in training, and %.0f %% of class %s: %s", 100 * least,
              r4_data_class_name(l->d, at), 100 * most, r4_data_class_name(l->d, other),
              "having a mask tells something of the class; fill: paste puts masked content on all classes");
}

/* Some masks may be drawn the other way round: they mark more than half of the example, and the others, which are most,
 * 15 % at most, on average. */
static void unlike_masks(struct lint *l, size_t large)
{
  const double WIDE = .5, NARROW = .15;
  size_t first = SIZE_MAX, masked = 0;
  double others = 0;
  for (size_t i = 0; i < l->d->n && large; i++) {
    if (!l->d->record[i].mask) continue;
    double area = data_mask_area(l->d, i);
    masked++;
    if (area <= WIDE)
      others += area;
    else if (area < 1 && first == SIZE_MAX) /* whole ones are another matter */
      first = i;
  }
  if (first == SIZE_MAX || 2 * large > masked || others > NARROW * (double)(masked - large)) return;
  lint_tell(l, WARNING, "mask-unlike",
            "%zu of %zu masks mark more than half of the example, %s first, and the others %.0f %% on average: are "
            "these the other way round?",
            large, masked, lint_name_of(l->d, first).text, 100 * others / (double)(masked - large));
}

/* Masks may mean the reverse of what was said. Those that cover more than half and are all different may well be right
 * (all but the object): a note. */
static void inverted_masks(struct lint *l)
{
  struct mask_places p = mask_places_of(l->d);
  const char *reverse = l->d->means == R4_MASKS_RELEVANT
                          ? "If white marks what must *not* matter, use --mask-means irrelevant"
                          : "If white marks what *should* matter, use --mask-means relevant";
  switch (mask_doubt_of(p)) {
  case MASKS_ALIKE:
    lint_tell(
      l, WARNING, "mask-inverted",
      "%zu of %zu masks mark more than half of the example as what must not matter, and only %zu of them differ. %s",
      p.large, p.masked, p.different, reverse);
    break;
  case MASKS_LARGE:
    if (10 * p.middle >= 9 * p.masked) /* real backgrounds leave out objects, which are in the middle */
      lint_tell(l, WARNING, "mask-inverted",
                "%zu of %zu masks mark more than half of the example as what must not matter, and %zu the middle, "
                "where "
                "the object usually is. %s",
                p.large, p.masked, p.middle, reverse);
    else
      lint_tell(l, NOTE, "mask-large",
                "%zu of %zu masks mark more than half of the example as what must not matter. %s", p.large, p.masked,
                reverse);
    break;
  case MASKS_MIDDLE:
    lint_tell(l, WARNING, "mask-inverted",
              "%zu of %zu masks mark the middle of the image, where the object usually is, as what must not matter. %s",
              p.middle, p.masked, reverse);
    break;
  case MASKS_RIGHT:
    unlike_masks(l, p.large);
    break;
  }
}

/* Values that are kept, but are all so small that they hardly count. */
static void faint_masks(struct lint *l)
{
  const struct masks *m = data_masks(l->d);
  uint8_t largest = 0;
  for (size_t k = m->size; k < m->n * m->size; k++)
    if (m->bytes[k] > largest) largest = m->bytes[k];
  if (largest && largest < 128)
    lint_tell(
      l, WARNING, "mask-faint",
      "no mask has a value above %.2g, where 1 is all that must not matter: are they labels (mask_values)?",
      largest / 255.);
}

void lint_masks(struct lint *l)
{
  static void (*const check[])(struct lint *) = {empty_masks,  full_masks, inverted_masks, missing_masks,
                                                 uneven_masks, soft_masks, faint_masks};
  for (size_t k = 0; data_masks(l->d) && k < sizeof check / sizeof *check; k++) check[k](l);
}
