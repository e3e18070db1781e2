/* Masks that are wrong in one of four ways, to see how much of that a method bears.
 *
 * On an image of S pixels, a square of side p in a corner becomes, with everything drawn uniformly,
 *
 *     misposition   a square of side p whose top and left are each in p + 1 - q .. S - p - 1 - q
 *     shift         itself moved inward by 1 .. p - 1 - q rows and as many columns, drawn apart
 *     dilation      a square of side p + d in the same corner, d in 1 .. p
 *     shrink        a square of side p - s in the same corner, s in 1 .. p - 1
 *
 * where q = 1 if p is a quarter of S or more, else 0. These are the ranges of the paper's experiments on Decoy MNIST
 * (S = 28, p = 4: 5 .. 23, 1 .. 3, 1 .. 4, 1 .. 3) and Decoy DERM (64, 16: 16 .. 46, 1 .. 14, 1 .. 16, 1 .. 15).
 * For any other mask, p is the height and width of its box for the shift, which goes to the farther edge; misposition
 * moves the box to any place in the image; dilation and shrink take from or add to every side, and p is the depth. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/purpose.h"
#include "data/mask/mask.h"
#include "data/mask/mask_shape.h"

const char *const corruption_words[] = {"none",
                                        [CORRUPTION_WORD + R4_CORRUPT_MISPOSITION] = "misposition",
                                        [CORRUPTION_WORD + R4_CORRUPT_SHIFT] = "shift",
                                        [CORRUPTION_WORD + R4_CORRUPT_DILATION] = "dilation",
                                        [CORRUPTION_WORD + R4_CORRUPT_SHRINK] = "shrink",
                                        NULL};

/* What becomes of the mask of one example: a move by (a, b), or a change of size by a. Equal jobs are done once. */
struct job {
  uint32_t mask, example;
  int64_t a, b;
};

/* What is known of a mask, found when first needed. */
struct known {
  bool known, corner;
  struct shape_box box;
  size_t depth;
};

struct corruption {
  r4_corruption kind;
  uint64_t seed;
  struct shape_size size;
  const struct masks *masks;
  struct known *known;
};

static int compare(const void *a, const void *b)
{
  const struct job *p = a, *q = b;
  if (p->mask != q->mask) return p->mask < q->mask ? -1 : 1;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  if (p->b != q->b) return p->b < q->b ? -1 : 1;
  return (p->example > q->example) - (p->example < q->example);
}

static r4_status know(struct corruption *c, uint32_t mask, r4_error *e)
{
  struct known *k = c->known + mask;
  if (k->known) return R4_OK;
  const uint8_t *bytes = masks_at(c->masks, mask);
  *k = (struct known){
    .known = true, .corner = shape_is_corner(bytes, c->size), .box = shape_box(bytes, c->size)};
  bool sized = c->kind == R4_CORRUPT_DILATION || c->kind == R4_CORRUPT_SHRINK;
  return sized ? shape_depth(bytes, c->size, &k->depth, e) : R4_OK;
}

/* ---- Drawing ---- */

/* Uniform in low .. high, or low if high is less. */
static int64_t draw(const struct corruption *c, uint32_t purpose, uint32_t example, int64_t low, int64_t high)
{
  r4_random key = {c->seed, purpose, (uint32_t)c->kind};
  return high <= low ? low : low + (int64_t)r4_random_below(key, example, (uint64_t)(high - low + 1));
}

/* Along one axis: where the box begins, its length, the length of the image. */
struct axis {
  int64_t at, length, side;
  uint32_t purpose;
};

static int64_t quirk(struct axis x)
{
  return 4 * x.length >= x.side;
}

static int64_t draw_place(const struct corruption *c, struct axis x, uint32_t example, bool corner)
{
  int64_t last = x.side - x.length, low = 0, high = last;
  if (corner) {
    low = x.length + 1 - quirk(x);
    high = last - 1 - quirk(x);
    if (low > last) low = last;
  }
  return draw(c, x.purpose, example, low, high) - x.at;
}

static int64_t draw_shift(const struct corruption *c, struct axis x, uint32_t example)
{
  int64_t by = draw(c, x.purpose, example, 1, x.length - 1 - quirk(x));
  return x.at > x.side - x.at - x.length ? -by : by;
}

static struct job draw_job(const struct corruption *c, uint32_t mask, uint32_t example)
{
  const struct known *k = c->known + mask;
  struct axis rows = {(int64_t)k->box.top, (int64_t)k->box.height, (int64_t)c->size.height,
                      PURPOSE_WRONG_FIRST},
              columns = {(int64_t)k->box.left, (int64_t)k->box.width, (int64_t)c->size.width,
                         PURPOSE_WRONG_SECOND};
  struct job job = {mask, example, 0, 0};
  if (c->kind == R4_CORRUPT_MISPOSITION) {
    job.a = draw_place(c, rows, example, k->corner);
    job.b = draw_place(c, columns, example, k->corner);
  } else if (c->kind == R4_CORRUPT_SHIFT) {
    job.a = draw_shift(c, rows, example);
    job.b = draw_shift(c, columns, example);
  } else {
    int64_t most = (int64_t)k->depth - (c->kind == R4_CORRUPT_SHRINK);
    job.a = draw(c, PURPOSE_WRONG_FIRST, example, 1, most);
  }
  return job;
}

/* ---- Doing ---- */

static r4_status apply(const struct corruption *c, const struct job *job, uint8_t *to, r4_error *e)
{
  const uint8_t *mask = masks_at(c->masks, job->mask);
  if (c->kind == R4_CORRUPT_DILATION) return shape_grow(mask, c->size, (size_t)job->a, to, e);
  if (c->kind == R4_CORRUPT_SHRINK) return shape_shrink(mask, c->size, (size_t)job->a, to, e);
  shape_move(mask, c->size, job->a, job->b, to);
  return R4_OK;
}

/* Adds what the jobs make to m, and sets the masks of their examples in d. */
static r4_status run(const struct corruption *c, size_t n, struct job *job, r4_data *d, struct masks *m,
                     r4_error *e)
{
  qsort(job, n, sizeof *job, compare);
  uint8_t *made = mem_new(m->size, 1, "a mask", e);
  r4_status s = made ? R4_OK : R4_E_MEMORY;
  uint32_t number = 0;
  for (size_t k = 0; !s && k < n; k++) {
    bool again = k && job[k].mask == job[k - 1].mask && job[k].a == job[k - 1].a && job[k].b == job[k - 1].b;
    if (!again) {
      s = apply(c, job + k, made, e);
      if (!s) s = masks_add(m, made, &number, e);
    }
    d->record[job[k].example].mask = number;
  }
  r4_mem_free(made);
  return s;
}

/* The training examples that have a mask and shall have a wrong one: all but a share of each class. */
static r4_status choose_wrong(const r4_data *d, double correct, uint64_t seed, uint8_t *wrong, r4_error *e)
{
  r4_status s = mask_choose(d, correct, (r4_random){seed, PURPOSE_CORRECT, 0}, wrong, e);
  for (size_t i = 0; !s && i < d->n; i++)
    wrong[i] = d->record[i].split == R4_TRAIN && d->record[i].mask && !wrong[i];
  return s;
}

static r4_status corrupt(r4_data *d, struct corruption *c, const uint8_t *wrong, struct masks *m, r4_error *e)
{
  size_t n = 0;
  struct job *job = mem_new(d->n ? d->n : 1, sizeof *job, "masks", e);
  c->known = mem_new(c->masks->n, sizeof *c->known, "masks", e);
  r4_status s = job && c->known ? R4_OK : R4_E_MEMORY;
  for (size_t i = 0; !s && i < d->n; i++) {
    if (!wrong[i]) continue;
    s = know(c, d->record[i].mask, e);
    if (!s) job[n++] = draw_job(c, d->record[i].mask, (uint32_t)i);
  }
  if (!s) s = run(c, n, job, d, m, e);
  r4_mem_free(job);
  r4_mem_free(c->known);
  return s;
}

static r4_status check(const r4_data *d, r4_corruption kind, r4_error *e)
{
  r4_shape s = data_x(d)->shape;
  if ((unsigned)kind > R4_CORRUPT_SHRINK)
    return r4_fail(e, R4_E_ARGUMENT, "corruption %d, expected %d to %d", (int)kind, R4_CORRUPT_MISPOSITION,
                   R4_CORRUPT_SHRINK);
  if (data_masks(d) && (s.rank != 3 || data_masks(d)->size != (size_t)(s.dim[0] * s.dim[1])))
    return r4_fail(e, R4_E_ARGUMENT, "only masks of images can be corrupted, with one element per pixel");
  return R4_OK;
}

r4_data *r4_data_corrupt_masks(const r4_data *d, r4_corruption kind, double correct, uint64_t seed,
                               r4_error *e)
{
  NEEDS(d, "data", NULL);
  if (check(d, kind, e)) return NULL;
  r4_data *made = data_derive(d, e);
  if (!made || !data_masks(d)) return made;
  struct corruption c = {.kind = kind,
                         .seed = seed,
                         .size = {(size_t)data_x(d)->shape.dim[0], (size_t)data_x(d)->shape.dim[1]},
                         .masks = data_masks(d)};
  struct masks *m = mask_copy(data_masks(d), e);
  uint8_t *wrong = mem_new(d->n ? d->n : 1, 1, "choosing among examples", e);
  bool done = m && wrong && !choose_wrong(d, correct, seed, wrong, e) && !corrupt(made, &c, wrong, m, e);
  r4_mem_free(wrong);
  data_set_masks(made, m);
  if (done) return made;
  r4_data_free(made);
  return NULL;
}
