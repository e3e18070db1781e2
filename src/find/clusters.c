/* Clusters of cells that decide: what a net looks at, of each class.
 *
 * A_p is the vector of cell p of the last feature map, and s the margin of the label. Of each training image the two
 * cells with the largest A_p . ds/dA_p are taken, and their directions A_p / |A_p| grouped, each class apart.
 * An image shows a cluster if one of its cells is as much like its centre as three quarters of its members are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/purpose.h"
#include "find/cells.h"
#include "find/fill.h"
#include "find/find.h"
#include "find/sphere_means.h"
#include "measure/attribution.h"
#include "module/guide_cells.h"

enum { BATCH = 16, TAKEN = 2, CLUSTERS_MOST = 20, MEMBERS = 40, ADDED = 10, LEAST = 10 };

enum { CELL_VECTORS, CELL_SHARES };

/* A search in hand. */
struct clusters {
  const r4_data *d;
  const float *weights;
  const r4_find_options *o;
  r4_error *e;
  r4_net at; /* the net, cut at its last feature map; nothing of it is its own */
  struct probe *probe;
  size_t cells, rows, columns, size; /* of the map; size: of a vector */
  float *member;                     /* [members, size], of one class after the other */
  int32_t *of;                       /* [members]: classes */
  size_t members, centres;
  float *centre;    /* [centres, size] */
  int32_t *label;   /* [centres] */
  float *like;      /* [examples, centres]: of the cell that is most like it */
  uint32_t *cell;   /* [examples, centres]: which it is */
  float *threshold; /* [centres] */
};

static size_t build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  r4_id slope = objective_explain(o, view_clean(o));
  out[CELL_VECTORS] = o->x;
  out[CELL_SHARES] = r4_sum(o->g, r4_mul(o->g, o->x, slope), R4_AXIS(3));
  return 2;
}

static void clear(struct clusters *c)
{
  probe_free(c->probe);
  r4_mem_free(c->member);
  r4_mem_free(c->of);
  r4_mem_free(c->centre);
  r4_mem_free(c->label);
  r4_mem_free(c->like);
  r4_mem_free(c->cell);
  r4_mem_free(c->threshold);
}

static r4_status start(struct clusters *c, const r4_net *n)
{
  r4_error why;
  c->at = *n;
  if (r4_net_input(n).rank != 3 || r4_net_guide_at(&c->at, "features", &why))
    return r4_fail(c->e, R4_E_ARGUMENT, "no part of the net gives an image, whose cells could be clustered");
  r4_shape leaf = net_leaf(&c->at);
  c->rows = (size_t)leaf.dim[0];
  c->columns = (size_t)leaf.dim[1];
  c->size = (size_t)leaf.dim[2];
  c->cells = c->rows * c->columns;
  c->probe = probe_new(
    &(struct probe_options){.net = &c->at, .batch = BATCH, .explain = R4_EXPLAIN_MARGIN, .build = build},
    c->e);
  size_t most = TAKEN * c->d->n;
  c->member = mem_new(most, c->size * sizeof *c->member, "cells that decide", c->e);
  c->of = mem_new(most, sizeof *c->of, "cells that decide", c->e);
  return c->probe && c->member && c->of ? R4_OK : c->e->status;
}

/* ---- Asking the net about all examples ---- */

typedef void take_example(struct clusters *c, size_t i, const float *vectors, const float *shares);

static r4_status each(struct clusters *c, const char *stage, bool all, take_example *take)
{
  size_t example[BATCH], n = 0;
  r4_status s = R4_OK;
  for (size_t i = 0; !s && i < c->d->n; i++) {
    if (all || c->d->record[i].split == R4_TRAIN) example[n++] = i;
    if (n < BATCH && i + 1 < c->d->n) continue;
    if (n) s = probe_ask(c->probe, c->weights, c->d, n, example, c->e);
    for (size_t k = 0; !s && k < n; k++)
      take(c, example[k], probe_row(c->probe, CELL_VECTORS, k), probe_row(c->probe, CELL_SHARES, k));
    n = 0;
    find_report(c->o, stage, i + 1, c->d->n);
  }
  return s;
}

static void take_members(struct clusters *c, size_t i, const float *vectors, const float *shares)
{
  size_t taken = SIZE_MAX;
  for (int k = 0; k < TAKEN; k++) {
    size_t best = SIZE_MAX;
    for (size_t p = 0; p < c->cells; p++)
      if (p != taken && shares[p] > 0 && (best == SIZE_MAX || shares[p] > shares[best])) best = p;
    if (best == SIZE_MAX) return;
    float *to = c->member + c->members * c->size;
    memcpy(to, vectors + best * c->size, c->size * sizeof *to);
    sphere_put(to, c->size);
    c->of[c->members++] = c->d->record[i].label;
    taken = best;
  }
}

static void take_likeness(struct clusters *c, size_t i, const float *vectors, const float *shares)
{
  (void)shares;
  float *like = c->like + i * c->centres;
  uint32_t *cell = c->cell + i * c->centres;
  for (size_t k = 0; k < c->centres; k++) like[k] = -2;
  for (size_t p = 0; p < c->cells; p++) {
    const float *v = vectors + p * c->size;
    float length = sqrtf(sphere_cosine(v, v, c->size));
    for (size_t k = 0; length > 0 && k < c->centres; k++) {
      float cosine = sphere_cosine(v, c->centre + k * c->size, c->size) / length;
      if (cosine > like[k]) like[k] = cosine, cell[k] = (uint32_t)p;
    }
  }
}

/* ---- Clusters of one class after the other ---- */

/* Members of the class move to the front of those from "first" on; returns how many there are. */
static size_t gather(struct clusters *c, int32_t label, size_t first)
{
  size_t n = first;
  for (size_t k = first; k < c->members; k++) {
    if (c->of[k] != label) continue;
    for (size_t j = 0; k != n && j < c->size; j++) {
      float v = c->member[k * c->size + j];
      c->member[k * c->size + j] = c->member[n * c->size + j];
      c->member[n * c->size + j] = v;
    }
    c->of[k] = c->of[n];
    c->of[n++] = label;
  }
  return n - first;
}

static size_t centres_for(size_t members)
{
  size_t k = members / MEMBERS;
  return members < LEAST ? 0 : k < 2 ? 2 : k < CLUSTERS_MOST ? k : CLUSTERS_MOST;
}

static int ascending(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

/* The cosine that three quarters of those that are most like a centre reach. */
static void find_threshold(struct clusters *c, size_t k, size_t first, size_t first_centre,
                           size_t last_centre, size_t n, float *room)
{
  size_t own = 0;
  for (size_t i = first; i < first + n; i++) {
    const float *x = c->member + i * c->size;
    float mine = sphere_cosine(x, c->centre + k * c->size, c->size);
    bool best = true;
    for (size_t j = first_centre; best && j < last_centre; j++)
      best = j == k || sphere_cosine(x, c->centre + j * c->size, c->size) <= mine;
    if (best) room[own++] = mine;
  }
  if (own) qsort(room, own, sizeof *room, ascending);
  c->threshold[k] = own ? room[own / 4] : 2;
}

static r4_status group(struct clusters *c)
{
  size_t classes = c->d->classes->n, most = classes * CLUSTERS_MOST, first = 0;
  c->centre = mem_new(most, c->size * sizeof *c->centre, "clusters", c->e);
  c->label = mem_new(most, sizeof *c->label, "clusters", c->e);
  c->threshold = mem_new(most, sizeof *c->threshold, "clusters", c->e);
  float *room = mem_new(c->members + 1, sizeof *room, "clusters", c->e);
  r4_status s = c->centre && c->label && c->threshold && room ? R4_OK : R4_E_MEMORY;
  for (int32_t label = 0; !s && (size_t)label < classes; label++) {
    size_t n = gather(c, label, first), k = centres_for(n), before = c->centres;
    r4_random key = {c->o->seed, PURPOSE_CLUSTERS, (uint32_t)label};
    if (k)
      s = sphere_means(c->member + first * c->size, n, c->size, k, key, c->centre + before * c->size, c->e);
    c->centres += k;
    for (size_t j = before; !s && j < c->centres; j++) {
      c->label[j] = label;
      find_threshold(c, j, first, before, c->centres, n, room);
    }
    first += n;
  }
  r4_mem_free(room);
  return s;
}

static r4_status compare(struct clusters *c)
{
  c->like = mem_new(c->d->n, (c->centres + 1) * sizeof *c->like, "clusters", c->e);
  c->cell = mem_new(c->d->n, (c->centres + 1) * sizeof *c->cell, "clusters", c->e);
  return c->like && c->cell ? each(c, "comparing", true, take_likeness) : R4_E_MEMORY;
}

/* ---- Clues ---- */

static void box_of(const struct clusters *c, size_t cell, double box[4])
{
  size_t y = cell / c->columns, x = cell % c->columns;
  box[0] = (double)x / (double)c->columns;
  box[1] = (double)y / (double)c->rows;
  box[2] = 1 / (double)c->columns;
  box[3] = 1 / (double)c->rows;
}

static r4_status see(struct clusters *c, size_t k, struct clue *to)
{
  size_t room = 0, all = 0, of = 0;
  r4_status s = R4_OK;
  to->is.label = c->label[k];
  for (size_t i = 0; !s && i < c->d->n; i++) {
    const struct record *r = c->d->record + i;
    bool train = r->split == R4_TRAIN, mine = r->label == c->label[k];
    float like = c->like[i * c->centres + k];
    all += train;
    of += train && mine;
    if (like < c->threshold[k]) continue;
    r4_sighting at = {.example = i, .score = (double)like, .token = -1};
    box_of(c, c->cell[i * c->centres + k], at.box);
    to->is.shown_on += train;
    to->is.of_class += train && mine;
    s = clue_sight(to, &room, at, c->e);
  }
  to->is.base = all ? (double)of / (double)all : 0;
  to->is.pure = to->is.shown_on && 50 * (to->is.shown_on - to->is.of_class) <= to->is.shown_on;
  to->is.local = true;
  to->is.kind = R4_CLUE_CLUSTER;
  return s ? s : clue_order(to, c->d, c->e);
}

/* "at the bottom right", if more than half of those that show it do so there. */
static void say_where(struct clue *to)
{
  size_t n[BOX_PLACES] = {0}, most = 0;
  for (size_t k = 0; k < to->is.sightings; k++) n[box_ninth(to->sighting[k].box)]++;
  for (size_t k = 1; k < BOX_PLACES; k++)
    if (n[k] > n[most]) most = k;
  bool one = 2 * n[most] > to->is.sightings;
  snprintf(to->text->where, FIND_WHERE, "%s%s", one ? "mostly " : "", one ? ninth_words(most) : "at various places");
}

static void say(const struct clusters *c, r4_found *f, struct clue *to, size_t number)
{
  const char *class = c->d->classes->name[to->is.label];
  const char *file = to->is.sightings ? r4_data_example(c->d, to->sighting[0].example).file : NULL;
  char number_of[40];
  snprintf(number_of, sizeof number_of, "photo %zu", to->is.sightings ? to->sighting[0].example : 0);
  found_name(f, to, "cluster-%.40s-%zu", class, number);
  say_where(to);
  c_locale_print(to->text->what, R4_ERROR_SIZE,
                 "something %s speaks for %.80s to the net: it is on %zu photos; %zu of them, %.0f %%, are %.80s (%.80s"
                 " are %.3g %% of all photos); %.120s shows it best",
                 to->text->where, class, to->is.shown_on, to->is.of_class,
                 100 * (double)to->is.of_class / (double)(to->is.shown_on ? to->is.shown_on : 1), class, class,
                 100 * to->is.base, file ? file : number_of);
}

/* How much purer than a set by chance, 0 to 1, times lean; 0 for one that is no purer than all photos are, or on which
 * the net does not lean. */
static double worth(const struct clue *c)
{
  static const double PURER = .1;
  double purity = c->is.shown_on ? (double)c->is.of_class / (double)c->is.shown_on : 0;
  double purer = c->is.base < 1 ? (purity - c->is.base) / (1 - c->is.base) : 0;
  bool leans = found_leans(&c->is);
  return leans && purer >= PURER && c->is.shown_on >= LEAST ? purer * c->is.lean : 0;
}

static int worthier(const void *a, const void *b)
{
  const struct clue *x = a, *y = b;
  double p = worth(x), q = worth(y);
  if (p != q) return p > q ? -1 : 1;
  return strcmp(x->text->id, y->text->id);
}

/* Clusters behind the first "found" are ordered; those that are worth little go. */
static void choose(r4_found *f, size_t found)
{
  size_t n = f->n - found, kept = 0;
  if (n) qsort(f->at + found, n, sizeof *f->at, worthier);
  while (kept < n && kept < ADDED && worth(f->at + found + kept) > 0) kept++;
  while (f->n > found + kept) found_drop(f);
}

static r4_status add_all(struct clusters *c, r4_found *f)
{
  r4_status s = R4_OK;
  size_t number = 0;
  for (size_t k = 0; !s && k < c->centres; k++) {
    struct clue *to = found_add(f, c->e);
    number = k && c->label[k] == c->label[k - 1] ? number + 1 : 1;
    s = to ? see(c, k, to) : R4_E_MEMORY;
    if (!s) say(c, f, to, number);
  }
  return s;
}

/* On photos of the clue's label: of others the net has another margin. Cells of a scan are small, and what they are
 * part of is around them. */
static r4_status measure_one(const struct clusters *c, struct fill_probe *p, struct clue *clue)
{
  r4_clue own = clue->is;
  own.sightings = clue_own(clue, c->d);
  r4_status s = fill_lean(p, &own, clue->sighting, own.kind == R4_CLUE_CLUSTER ? 0 : 1, c->e);
  clue->is.lean = own.lean;
  clue->is.lean_se = own.lean_se;
  return s;
}

static r4_status measure(struct clusters *c, r4_found *f, const r4_net *n)
{
  struct fill_probe p = {0};
  r4_status s = filling_new(&p, n, c->weights, c->d, c->e);
  for (size_t k = 0; !s && k < f->n; k++) {
    s = measure_one(c, &p, f->at + k);
    find_report(c->o, "filling", k + 1, f->n);
  }
  filling_clear(&p);
  return s;
}

r4_status r4_find_clusters(r4_found *f, const r4_net *n, const float *weights, const r4_data *d,
                           const r4_find_options *options, r4_error *e)
{
  NEEDS(f, "what was found", R4_E_ARGUMENT);
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  r4_error own = {0};
  r4_find_options o = find_options(options);
  struct clusters c = {.d = d, .weights = weights, .o = &o, .e = e ? e : &own};
  size_t found = f->n;
  r4_status s = attribution_fits(n, d, c.e);
  if (!s) s = start(&c, n);
  if (!s) s = each(&c, "explaining", false, take_members);
  if (!s) s = group(&c);
  if (!s) s = compare(&c);
  if (!s) s = add_all(&c, f);
  if (!s) s = measure(&c, f, n);
  if (!s) choose(f, found);
  if (!s) s = found_merge(f, found, o.most, c.e);
  if (!s) s = found_spread(f, c.e);
  while (s && f->n > found) found_drop(f);
  clear(&c);
  return s;
}
