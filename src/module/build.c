/* From the text of a net to its parts, with names, shapes and parameters. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "module/reader.h"

enum { MOST_PARTS = 4096, MOST_DEPTH = 24 };

/* How parts are called: those with a name behind one prefix, those with a number behind another. */
struct scope {
  char named[PARAM_NAME], plain[PARAM_NAME];
  size_t depth;
};

/* What the next part gets. */
struct flow {
  r4_shape shape, image;
};

struct build {
  struct reader *r;
  struct maker *maker;
};

static r4_status build_parts(struct build *b, const struct scope *scope, struct flow *f, struct row *row,
                             r4_error *e);

/* ---- Names ---- */

static r4_status join(const struct build *b, const char *prefix, const char *last, char to[PARAM_NAME],
                      r4_error *e)
{
  int n = snprintf(to, PARAM_NAME, "%s%s%s", prefix, *prefix ? "." : "", last);
  if (n < PARAM_NAME - 32) return R4_OK; /* parameters add their own */
  return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "the name of a part has more than %d characters",
                     PARAM_NAME - 33);
}

static r4_status numbered(const struct build *b, const char *prefix, size_t k, char to[PARAM_NAME],
                          r4_error *e)
{
  char number[24];
  snprintf(number, sizeof number, "%zu", k);
  return join(b, prefix, number, to, e);
}

/* All in brackets is called by their name. */
static struct scope inside(const struct scope *scope, const char *name)
{
  struct scope s = {.depth = scope->depth + 1};
  memcpy(s.named, name, strlen(name) + 1);
  memcpy(s.plain, name, strlen(name) + 1);
  return s;
}

/* An item of a row: where it begins, what it is called, and by what word it begins. */
struct item {
  const char *at;
  size_t number; /* in its row */
  bool has_name;
  char name[PARAM_NAME];
  struct word word;
};

/* What an error calls it: "layer 3" in the net's own row, unless it has a name; and its text. */
static r4_status item_fail(const struct build *b, const struct item *i, const struct scope *scope,
                           const r4_error *why, r4_error *e)
{
  const char *s = i->at, *end = s;
  for (int depth = 0; end < b->r->end && (depth || !strchr(",;)", *end)); end++)
    depth += (*end == '(') - (*end == ')');
  while (end > s && strchr(" \t\r\n", end[-1])) end--;
  int shown = end - s < 60 ? (int)(end - s) : 60;
  if (!i->has_name && !scope->depth)
    return reader_fail(b->r, s, why->status, e, "layer %zu \"%.*s\": %.300s", i->number + 1, shown, s,
                       why->text);
  return reader_fail(b->r, s, why->status, e, "part %.100s \"%.*s\": %.280s", i->name, shown, s, why->text);
}

/* Names go into files, and from there to other programs: letters, digits, _ - and dots. */
static r4_status check_name(const struct reader *r, const struct item *i, r4_error *e)
{
  if (!i->word.s[strspn(i->word.s, ".")])
    return reader_fail(r, r->at, R4_E_PARSE, e, "expected a name before the colon");
  if (!i->word.s[strspn(i->word.s, MODULE_LETTERS)]) return R4_OK;
  return reader_fail(r, i->at, R4_E_PARSE, e, "a name is made of letters, digits, _, - and dots");
}

static r4_status read_head(struct build *b, const struct scope *scope, size_t number, struct item *i,
                           r4_error *e)
{
  struct reader *r = b->r;
  reader_sees(r, 0); /* skips blanks */
  *i = (struct item){.at = r->at, .number = number};
  r4_status s = reader_word(r, &i->word, e);
  if (s) return s;
  if (!reader_sees(r, ':')) return numbered(b, scope->plain, number, i->name, e);
  if ((s = check_name(r, i, e))) return s;
  reader_takes(r, ':');
  i->has_name = true;
  bool whole = i->word.s[0] == '.';
  s = join(b, whole ? "" : scope->named, i->word.s + whole, i->name, e);
  return s ? s : reader_word(r, &i->word, e);
}

/* ---- Parts ---- */

static const struct module_kind *find_kind(const char *name)
{
  const struct module_kind *kind;
  for (size_t k = 0; (kind = module_kind(k)); k++)
    if (!strcmp(kind->name, name)) return kind;
  return NULL;
}

static r4_status unknown_kind(const struct build *b, const char *name, r4_error *why)
{
  struct text known = {0};
  if (reader_defines(b->r, name))
    return r4_fail(why, R4_E_PARSE,
                   "the definition of %s must be used with brackets, and only after it", name);
  for (size_t k = 0; module_kind(k); k++) text_add(&known, "%s%s", k ? ", " : "", module_kind(k)->name);
  char *names = text_done(&known, "a net", why);
  r4_status s =
    names ? r4_fail(why, R4_E_PARSE, "%s; there are %s", *name ? "no such layer" : "expected a part", names)
          : R4_E_MEMORY;
  r4_string_free(names);
  return s;
}

/* Rows in brackets. Parts with names are called as if there were no brackets, unless these have a name themselves. */
static r4_status build_branches(struct build *b, const struct scope *scope, const struct item *i,
                                struct module *m, r4_error *e)
{
  struct scope in = inside(scope, i->name);
  if (!i->has_name) memcpy(in.named, scope->named, sizeof in.named);
  char own[PARAM_NAME];
  memcpy(own, in.plain, sizeof own);
  if (!reader_takes(b->r, '('))
    return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "expected ( and the parts of %s", m->kind->name);
  do {
    if (m->branches == m->kind->most_branches)
      return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "%s has at most %zu branches", m->kind->name,
                         m->kind->most_branches);
    r4_status s = numbered(b, own, m->branches, in.plain, e);
    struct flow f = {m->in, m->image};
    if (!s) s = build_parts(b, &in, &f, &m->branch[m->branches++], e);
    if (s) return s;
  } while (reader_takes(b->r, ';'));
  if (m->branches < m->kind->least_branches)
    return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "expected ; and another branch of %s", m->kind->name);
  if (reader_takes(b->r, ')')) return R4_OK;
  return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "expected , or ; or )");
}

static r4_status check_result(const struct module *m, r4_error *why)
{
  char got[SHAPE_TEXT];
  if (shape_valid(m->out)) return R4_OK;
  return r4_fail(why, R4_E_SHAPE, "its result %s is too large", shape_text(m->out, got));
}

/* Of a vector, the image that its features come from, if they still do, and if it matters: with one channel or one
 * pixel, files have them in the same order. */
static r4_shape image_behind(const struct module *m)
{
  if (m->branches) return m->out_image;
  if (m->kind->flattens && m->in.rank == 3)
    return m->in.dim[2] > 1 && m->in.dim[0] * m->in.dim[1] > 1 ? m->in : (r4_shape){0};
  bool features_stay = m->in.rank == 1 && m->out.rank == 1 && m->in.dim[0] == m->out.dim[0];
  return features_stay && !m->kind->takes_vector ? m->image : (r4_shape){0};
}

static r4_status build_module(struct build *b, const struct scope *scope, const struct item *i,
                              struct flow *f, struct module *m, r4_error *e)
{
  r4_error why = {0};
  *m = (struct module){.kind = find_kind(i->word.s), .in = f->shape, .image = f->image};
  memcpy(m->name, i->name, sizeof m->name);
  r4_status s = m->kind ? module_read_arguments(b->r, m, &why, e) : unknown_kind(b, i->word.s, &why);
  if (!s && m->kind->most_branches) s = build_branches(b, scope, i, m, e);
  if (s && !why.status) return s;
  m->first_param = b->maker->params;
  if (!s) s = m->kind->shape(m, b->maker, &why);
  m->params = b->maker->params - m->first_param;
  if (!s) s = check_result(m, &why);
  if (s) return item_fail(b, i, scope, &why, e);
  m->out_image = image_behind(m);
  *f = (struct flow){m->out, m->out_image};
  return R4_OK;
}

static void module_clear(struct module *m)
{
  for (size_t k = 0; k < m->branches; k++) row_free(&m->branch[k]);
}

void row_free(struct row *row)
{
  for (size_t k = 0; k < row->n; k++) module_clear(&row->part[k]);
  r4_mem_free(row->part);
  *row = (struct row){0};
}

static r4_status add_module(struct build *b, const struct scope *scope, const struct item *i, struct flow *f,
                            struct row *row, r4_error *e)
{
  if (b->maker->parts++ == MOST_PARTS)
    return reader_fail(b->r, i->at, R4_E_SHAPE, e, "a net of more than %d parts", MOST_PARTS);
  struct module *m = module_grow(row->part, row->n, sizeof *m, e);
  if (!m) return R4_E_MEMORY;
  row->part = m;
  m += row->n++;
  r4_status s = build_module(b, scope, i, f, m, e);
  m->follows = m > row->part;
  return s;
}

/* ---- Items that stand for several ---- */

static r4_status build_group(struct build *b, const struct scope *scope, const char *name, struct flow *f,
                             struct row *row, r4_error *e)
{
  struct scope in = inside(scope, name);
  if (!reader_takes(b->r, '('))
    return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "expected ( and a row of parts");
  r4_status s = build_parts(b, &in, f, row, e);
  if (s || reader_takes(b->r, ')')) return s;
  return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "expected , or )");
}

static r4_status build_one(struct build *b, const struct scope *scope, const struct item *i, struct flow *f,
                           struct row *row, r4_error *e);

/* The item behind it N times: called by its own numbers behind a name, or by those that it takes in its row. number
 * becomes that of the last. */
static r4_status build_repeat(struct build *b, const struct scope *scope, const struct item *i,
                              struct flow *f, struct row *row, size_t *number, r4_error *e)
{
  struct word w;
  int64_t times;
  r4_status s = reader_word(b->r, &w, e);
  if (!s && !word_whole(&w, 1, &times))
    return reader_fail(b->r, i->at, R4_E_PARSE, e,
                       "\"%.40s\" is not understood; write repeat N (PARTS)", w.s);
  reader_sees(b->r, 0); /* skips blanks */
  const char *begin = b->r->at;
  for (int64_t k = 0; !s && k < times; k++) {
    struct item each = {
      .at = begin, .number = i->number + (i->has_name ? 0 : (size_t)k), .has_name = i->has_name};
    b->r->at = begin;
    s = i->has_name ? numbered(b, i->name, (size_t)k, each.name, e)
                    : numbered(b, scope->plain, each.number, each.name, e);
    if (!s) s = reader_word(b->r, &each.word, e);
    if (!s) s = build_one(b, scope, &each, f, row, e);
  }
  if (!s && !i->has_name) *number += (size_t)times - 1;
  return s;
}

static r4_status read_values(struct build *b, const struct definition *d, struct frame *frame, r4_error *e)
{
  size_t n = 0;
  r4_status s = R4_OK;
  const char *at = b->r->at;
  reader_takes(b->r, '(');
  while (!s && !reader_takes(b->r, ')')) {
    struct word w;
    s = reader_word(b->r, &w, e);
    if (!s && !*w.s) return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "expected a value or )");
    if (n < d->arguments) frame->value[n] = w;
    n++;
    reader_takes(b->r, ',');
  }
  if (s || n == d->arguments) return s;
  return reader_fail(b->r, at, R4_E_PARSE, e, "%s takes %zu value%s, not %zu", d->name.s, d->arguments,
                     d->arguments == 1 ? "" : "s", n);
}

/* What it stands for is read in its place. It can use definitions before it only, so that there is an end. */
static r4_status build_definition(struct build *b, const struct scope *scope, const struct item *i,
                                  const struct definition *d, struct flow *f, struct row *row, r4_error *e)
{
  struct frame frame = {.of = d};
  struct scope in = inside(scope, i->name);
  r4_status s = read_values(b, d, &frame, e);
  if (s) return s;
  struct reader *r = b->r;
  const char *at = r->at, *end = r->end;
  const struct frame *outer = r->frame;
  size_t usable = r->usable;
  r->at = d->body;
  r->end = d->end;
  r->frame = &frame;
  r->usable = (size_t)(d - r->definition);
  s = build_parts(b, &in, f, row, e);
  if (!s && !reader_done(r))
    s = reader_fail(r, r->at, R4_E_PARSE, e, "expected a comma, or } after the parts of %s", d->name.s);
  r->at = at;
  r->end = end;
  r->frame = outer;
  r->usable = usable;
  return s;
}

static r4_status build_one(struct build *b, const struct scope *scope, const struct item *i, struct flow *f,
                           struct row *row, r4_error *e)
{
  const struct definition *d = reader_definition(b->r, i->word.s);
  if (!*i->word.s && reader_sees(b->r, '(')) return build_group(b, scope, i->name, f, row, e);
  if (d && reader_sees(b->r, '(')) return build_definition(b, scope, i, d, f, row, e);
  return add_module(b, scope, i, f, row, e);
}

static r4_status build_item(struct build *b, const struct scope *scope, size_t *number, struct flow *f,
                            struct row *row, r4_error *e)
{
  struct item i;
  r4_status s = read_head(b, scope, *number, &i, e);
  if (s) return s;
  if (word_is(&i.word, "repeat")) return build_repeat(b, scope, &i, f, row, number, e);
  return build_one(b, scope, &i, f, row, e);
}

static r4_status build_parts(struct build *b, const struct scope *scope, struct flow *f, struct row *row,
                             r4_error *e)
{
  size_t number = 0;
  r4_status s = R4_OK;
  if (scope->depth > MOST_DEPTH)
    return reader_fail(b->r, b->r->at, R4_E_PARSE, e, "brackets within brackets, more than %d deep",
                       MOST_DEPTH);
  do {
    s = build_item(b, scope, &number, f, row, e);
    number++;
  } while (!s && reader_takes(b->r, ','));
  return s;
}

r4_status build_row(struct reader *r, struct maker *maker, r4_shape input, struct row *row, r4_error *e)
{
  struct build b = {r, maker};
  struct flow f = {.shape = input};
  r4_status s = build_parts(&b, &(struct scope){0}, &f, row, e);
  if (!s && !reader_done(r))
    s = reader_fail(r, r->at, R4_E_PARSE, e, "unexpected \"%.1s\", expected a comma or the end", r->at);
  return s;
}
