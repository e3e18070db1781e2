#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/text.h"
#include "find/find.h"

static const char *const kinds[R4_CLUE_KINDS] = {
  [R4_CLUE_BRIGHTNESS] = "brightness", [R4_CLUE_COLOUR] = "colour",
  [R4_CLUE_EDGES] = "edges",           [R4_CLUE_BORDER] = "border",
  [R4_CLUE_PLACE] = "place",           [R4_CLUE_WORD] = "word",
  [R4_CLUE_PHRASE] = "phrase",         [R4_CLUE_POSITION] = "position",
  [R4_CLUE_LENGTH] = "length",         [R4_CLUE_FILE] = "file",
  [R4_CLUE_CLUSTER] = "cluster"};

const char *r4_clue_kind_name(r4_clue_kind kind)
{
  return (unsigned)kind < R4_CLUE_KINDS ? kinds[kind] : NULL;
}

char *r4_clue_leaning(const r4_clue *c)
{
  struct text t = {0};
  if (!c || isnan(c->lean)) return NULL;
  if (!found_leans(c))
    text_add(&t, "painted over: no measurable effect on the net");
  else if (c->lean > 1)
    text_add(&t, "painted over, the prediction of the net turns");
  else
    text_add(&t, "painted over, the net loses %.0f %% of its margin", 100 * c->lean);
  return text_take(&t);
}

/* ---- Options ---- */

r4_find_options find_options(const r4_find_options *o)
{
  r4_find_options all = o ? *o : (r4_find_options){0};
  if (!all.most) all.most = 20;
  if (!(all.level > 0)) all.level = .05;
  return all;
}

void find_report(const r4_find_options *o, const char *stage, size_t done, size_t all)
{
  if (o->report) o->report(stage, done, all, o->user);
}

/* ---- The list ---- */

struct r4_found *found_new(const r4_find_options *o, r4_error *e)
{
  struct r4_found *f = mem_new(1, sizeof *f, "what is found", e);
  if (f) f->level = o->level;
  return f;
}

static void clue_clear(struct clue *c)
{
  r4_mem_free(c->sighting);
  r4_mem_free(c->text);
  r4_mem_free(c->word);
}

void r4_found_free(r4_found *f)
{
  if (!f) return;
  for (size_t k = 0; k < f->n; k++) clue_clear(f->at + k);
  r4_mem_free(f->at);
  r4_mem_free(f);
}

size_t r4_found_count(const r4_found *f)
{
  return f ? f->n : 0;
}

uint64_t r4_found_tried(const r4_found *f)
{
  return f ? f->tried : 0;
}

r4_clue r4_found_at(const r4_found *f, size_t k)
{
  if (k >= r4_found_count(f)) return (r4_clue){0};
  const struct clue *c = f->at + k;
  r4_clue is = c->is;
  is.id = c->text->id;
  is.what = c->text->what;
  is.where = c->text->where;
  is.words = c->word;
  is.sighting = c->sighting;
  return is;
}

/* It has a place in some image, or words. */
static bool can_be_marked(const r4_clue *c)
{
  for (size_t k = 0; k < c->sightings; k++)
    if (c->sighting[k].box[2] > 0) return true;
  return c->words;
}

size_t r4_found_markable(const r4_found *f)
{
  size_t n = r4_found_count(f), k = 0;
  for (; k < n; k++) {
    r4_clue c = r4_found_at(f, k);
    if (can_be_marked(&c)) break;
  }
  return k;
}

struct clue *found_add(struct r4_found *f, r4_error *e)
{
  struct clue_text *text = mem_new(1, sizeof *text, "a clue", e);
  if (!text || mem_more(&f->at, &f->room, f->n + 1, sizeof *f->at, "clues", e)) {
    r4_mem_free(text);
    return NULL;
  }
  f->at[f->n] = (struct clue){.text = text, .is = {.lean = NAN, .lean_se = NAN, .p = NAN}};
  return f->at + f->n++;
}

void found_drop(struct r4_found *f)
{
  clue_clear(f->at + --f->n);
}

/* ---- Names ---- */

static bool is_taken(const struct r4_found *f, const struct clue *c)
{
  for (size_t k = 0; k < f->n; k++)
    if (f->at + k != c && !strcmp(f->at[k].text->id, c->text->id)) return true;
  return false;
}

/* Runs of anything else than letters and digits become one "-", and none is at an end. */
static void tidy(char *id)
{
  char *to = id;
  for (const char *from = id; *from; from++) {
    char c = *from >= 'A' && *from <= 'Z' ? (char)(*from - 'A' + 'a') : *from;
    bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      *to++ = c;
    else if (to > id && to[-1] != '-')
      *to++ = '-';
  }
  if (to > id && to[-1] == '-') to--;
  *to = 0;
}

void found_name(struct r4_found *f, struct clue *c, const char *format, ...)
{
  char name[FIND_ID - 8];
  va_list list;
  va_start(list, format);
  c_locale_vprint(name, sizeof name, format, list);
  va_end(list);
  tidy(name);
  snprintf(c->text->id, FIND_ID, "%s", *name ? name : "clue");
  for (size_t k = 2; is_taken(f, c); k++) snprintf(c->text->id, FIND_ID, "%s-%zu", *name ? name : "clue", k);
}

/* ---- Sightings ---- */

r4_status clue_sight(struct clue *c, size_t *room, r4_sighting s, r4_error *e)
{
  r4_status status = mem_more(&c->sighting, room, c->is.sightings + 1, sizeof s, "what shows a clue", e);
  if (!status) c->sighting[c->is.sightings++] = s;
  return status;
}

static int clearer(const void *a, const void *b)
{
  const r4_sighting *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->example < y->example ? -1 : x->example > y->example;
}

size_t clue_own(const struct clue *c, const r4_data *d)
{
  size_t n = 0;
  for (size_t k = 0; k < c->is.sightings; k++) n += d->record[c->sighting[k].example].label == c->is.label;
  return n;
}

/* Moves those of the label to the front, in order; room for all. */
static void own_first(struct clue *c, const r4_data *d, r4_sighting *room)
{
  size_t n = c->is.sightings, own = 0, others = 0;
  for (size_t k = 0; k < n; k++) {
    if (d->record[c->sighting[k].example].label == c->is.label)
      c->sighting[own++] = c->sighting[k];
    else
      room[others++] = c->sighting[k];
  }
  if (others) memcpy(c->sighting + own, room, others * sizeof *room);
}

r4_status clue_order(struct clue *c, const r4_data *d, r4_error *e)
{
  size_t n = c->is.sightings;
  if (!n) return R4_OK;
  r4_sighting *room = mem_new(n, sizeof *room, "what shows a clue", e);
  if (!room) return R4_E_MEMORY;
  qsort(c->sighting, n, sizeof *c->sighting, clearer);
  double high = c->sighting[0].score, low = c->sighting[n - 1].score;
  for (size_t k = 0; k < n; k++)
    c->sighting[k].score = high > low ? (c->sighting[k].score - low) / (high - low) : 1;
  own_first(c, d, room);
  r4_mem_free(room);
  return R4_OK;
}

/* ---- Which examples ---- */

static r4_status check_classes(const r4_data *d, const uint32_t *example, size_t n, r4_error *e)
{
  if (!n) return r4_fail(e, R4_E_ARGUMENT, "there are no examples to look at");
  for (size_t k = 1; k < n; k++)
    if (d->record[example[k]].label != d->record[example[0]].label) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "all examples that are looked at are of one class, \"%s\": nothing can give it away",
                 d->classes->name[d->record[example[0]].label]);
}

/* The j-th that is kept of all that qualify is number floor(j all / kept). */
static size_t spread(uint32_t *example, size_t all, size_t most)
{
  size_t kept = all < most ? all : most;
  for (size_t j = 0; j < kept; j++) example[j] = example[j * all / kept];
  return kept;
}

r4_status find_choose(const r4_data *d, bool all, size_t most, uint32_t **example, size_t *n, r4_error *e)
{
  bool *seen = mem_new(d->ids ? d->ids->n + 1 : 1, sizeof *seen, "ids", e);
  size_t chosen = 0;
  *example = seen ? mem_new(d->n ? d->n : 1, sizeof **example, "examples", e) : NULL;
  for (size_t i = 0; *example && i < d->n; i++) {
    const struct record *r = d->record + i;
    bool has_id = d->ids && r->id != DATA_NO_ID;
    if ((!all && r->split != R4_TRAIN) || (has_id && seen[r->id])) continue;
    if (has_id) seen[r->id] = true;
    (*example)[chosen++] = (uint32_t)i;
  }
  r4_mem_free(seen);
  if (!*example) return R4_E_MEMORY;
  *n = spread(*example, chosen, most);
  r4_status s = check_classes(d, *example, *n, e);
  if (s) r4_mem_free(*example), *example = NULL;
  return s;
}
