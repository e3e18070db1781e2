/* What the lines of a certificate claim, and whether it holds.
 *
 *     holds           the bounds prove it, with the margin that is printed
 *     does not hold   there is a point that the claim is about whose margin is provably less than the printed one
 *     cannot tell     neither
 *
 * "this-program" speaks of numbers that another program computed in float32. Here they are computed again, and the
 * claim holds if they would have to differ by more than TOLERANCE (1 + |z|) for it to be wrong. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double TOLERANCE = 1e-4;
enum { MOST_COMBINATIONS = 4096, MOST_ATTACKS = 512 };

struct work {
  const struct job *j;
  size_t *todo, n; /* the lines that say "holds" */
  atomic_size_t next, attacks;
};

/* ---- Examples ---- */

static double masked(const struct job *j, size_t i, size_t q)
{
  size_t per = j->mask.n / j->c->n;
  return j->c->claim == COVER ? 0 : array_real(&j->mask, i * per + q % per);
}

/* All values of a feature, and a bit more; or, inside, its lowest and highest value, and a bit less. */
static struct range box(const struct job *j, size_t i, size_t q, bool inside)
{
  const struct certificate *c = j->c;
  const struct range low = inside ? (struct range){-c->low.dn, -c->low.up} : c->low,
                     high = inside ? (struct range){-c->high.dn, -c->high.up} : c->high;
  double x = array_real(&j->x, i * shape_size(&j->net->in) + q), m = masked(j, i, q);
  double step = inside ? -(c->step.dn * m) : c->step.up * m;
  struct range v = inside ? (struct range){-(-x - step), -(x - step)} : (struct range){x + step, -x + step};
  if (!(m > 0)) return (struct range){x, -x};
  if (c->has_range) v.up = c->whole_range ? high.up : smaller(v.up, high.up);
  if (c->has_range) v.dn = c->whole_range ? low.dn : smaller(v.dn, low.dn);
  if (v.up < -v.dn) return (struct range){x, -x};
  return (struct range){larger(v.up, x), larger(v.dn, -x)};
}

/* Feature q of the file in lane b. A net that takes an image as a vector has its channels last. */
static void set(const struct job *j, struct batch *b, size_t lane, size_t q, struct range to)
{
  size_t area = j->x.rank == 4 ? j->x.dim[2] * j->x.dim[3] : 1;
  size_t at = j->net->in.rank == VECTOR && area > 1 ? q % area * j->x.dim[1] + q / area : q;
  b->x.up[at * LANES + lane] = to.up;
  b->x.dn[at * LANES + lane] = to.dn;
}

static struct batch batch_new(const struct job *j)
{
  size_t n = shape_size(&j->net->in);
  struct batch b = {.x = value_new(j->net->in), .id = {take(LANES * n, sizeof(int64_t))}, .vary = {take(LANES * n, 1)}};
  for (size_t k = 0; k < LANES; k++) b.id[k] = b.id[0] + k * n, b.vary[k] = b.vary[0] + k * n;
  return b;
}

static void load(const struct job *j, struct batch *b, size_t lane, size_t i)
{
  size_t n = shape_size(&j->net->in);
  bool ids = j->net->in.rank == IDS;
  b->class[lane] = j->c->line[i].class;
  b->length[lane] = ids ? (size_t)array_whole(&j->length, i) : 0;
  for (size_t q = 0; q < n; q++)
    if (ids) b->id[lane][q] = array_whole(&j->x, i * n + q), b->vary[lane][q] = masked(j, i, q) > 0;
    else set(j, b, lane, q, box(j, i, q, false));
}

static struct margins margins(const struct job *j, struct batch *b)
{
  struct margins m = net_margins(j->net, j->c, b);
  free(b->id[0]), free(b->vary[0]);
  return m;
}

static bool hides(const struct mask *m, size_t y, size_t x)
{
  return (y >= m->top && y < m->bottom && x >= m->left && x < m->right) != m->outside;
}

static enum verdict judge(const struct job *j, size_t i, const struct margins *m, size_t lane)
{
  double slack = j->c->semantics == THIS_PROGRAM ? TOLERANCE * (1 + m->size[lane]) : 0, printed = j->c->line[i].margin;
  if (m->low[lane] > slack && m->low[lane] >= printed - slack) return HOLDS;
  if (m->high[lane] < -slack || m->high[lane] < printed - slack) return DOES_NOT_HOLD;
  return CANNOT_TELL;
}

/* ---- Claims ---- */

/* Points of the box: x, the lowest and the highest corner, and others by chance. Corners are not float32. */
static enum verdict attack(const struct job *j, size_t i)
{
  size_t n = shape_size(&j->net->in);
  struct batch b = batch_new(j);
  uint32_t chance = 1;
  for (size_t lane = 0; lane < LANES; lane++) {
    load(j, &b, lane, i);
    for (size_t q = 0; q < n; q++) {
      struct range end = box(j, i, q, true);
      double x = array_real(&j->x, i * n + q);
      chance = chance * 1664525 + 1013904223;
      if (lane && j->c->semantics != ANY_FLOAT) x = lane == 1 || (lane > 2 && chance >> 31) ? end.up : -end.dn;
      set(j, &b, lane, q, (struct range){x, -x});
    }
  }
  struct margins m = margins(j, &b);
  for (size_t lane = 0; lane < LANES; lane++)
    if (judge(j, i, &m, lane) == DOES_NOT_HOLD) return DOES_NOT_HOLD;
  return CANNOT_TELL;
}

/* Variant k of an example: a combination of words; or two masks, those with the same first mask in a row. */
static void vary(const struct job *j, struct batch *b, size_t lane, size_t i, size_t k)
{
  size_t n = shape_size(&j->net->in), width = j->x.dim[j->x.rank - 1], first = 0;
  size_t area = j->x.rank == 4 ? width * j->x.dim[2] : n;
  bool words = j->c->claim == WORDS, pairs = !words && strcmp(j->c->method, "one-mask");
  load(j, b, lane, i);
  memset(b->vary[lane], 0, n);
  for (; pairs && k >= j->masks - first; first++) k -= j->masks - first;
  const struct mask *one = j->cover + (pairs ? first : k), *two = j->cover + first + k;
  for (size_t q = 0; q < n; q++) {
    size_t y = q % area / width, x = q % width;
    if (words ? !(masked(j, i, q) > 0) : !hides(one, y, x) && !hides(two, y, x)) continue;
    int64_t word = words ? (int64_t)(k % (j->c->words + 1)) : 0;
    if (words) k /= j->c->words + 1;
    if (words && word) b->id[lane][q] = j->c->word[word - 1];
    else if (!words && j->net->in.rank == IDS) b->id[lane][q] = (int64_t)j->fill[0];
    else if (!words) set(j, b, lane, q, (struct range){j->fill[q / area], -j->fill[q / area]});
  }
}

/* The worst of all variants, if they are not too many. */
static enum verdict enumerate(const struct job *j, size_t i)
{
  size_t n = shape_size(&j->net->in), count = j->c->claim == WORDS ? 1 : j->masks;
  enum verdict worst = HOLDS;
  if (j->c->claim == COVER && strcmp(j->c->method, "one-mask")) count = count * (count + 1) / 2;
  for (size_t q = 0; q < n && j->c->claim == WORDS; q++)
    if (masked(j, i, q) > 0 && (count *= j->c->words + 1) > MOST_COMBINATIONS) return CANNOT_TELL;
  for (size_t first = 0; first < count; first += LANES) {
    struct batch b = batch_new(j);
    for (size_t lane = 0; lane < LANES; lane++) vary(j, &b, lane, i, first + lane < count ? first + lane : first);
    struct margins m = margins(j, &b);
    for (size_t lane = 0; lane < LANES; lane++) {
      enum verdict v = judge(j, i, &m, lane);
      worst = v > worst ? v : worst;
    }
  }
  return worst;
}

/* By linear bounds and branching; what is said to be by intervals is left to them. */
static bool prove(const struct job *j, size_t i)
{
  if (j->c->claim != BOX || j->c->semantics != REAL || !strcmp(j->c->method, "intervals")) return false;
  struct batch b = batch_new(j);
  for (size_t lane = 0; lane < LANES; lane++) load(j, &b, lane, i);
  free(b.id[0]), free(b.vary[0]);
  return net_proves(j->net, b.x, j->c->line[i].class, j->c->line[i].margin);
}

/* ---- All lines ---- */

static void check_lines(struct work *w, const size_t *todo, size_t lanes)
{
  const struct job *j = w->j;
  struct batch b = batch_new(j);
  for (size_t lane = 0; lane < LANES; lane++) load(j, &b, lane, todo[lane < lanes ? lane : 0]);
  struct margins m = margins(j, &b);
  for (size_t lane = 0; lane < lanes; lane++) {
    struct line *l = &j->c->line[todo[lane]];
    l->verdict = j->c->claim == COVER ? CANNOT_TELL : judge(j, todo[lane], &m, lane);
    if (l->verdict == CANNOT_TELL && j->c->claim != BOX) l->verdict = enumerate(j, todo[lane]);
    if (l->verdict == CANNOT_TELL && j->c->claim == BOX && atomic_fetch_add(&w->attacks, 1) < MOST_ATTACKS)
      l->verdict = attack(j, todo[lane]);
    if (l->verdict == CANNOT_TELL && prove(j, todo[lane])) l->verdict = HOLDS;
  }
}

static void *worker(void *of)
{
  struct work *w = of;
  size_t at;
  round_upward();
  while ((at = atomic_fetch_add(&w->next, LANES)) < w->n)
    check_lines(w, w->todo + at, w->n - at < LANES ? w->n - at : LANES);
  return NULL;
}

/* Shapes and values of the data file, and that they are those of the certificate. */
static void check_data(const struct job *j)
{
  const struct certificate *c = j->c;
  const struct shape *in = &j->net->in;
  const struct array *x = &j->x, *m = &j->mask;
  const size_t dim[] = {c->n, in->c, in->h, in->w};
  bool ids = in->rank == IDS;
  bool image = x->rank == 4 && !ids && (in->rank == VECTOR || !memcmp(x->dim, dim, sizeof dim));
  bool fits = x->type == (ids ? 'i' : 'f') && x->rank >= 2 && x->dim[0] == c->n && x->n == c->n * shape_size(in);
  if (!fits || (!image && (x->rank != 2 || in->rank == IMAGE)))
    refuse("x of the data file is not %zu examples that the net takes", c->n);
  if (j->y.type != 'i' || j->y.rank != 1 || j->y.n != c->n) refuse("the data file lacks y, int64 [%zu]", c->n);
  if (ids && (j->length.type != 'i' || j->length.rank != 1 || j->length.n != c->n))
    refuse("the data file lacks length, int64 [%zu]", c->n);
  fits = (m->type == 'f' || m->type == 'u') && m->rank == x->rank;
  for (int k = 0; k < x->rank; k++)
    fits = fits && (m->dim[k] == x->dim[k] || (k == 1 && x->rank == 4 && m->dim[k] == 1));
  if (!fits && c->claim != COVER) refuse("the data file lacks a mask of the shape of x");
  for (size_t k = 0; k < x->n && !ids; k++)
    if (!(array_real(x, k) - array_real(x, k) == 0)) refuse("x of the data file has a value that is not finite");
  for (size_t k = 0; k < m->n && c->claim != COVER; k++)
    if (!(array_real(m, k) >= 0 && array_real(m, k) <= 1e30))
      refuse("the mask of the data file has a value below 0, or none");
  for (size_t k = 0; k < c->n; k++) {
    if (c->line[k].label != array_whole(&j->y, k)) refuse("example %zu has another label in the data file", k);
    if ((size_t)c->line[k].class >= j->net->classes)
      refuse("example %zu: the net has no class %lld", k, (long long)c->line[k].class);
    if (ids && (uint64_t)array_whole(&j->length, k) > in->w) refuse("example %zu is longer than its tokens", k);
  }
}

static void run(struct job *j)
{
  struct work w = {.j = j, .todo = take(j->c->n, sizeof *w.todo)};
  pthread_t thread[64];
  long cpus = sysconf(_SC_NPROCESSORS_ONLN), started = 0;
  check_data(j);
  if (j->c->claim == COVER) cover_make(j);
  for (size_t k = 0; k < j->c->n; k++)
    if (j->c->line[k].claimed) w.todo[w.n++] = k;
  while (started + 1 < cpus && started < 64 && !pthread_create(&thread[started], NULL, worker, &w)) started++;
  worker(&w);
  while (started--) pthread_join(thread[started], NULL);
}

static void check_hash(struct bytes file, const char *what, const char *expected)
{
  char hex[65];
  sha256_hex(file.at, file.n, hex);
  if (strcmp(hex, expected))
    refuse("this is not the certificate's %s: its SHA-256 is %s, expected %.64s", what, hex, expected);
}

void check(struct bytes certificate, struct bytes model, struct bytes data, struct certificate *c, struct net *net)
{
  struct model m = {0};
  struct job j = {.c = c, .net = net};
  round_upward();
  certificate_read(certificate, c);
  check_hash(model, "model", c->model);
  check_hash(data, "data", c->data);
  model_read(model, &m);
  j.x = array_read(data, "x");
  j.y = array_read(data, "y");
  j.mask = array_read(data, "mask");
  j.length = array_read(data, "length");
  if ((c->claim == BOX && j.x.type == 'i') || (c->claim == WORDS && j.x.type != 'i'))
    refuse("the claim is not about such data");
  net_build(&m, net, j.x.type == 'i');
  for (size_t k = 0; k < c->n; k++) c->line[k].verdict = c->line[k].claimed ? CANNOT_TELL : OPEN;
  if (!*net->missing) run(&j);
}
