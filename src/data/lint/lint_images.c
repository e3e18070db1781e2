/* What gives the label of images away: what masks cover, and a corner or the border that tells more than the image. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "data/lint/cue.h"
#include "data/lint/lint.h"
#include "data/lint/look.h"

static double share(size_t n, size_t all)
{
  return 100 * (double)n / (double)all;
}

struct lint_name lint_score(const struct cues *q, size_t right)
{
  struct lint_name name;
  c_locale_print(name.text, sizeof name.text,
                 "%zu of %zu training images (%.0f %%) are classified correctly, after learning from as many others, "
                 "against %.0f %% by guessing",
                 right, cue_tested(q), share(right, cue_tested(q)), 100 / (double)q->classes);
  return name;
}

/* ---- Features ---- */

/* Fills what there is of these in a look; returns how many. */
typedef size_t features_of(const struct look *l, size_t channels, double *to);

static size_t colour(const struct look *l, size_t channels, double *to)
{
  memcpy(to, l->mean, channels * sizeof *to);
  return channels;
}

static size_t spread(const struct look *l, size_t channels, double *to)
{
  memcpy(to, l->spread, channels * sizeof *to);
  return channels;
}

static size_t texture(const struct look *l, size_t channels, double *to)
{
  (void)channels;
  to[0] = l->across;
  to[1] = l->down;
  return 2;
}

static size_t place(const struct look *l, size_t channels, double *to)
{
  (void)channels;
  to[0] = l->y;
  to[1] = l->x;
  return 2;
}

static size_t size(const struct look *l, size_t channels, double *to)
{
  (void)channels;
  to[0] = l->pixels;
  to[1] = l->height;
  to[2] = l->width;
  return 3;
}

static size_t colour_and_spread(const struct look *l, size_t channels, double *to)
{
  return colour(l, channels, to) + spread(l, channels, to + channels);
}

static size_t all_of_it(const struct look *l, size_t channels, double *to)
{
  return colour_and_spread(l, channels, to) + texture(l, channels, to + 2 * channels);
}

/* ---- Looking ---- */

enum { WHOLE, CENTRE, BORDER, CORNER, REGIONS = CORNER + 4, ODD_CORNER = REGIONS, SEEN, LOOKS };

/* The middle half of either side; a frame of 6 %; squares of an eighth. */
static struct region region_of(const r4_data *d, size_t k)
{
  size_t h = (size_t)data_x(d)->shape.dim[0], w = (size_t)data_x(d)->shape.dim[1];
  size_t frame = 1 + (h < w ? h : w) * 6 / 100, side = 1 + (h < w ? h : w) / 8;
  bool low = k >= CORNER + 2, far = (k - CORNER) % 2;
  struct region whole = {.box = {0, 0, h, w}};
  if (k == CENTRE) whole.box = (struct box){h / 4, w / 4, h - h / 4, w - w / 4};
  if (k == BORDER && 2 * frame < h && 2 * frame < w)
    whole.hole = (struct box){frame, frame, h - frame, w - frame};
  if (k < CORNER) return whole;
  struct box corner = {low ? h - side : 0, far ? w - side : 0, 0, 0};
  corner.bottom = corner.top + side;
  corner.right = corner.left + side;
  return (struct region){.box = corner};
}

/* How far the colour of a corner is from the mean of the other three, squared; -1: it cannot be seen. */
static double oddness(const struct look *corner, size_t k, size_t channels)
{
  double sum = 0;
  for (size_t c = 0; c < channels; c++) {
    double others = 0, n = 0;
    for (size_t j = 0; j < 4; j++)
      if (j != k && corner[j].pixels > 0) others += corner[j].mean[c], n++;
    double difference = n > 0 ? corner[k].mean[c] - others / n : 0;
    sum += difference * difference;
  }
  return corner[k].pixels > 0 ? sum : -1;
}

static struct look odd_corner(const struct look *corner, size_t channels)
{
  size_t best = 0;
  for (size_t k = 1; k < 4; k++)
    if (oddness(corner, k, channels) > oddness(corner, best, channels)) best = k;
  return corner[best];
}

/* What is looked at in an example. */
typedef void look_into(const struct cues *q, size_t i, const float *pixel, const uint8_t *mask,
                       struct look *to);

/* All parts of an image, where no mask covers them, and what is seen of it, masked or not. */
static void look_around(const struct cues *q, size_t i, const float *pixel, const uint8_t *mask,
                        struct look *to)
{
  (void)mask;
  for (size_t r = 0; r < REGIONS; r++)
    to[r] = look_at(q->d, pixel, data_mask_bytes(q->d, i), region_of(q->d, r), false);
  to[ODD_CORNER] = odd_corner(to + CORNER, (size_t)data_x(q->d)->shape.dim[2]);
  to[SEEN] = look_at(q->d, pixel, NULL, region_of(q->d, WHOLE), false);
}

/* What the mask of an example covers. */
static void look_at_masked(const struct cues *q, size_t i, const float *pixel, const uint8_t *mask,
                           struct look *to)
{
  (void)mask;
  *to = look_at(q->d, pixel, data_mask_bytes(q->d, i), region_of(q->d, WHOLE), true);
}

/* What a mask of others would cover in an example, and all of it. */
static void look_there(const struct cues *q, size_t i, const float *pixel, const uint8_t *mask,
                       struct look *to)
{
  (void)i;
  to[0] = look_at(q->d, pixel, mask, region_of(q->d, WHOLE), true);
  to[1] = look_at(q->d, pixel, NULL, region_of(q->d, WHOLE), false);
}

/* "each" looks of every example; r4_mem_free. NULL when out of memory. */
static struct look *look_all(const struct cues *q, size_t each, look_into *into, const uint8_t *mask)
{
  const struct column *x = data_x(q->d);
  struct look *all = r4_mem_new(q->n, each * sizeof *all);
  float *pixel = all ? r4_mem_new(x->features, sizeof *pixel) : NULL;
  for (size_t k = 0; pixel && k < q->n; k++) {
    column_read(x, q->d->record[q->example[k]].row, pixel);
    into(q, q->example[k], pixel, mask, all + k * each);
  }
  if (!pixel) r4_mem_free(all);
  bool done = pixel != NULL;
  r4_mem_free(pixel);
  return done ? all : NULL;
}

/* How many are classified correctly from these features of the first of "each" looks. */
static size_t try_looks(struct cues *q, const struct look *look, size_t each, features_of *of)
{
  size_t channels = (size_t)data_x(q->d)->shape.dim[2], features = 0;
  for (size_t k = 0; k < q->n; k++) features = of(look + k * each, channels, q->value + k * CUE_FEATURES);
  return cue_try(q, features, CUE_QUANTITIES);
}

/* What may well tell the label: right becomes plain if it is more often true. */
static void keep_better(struct cues *q, size_t right, size_t *plain)
{
  if (right <= *plain) return;
  memcpy(q->plain, q->right, q->n * sizeof *q->plain);
  *plain = right;
}

/* ---- What masks cover ---- */

static const struct {
  const char *name;
  features_of *of;
} mask_cues[] = {
  {"colour", colour}, {"spread", spread}, {"texture", texture}, {"place", place}, {"size", size}};

enum { MASK_CUES = sizeof mask_cues / sizeof *mask_cues };

static bool has_mask(const struct record *r)
{
  return r->mask;
}

static bool has_none(const struct record *r)
{
  return !r->mask;
}

/* A mask of what half of the training masks cover, or more; r4_mem_free. NULL when out of memory. */
static uint8_t *common_place(const r4_data *d)
{
  size_t n = data_masks(d)->size, masked = r4_data_counts(d, -1, -1).masked[R4_TRAIN];
  uint8_t *to = r4_mem_new(n, 1);
  uint32_t *count = to ? r4_mem_new(n, sizeof *count) : NULL;
  for (size_t i = 0; count && i < d->n; i++)
    for (size_t k = 0; k < n && d->record[i].split == R4_TRAIN && d->record[i].mask; k++)
      count[k] += masks_at(data_masks(d), d->record[i].mask)[k] != 0;
  for (size_t k = 0; count && k < n; k++) to[k] = 2 * (size_t)count[k] >= masked ? 255 : 0;
  if (!count) r4_mem_free(to);
  bool done = count != NULL;
  r4_mem_free(count);
  return done ? to : NULL;
}

/* Whether the place where most masks are tells the label in images without one, better than these do as a whole. */
static r4_status without_masks(const r4_data *d, struct lint_name *score, bool *tells)
{
  struct cues q;
  r4_status s = cues_new(&q, d, has_none);
  uint8_t *mask = s || !q.n ? NULL : common_place(d);
  struct look *look = mask ? look_all(&q, 2, look_there, mask) : NULL;
  if (look) {
    keep_better(&q, try_looks(&q, look + 1, 2, all_of_it), &(size_t){0});
    size_t right = try_looks(&q, look, 2, colour_and_spread);
    *tells = cue_tells(&q, right, 1) && cue_beats_plain(&q, 1);
    *score = lint_score(&q, right);
  } else if (q.n)
    s = R4_E_MEMORY;
  r4_mem_free(look);
  r4_mem_free(mask);
  cues_clear(&q);
  return s;
}

/* It is what masks are for, and worth no more than a note as long as every training example has one. */
static r4_status tell_masked(struct lint *l, const char *cue, struct lint_name score)
{
  r4_counts c = r4_data_counts(l->d, -1, -1);
  size_t without = c.examples[R4_TRAIN] - c.masked[R4_TRAIN];
  struct lint_name there = {""};
  bool tells = false;
  r4_status s = without ? without_masks(l->d, &there, &tells) : R4_OK;
  const char *gives = "masked content gives the label away";
  if (!without)
    lint_tell(l, NOTE, "mask-label", "%s, as shortcuts that are masked do: from its %s alone %s",
              gives, cue, score.text);
  else if (tells)
    lint_tell(l, WARNING, "mask-label",
              "%s: from its %s alone %s; so does the same place in images without a mask: there %s", gives,
              cue, score.text, there.text);
  else
    lint_tell(l, WARNING, "mask-label",
              "%s: from its %s alone %s; %zu training images have no mask: is the same in some of them?",
              gives, cue, score.text, without);
  return s;
}

static r4_status masked_content(struct lint *l)
{
  struct cues q;
  size_t best = 0, right[MASK_CUES] = {0};
  r4_status s = cues_new(&q, l->d, has_mask);
  struct look *look = s || !q.n ? NULL : look_all(&q, 1, look_at_masked, NULL);
  for (size_t k = 0; look && k < MASK_CUES; k++) {
    right[k] = try_looks(&q, look, 1, mask_cues[k].of);
    if (right[k] > right[best]) best = k;
  }
  if (look && cue_tells(&q, right[best], MASK_CUES))
    s = tell_masked(l, mask_cues[best].name, lint_score(&q, right[best]));
  if (!look && q.n) s = R4_E_MEMORY;
  r4_mem_free(look);
  cues_clear(&q);
  return s;
}

/* ---- Corners and the border ---- */

static const char *const region_names[LOOKS] = {[BORDER] = "border",
                                                [CORNER] = "top left corner",
                                                [CORNER + 1] = "top right corner",
                                                [CORNER + 2] = "bottom left corner",
                                                [CORNER + 3] = "bottom right corner",
                                                [ODD_CORNER] = "corner that differs most from the others"};

static bool any(const struct record *r)
{
  (void)r;
  return true;
}

/* The strongest one that tells the label, and better than the image as a whole and its centre, where the object usually
 * is. */
static void local_cues(struct lint *l, struct cues *q, const struct look *look, size_t *plain)
{
  size_t best = 0, most = 0, tries = SEEN - BORDER;
  keep_better(q, try_looks(q, look + WHOLE, LOOKS, all_of_it), plain);
  keep_better(q, try_looks(q, look + CENTRE, LOOKS, all_of_it), plain);
  for (size_t k = BORDER; k < SEEN; k++) {
    size_t right = try_looks(q, look + k, LOOKS, colour_and_spread);
    if (right > most && cue_tells(q, right, tries) && cue_beats_plain(q, tries)) best = k, most = right;
  }
  if (best)
    lint_tell(
      l, WARNING, "place-label",
      "the %s gives the label away%s: from its colour alone %s, and the whole image or its centre %.0f %%",
      region_names[best], data_masks(l->d) ? " where no mask covers it" : "", lint_score(q, most).text,
      share(*plain, cue_tested(q)));
}

static r4_status anything_else(struct lint *l)
{
  struct cues q;
  r4_status s = cues_new(&q, l->d, any);
  struct look *look = s || !q.n ? NULL : look_all(&q, LOOKS, look_around, NULL);
  if (look) {
    size_t plain = 0;
    local_cues(l, &q, look, &plain);
    keep_better(&q, try_looks(&q, look + SEEN, LOOKS, all_of_it),
                &plain);                                                 /* files hold what is masked, too */
    keep_better(&q, try_looks(&q, look + SEEN, LOOKS, texture), &plain); /* which makes them large       */
    s = lint_files(l, &q, plain);
  } else if (q.n)
    s = R4_E_MEMORY;
  r4_mem_free(look);
  cues_clear(&q);
  return s;
}

void lint_images(struct lint *l)
{
  if (!look_works(l->d)) return;
  r4_status s = data_masks(l->d) ? masked_content(l) : R4_OK;
  if (!s) s = anything_else(l);
  if (s) l->status = s;
}
