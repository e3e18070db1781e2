/* The purity scan of texts: words, words after each other, words at an end, and lengths that tell the label. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/hypergeometric.h"
#include "base/mem.h"
#include "find/find.h"
#include "find/giveaway.h"
#include "find/ranking.h"
#include "find/word_table.h"

enum { TEXTS = 100000, WORDS = 1 << 16, LEAST = 20, CONSIDERED = 400 };

/* Shares of the level, fixed before: of kinds of words, and of the length, long and short. */
static const double weight[WORD_CUES] = {
  [CUE_WORD] = .45, [CUE_PHRASE] = .2, [CUE_FIRST] = .15, [CUE_LAST] = .1};
static const double length_weight[SET_KINDS] = {[SET_PURE] = .04, [SET_MOSTLY] = .03, [SET_SAME] = .03};

static const r4_clue_kind kinds[WORD_CUES] = {[CUE_WORD] = R4_CLUE_WORD,
                                              [CUE_PHRASE] = R4_CLUE_PHRASE,
                                              [CUE_FIRST] = R4_CLUE_POSITION,
                                              [CUE_LAST] = R4_CLUE_POSITION};

/* A cue of words that tells, or, without a key, a set of lengths. */
struct telling_word {
  uint64_t key;
  enum word_cue cue;
  uint32_t example, at; /* one that has it */
  int32_t label;
  bool low;       /* short texts */
  float from, to; /* lengths */
  double log_p;
  size_t texts, of_class, looked_at, class; /* those that show it, and all; of its class */
};

struct text_scan {
  const r4_data *d;
  const r4_find_options *o;
  r4_error *e;
  struct text_look how;
  size_t n;
  uint32_t *text;         /* [n]: numbers of examples */
  int32_t *label;         /* [n] */
  size_t *all;            /* [classes] */
  float *length;          /* [n] */
  struct text_word *word; /* of the text in hand */
  struct word_table table;
  struct telling_word *telling;
  size_t tellings, room;
  uint64_t tried;
};

static void scan_clear(struct text_scan *s)
{
  r4_mem_free(s->text);
  r4_mem_free(s->label);
  r4_mem_free(s->all);
  r4_mem_free(s->length);
  r4_mem_free(s->word);
  r4_mem_free(s->telling);
  word_table_clear(&s->table);
}

static r4_status make_room(struct text_scan *s)
{
  size_t classes = s->d->classes->n;
  s->label = mem_new(s->n, sizeof *s->label, "labels", s->e);
  s->all = mem_new(classes, sizeof *s->all, "labels", s->e);
  s->length = mem_new(s->n, sizeof *s->length, "lengths", s->e);
  s->word = mem_new(WORDS, sizeof *s->word, "words", s->e);
  if (!s->label || !s->all || !s->length || !s->word) return R4_E_MEMORY;
  for (size_t k = 0; k < s->n; k++) s->all[s->label[k] = s->d->record[s->text[k]].label]++;
  return word_table_new(&s->table, classes, s->e);
}

static r4_status count(struct text_scan *s)
{
  r4_status status = R4_OK;
  for (size_t k = 0; !status && k < s->n; k++) {
    size_t words = text_words(s->d, s->text[k], &s->how, s->word, WORDS);
    s->length[k] = (float)words;
    status = word_table_add(&s->table, s->word, words, (uint32_t)k, s->text[k], s->label[k], s->e);
    if (k % 500 == 499 || k + 1 == s->n) find_report(s->o, "looking", k + 1, s->n);
  }
  return status;
}

static r4_status keep(struct text_scan *s, struct telling_word w, double tests)
{
  w.log_p += log(tests);
  w.looked_at = s->n;
  w.class = s->all[w.label];
  if (!(w.log_p <= log(s->o->level))) return R4_OK;
  r4_status status = mem_more(&s->telling, &s->room, s->tellings + 1, sizeof w, "what tells", s->e);
  if (!status) s->telling[s->tellings++] = w;
  return status;
}

/* ---- Words ---- */

/* Words that are in a few texts, or in most, say nothing; which these are does not depend on labels. */
static bool is_tried(const struct text_scan *s, const struct word_entry *w)
{
  return w->key && w->texts >= LEAST && 2 * (size_t)w->texts <= s->n;
}

static r4_status test_words(struct text_scan *s)
{
  size_t classes = s->d->classes->n, present = 0;
  double tests[WORD_CUES] = {0};
  r4_status status = R4_OK;
  for (size_t c = 0; c < classes; c++) present += s->all[c] > 0;
  for (size_t k = 0; k < s->table.slots; k++)
    if (is_tried(s, s->table.entry + k)) tests[s->table.entry[k].cue] += (double)present;
  for (size_t k = 0; k < WORD_CUES; k++) s->tried += (uint64_t)tests[k];
  for (size_t k = 0; !status && k < s->table.slots; k++) {
    const struct word_entry *w = s->table.entry + k;
    if (!is_tried(s, w)) continue;
    for (size_t c = 0; !status && c < classes; c++) {
      size_t of_class = s->table.of_class[k * classes + c];
      if (of_class * s->n <= s->all[c] * w->texts) continue;
      double log_p = hypergeometric_tail(s->n, s->all[c], w->texts, of_class);
      struct telling_word t = {.key = w->key,
                               .cue = w->cue,
                               .example = w->example,
                               .at = w->at,
                               .label = (int32_t)c,
                               .log_p = log_p,
                               .texts = w->texts,
                               .of_class = of_class};
      status = keep(s, t, tests[w->cue] / weight[w->cue]);
    }
  }
  return status;
}

/* ---- Lengths ---- */

static r4_status test_lengths(struct text_scan *s)
{
  struct ranking r = {0};
  struct tries t = {0};
  uint64_t tests[SET_KINDS] = {0};
  r4_status status = ranking_new(&r, s->n, s->d->classes->n, s->label, s->e);
  for (t.cue = 0; !status && t.cue < 2; t.cue++) {
    ranking_make(&r, s->length);
    status = ranking_try(&r, &t, tests, s->e);
    for (size_t k = 0; k < s->n; k++) s->length[k] = -s->length[k];
  }
  for (size_t k = 0; k < SET_KINDS; k++) s->tried += tests[k];
  for (size_t k = 0; !status && k < t.n; k++) {
    const struct telling *a = t.at + k;
    bool low = a->cue == 1;
    struct telling_word w = {.label = a->label,
                             .low = low,
                             .from = low ? -a->high : a->low,
                             .to = low ? -a->low : a->high,
                             .log_p = a->log_p,
                             .texts = a->m,
                             .of_class = a->of_class};
    status = keep(s, w, (double)tests[a->kind] / length_weight[a->kind]);
  }
  r4_mem_free(t.at);
  ranking_clear(&r);
  return status;
}

/* ---- Order, and the fewest that say it all ---- */

static struct giveaway giveaway_of(const struct telling_word *t)
{
  return (struct giveaway){t->texts, t->of_class, t->looked_at, t->class};
}

static bool leads(const struct telling_word *t)
{
  return giveaway_leads(giveaway_of(t));
}

/* What leads (pure, or much of a class) by p, then the others by the share of the class that they give away. */
static int before(const void *a, const void *b)
{
  const struct telling_word *x = a, *y = b;
  double p = giveaway_share(giveaway_of(x)), q = giveaway_share(giveaway_of(y));
  if (leads(x) != leads(y)) return leads(x) ? -1 : 1;
  if (!leads(x) && p != q) return p > q ? -1 : 1;
  p = giveaway_order(giveaway_of(x), x->log_p), q = giveaway_order(giveaway_of(y), y->log_p);
  if (p != q) return p < q ? -1 : 1;
  if (x->cue != y->cue) return x->cue < y->cue ? -1 : 1;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* A cue that is looked for. */
struct wanted {
  uint64_t key;
  size_t k; /* its number in the caller's list */
  const struct telling_word *is;
};

static int by_key(const void *a, const void *b)
{
  const struct wanted *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* The first of those that are sorted whose key is not less. */
static size_t first_of(const struct wanted *w, size_t n, uint64_t key)
{
  size_t low = 0;
  while (n) {
    size_t half = n / 2;
    bool less = w[low + half].key < key;
    low += less ? half + 1 : 0;
    n = less ? n - half - 1 : half;
  }
  return low;
}

/* at[w.k]: the token where a text of so many words, in s->word, has each of the n that are wanted; -1 for a length;
 * NOWHERE: it does not have it. */
enum { NOWHERE = -2 };

static void look_for(const struct text_scan *s, size_t words, const struct wanted *w, size_t n, int64_t *at)
{
  for (size_t j = 0; j < n; j++) {
    bool fits = !w[j].key && (float)words >= w[j].is->from && (float)words <= w[j].is->to;
    at[w[j].k] = fits ? -1 : NOWHERE;
  }
  for (size_t k = 0; k < words; k++)
    for (enum word_cue cue = 0; cue < WORD_CUES; cue++) {
      uint64_t key = word_key(s->word, words, k, cue);
      for (size_t j = key ? first_of(w, n, key) : n; j < n && w[j].key == key; j++)
        if (at[w[j].k] == NOWHERE) at[w[j].k] = (int64_t)s->word[k].at;
    }
}

static bool is_told(const struct text_scan *s, size_t one, const size_t *kept, size_t n, const bool *shows)
{
  for (size_t j = 0; j < n; j++) {
    const struct telling_word *a = s->telling + one, *b = s->telling + kept[j];
    size_t common = 0;
    for (size_t k = 0; k < s->n; k++)
      common += s->label[k] == a->label && shows[one * s->n + k] && shows[kept[j] * s->n + k];
    if (a->label == b->label && giveaway_is_told(a->of_class, b->of_class, common, a->class)) return true;
  }
  return false;
}

/* Which of the first n cues each text shows: shows[k * s->n + text]. */
static void mark(struct text_scan *s, struct wanted *w, size_t n, bool *shows)
{
  int64_t at[CONSIDERED];
  for (size_t k = 0; k < n; k++) w[k] = (struct wanted){s->telling[k].key, k, s->telling + k};
  qsort(w, n, sizeof *w, by_key);
  for (size_t k = 0; k < s->n; k++) {
    look_for(s, text_words(s->d, s->text[k], &s->how, s->word, WORDS), w, n, at);
    for (size_t j = 0; j < n; j++) shows[j * s->n + k] = at[j] != NOWHERE;
    if (k % 500 == 499 || k + 1 == s->n) find_report(s->o, "testing", k + 1, s->n);
  }
}

/* Moves those that are kept to the front; *n becomes their number. */
static r4_status choose(struct text_scan *s, size_t *n)
{
  size_t considered = s->tellings < CONSIDERED ? s->tellings : CONSIDERED, kept[CONSIDERED];
  struct wanted w[CONSIDERED];
  *n = 0;
  if (!considered) return R4_OK;
  bool *shows = mem_new(considered, s->n, "what tells", s->e);
  if (!shows) return R4_E_MEMORY;
  qsort(s->telling, s->tellings, sizeof *s->telling, before);
  mark(s, w, considered, shows);
  for (size_t j = 0; j < considered && *n < s->o->most; j++)
    if (!is_told(s, j, kept, *n, shows)) kept[(*n)++] = j;
  for (size_t k = 0; k < *n; k++) s->telling[k] = s->telling[kept[k]];
  r4_mem_free(shows);
  return R4_OK;
}

/* ---- Clues ---- */

static void say_numbers(char *to, size_t size, const struct text_scan *s, const struct telling_word *t)
{
  double base = 100 * (double)s->all[t->label] / (double)s->n;
  const char *class = s->d->classes->name[t->label];
  if (t->texts == t->of_class)
    c_locale_print(to, size, "%zu texts, all of them %.80s (%.80s are %.3g %% of all texts)", t->texts, class, class,
                   base);
  else
    c_locale_print(to, size, "%zu texts, %zu of them, %.0f %%, %.80s (%.80s are %.3g %% of all texts)", t->texts,
                   t->of_class, 100 * (double)t->of_class / (double)t->texts, class, class, base);
}

static void say_length(r4_found *f, struct clue *c, const struct telling_word *t, const char *numbers)
{
  c->is.kind = R4_CLUE_LENGTH;
  snprintf(c->text->where, FIND_WHERE, "the length");
  c_locale_print(c->text->what, R4_ERROR_SIZE, "the text has %.0f to %.0f words in %s", (double)t->from,
                 (double)t->to, numbers);
  found_name(f, c, "length-%s", t->low ? "short" : "long");
}

/* The words, and what to mask: "bad", "very, bad". */
static r4_status say_words(struct text_scan *s, r4_found *f, struct clue *c, const struct telling_word *t,
                           const char *numbers)
{
  static const char *const where[WORD_CUES] = {"anywhere", "anywhere", "the beginning", "the end"};
  static const char *const format[WORD_CUES] = {"the word \"%s\" is in %s", "the words \"%s\" are in %s",
                                                "the word \"%s\" begins %s", "the word \"%s\" ends %s"};
  static const char *const short_name[WORD_CUES] = {"word", "phrase", "first", "last"};
  struct text words = {0}, mask = {0};
  text_words(s->d, t->example, &s->how, s->word, WORDS);
  for (size_t k = t->at; k < t->at + 1 + (t->cue == CUE_PHRASE); k++) {
    if (k > t->at) text_add(&words, " "), text_add(&mask, ", ");
    text_of_tokens(&words, s->d, t->example, s->word[k].at, s->word[k].n);
    text_of_tokens(&mask, s->d, t->example, s->word[k].at, s->word[k].n);
  }
  char *said = text_done(&words, "a word", s->e);
  c->word = text_done(&mask, "a word", s->e);
  if (said) {
    char part[100];
    c_locale_print(part, sizeof part, "%.80s", said);
    c->is.kind = kinds[t->cue];
    snprintf(c->text->where, FIND_WHERE, "%s", where[t->cue]);
    snprintf(c->text->what, R4_ERROR_SIZE, format[t->cue], part, numbers);
    found_name(f, c, "%s-%s", short_name[t->cue], part);
  }
  r4_string_free(said);
  return said && c->word ? R4_OK : R4_E_MEMORY;
}

static r4_status add(struct text_scan *s, r4_found *f, const struct telling_word *t)
{
  char numbers[320];
  struct clue *c = found_add(f, s->e);
  if (!c) return R4_E_MEMORY;
  c->is.label = t->label;
  c->is.shown_on = t->texts;
  c->is.of_class = t->of_class;
  c->is.base = (double)s->all[t->label] / (double)s->n;
  c->is.p = exp(t->log_p);
  c->is.pure = giveaway_is_pure(giveaway_of(t));
  c->is.local = t->key != 0;
  say_numbers(numbers, sizeof numbers, s, t);
  if (t->key) return say_words(s, f, c, t, numbers);
  say_length(f, c, t, numbers);
  return R4_OK;
}

/* On texts of all parts. */
static r4_status see_all(struct text_scan *s, r4_found *f)
{
  size_t room[CONSIDERED] = {0};
  struct wanted w[CONSIDERED];
  r4_status status = R4_OK;
  for (size_t k = 0; k < f->n; k++) w[k] = (struct wanted){s->telling[k].key, k, s->telling + k};
  if (f->n) qsort(w, f->n, sizeof *w, by_key);
  for (size_t i = 0; !status && f->n && i < s->d->n; i++) {
    int64_t at[CONSIDERED];
    look_for(s, text_words(s->d, i, &s->how, s->word, WORDS), w, f->n, at);
    for (size_t k = 0; !status && k < f->n; k++)
      if (at[k] != NOWHERE)
        status =
          clue_sight(f->at + k, room + k, (r4_sighting){.example = i, .score = 1, .token = at[k]}, s->e);
  }
  for (size_t k = 0; !status && k < f->n; k++) status = clue_order(f->at + k, s->d, s->e);
  return status;
}

static r4_status tell(struct text_scan *s, r4_found *f)
{
  size_t n = 0;
  r4_status status = choose(s, &n);
  for (size_t k = 0; !status && k < n; k++) status = add(s, f, s->telling + k);
  if (!status) status = see_all(s, f);
  f->tried = s->tried;
  return status;
}

r4_status find_in_texts(r4_found *f, const r4_data *d, const r4_find_options *o, r4_error *e)
{
  struct text_scan s = {.d = d, .o = o, .e = e, .how = text_look_of(d, o->masked)};
  r4_status status = find_choose(d, o->all, TEXTS, &s.text, &s.n, e);
  if (!status) status = make_room(&s);
  if (!status) status = count(&s);
  if (!status) status = test_words(&s);
  if (!status) status = test_lengths(&s);
  if (!status) status = tell(&s, f);
  scan_clear(&s);
  return status;
}
