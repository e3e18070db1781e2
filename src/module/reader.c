#include "module/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/text.h"

/* ---- Places and messages ---- */

static void place_of(const struct reader *r, const char *at, size_t *line, size_t *column)
{
  *line = *column = 1;
  for (const char *s = r->text; s < at; s++) {
    ++*column;
    if (*s == '\n') ++*line, *column = 1;
  }
}

r4_status reader_fail(const struct reader *r, const char *at, r4_status status, r4_error *e,
                      const char *format, ...)
{
  char text[R4_ERROR_SIZE];
  size_t line, column;
  va_list args;
  va_start(args, format);
  c_locale_vprint(text, sizeof text, format, args);
  va_end(args);
  place_of(r, at, &line, &column);
  if (r->name) return r4_fail(e, status, "%.100s:%zu:%zu: %.380s", r->name, line, column, text);
  return r4_fail(e, status, "net: column %zu: %.480s", (size_t)(at - r->text) + 1, text);
}

/* ---- Words ---- */

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool ends_word(char c)
{
  return !c || is_space(c) || strchr(",();:{}=#", c);
}

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip(struct reader *r)
{
  bool comment = false;
  for (; r->at < r->end && (comment || is_space(*r->at) || *r->at == '#'); r->at++)
    comment = (comment || *r->at == '#') && *r->at != '\n';
}

bool reader_sees(struct reader *r, char c)
{
  skip(r);
  return r->at < r->end && *r->at == c;
}

bool reader_takes(struct reader *r, char c)
{
  bool there = reader_sees(r, c);
  r->at += there;
  return there;
}

bool reader_done(struct reader *r)
{
  skip(r);
  return r->at == r->end;
}

bool word_is(const struct word *w, const char *s)
{
  return !strcmp(w->s, s);
}

static const struct word *value_of(const struct reader *r, const char *name, size_t n)
{
  const struct frame *f = r->frame;
  for (size_t k = 0; f && k < f->of->arguments; k++)
    if (strlen(f->of->argument[k].s) == n && !memcmp(f->of->argument[k].s, name, n)) return &f->value[k];
  for (size_t k = 0; k < r->params; k++)
    if (strlen(r->param[k].name.s) == n && !memcmp(r->param[k].name.s, name, n)) return &r->param[k].value;
  return NULL;
}

static r4_status append(const struct reader *r, struct word *w, const char *s, size_t n, r4_error *e)
{
  size_t length = strlen(w->s);
  if (length + n >= sizeof w->s)
    return reader_fail(r, r->at, R4_E_PARSE, e, "a word of more than %d characters", WORD_SIZE - 1);
  memcpy(w->s + length, s, n);
  w->s[length + n] = 0;
  return R4_OK;
}

r4_status reader_word(struct reader *r, struct word *w, r4_error *e)
{
  r4_status s = R4_OK;
  *w = (struct word){0};
  skip(r);
  while (!s && r->at < r->end && !ends_word(*r->at)) {
    if (*r->at != '$') {
      s = append(r, w, r->at, 1, e);
      r->at++;
      continue;
    }
    const char *name = ++r->at;
    while (r->at < r->end && is_letter(*r->at)) r->at++;
    size_t n = (size_t)(r->at - name);
    const struct word *value = value_of(r, name, n);
    if (!value)
      return reader_fail(r, name, R4_E_PARSE, e, "$%.*s has no value here", n < 40 ? (int)n : 40, name);
    s = append(r, w, value->s, strlen(value->s), e);
  }
  return s;
}

bool number_parse(const char **s, const char *end, int64_t lowest, int64_t *value)
{
  const char *from = *s;
  *value = 0;
  for (; *s < end && **s >= '0' && **s <= '9'; ++*s) {
    *value = 10 * *value + (**s - '0');
    if (*value > 1000000000) return false;
  }
  return *s > from && *value >= lowest;
}

bool word_whole(const struct word *w, int64_t least, int64_t *value)
{
  const char *s = w->s, *end = s + strlen(s);
  int64_t product, factor;
  if (!number_parse(&s, end, 0, &product)) return false;
  while (s < end) {
    if (*s++ != '*' || !number_parse(&s, end, 0, &factor)) return false;
    product *= factor; /* both are at most 10^9 */
    if (product > 1000000000) return false;
  }
  *value = product;
  return product >= least;
}

bool word_real(const char *s, double *value)
{
  char *end;
  if (!((*s >= '0' && *s <= '9') || *s == '.')) return false; /* no sign, blank, infinity or hexadecimal */
  if (strpbrk(s, "xXnN")) return false;
  *value = c_locale_real(s, &end);
  return end > s && !*end && *value < 1e300;
}

/* ---- The lines before the row ---- */

void reader_open(struct reader *r, const char *name, const char *text, size_t size)
{
  *r = (struct reader){.name = name, .text = text, .at = text, .end = text + size};
}

static struct choice *find_param(struct reader *r, const char *name)
{
  for (size_t k = 0; k < r->params; k++)
    if (word_is(&r->param[k].name, name)) return &r->param[k];
  return NULL;
}

r4_status reader_set(struct reader *r, const char *name, const char *value, r4_error *e)
{
  struct choice *c = find_param(r, name);
  if (c && strlen(value) < WORD_SIZE && *value && !value[strcspn(value, " \t\r\n,();:{}=#$")]) {
    memcpy(c->value.s, value, strlen(value) + 1);
    c->chosen = true;
    return R4_OK;
  }
  if (c)
    return r4_fail(e, R4_E_ARGUMENT,
                   "net %.60s: %.40s is \"%.60s\", expected a word of at most %d characters", r->name, name,
                   value, WORD_SIZE - 1);
  struct text known = {0};
  for (size_t k = 0; k < r->params; k++) text_add(&known, "%s%s", k ? ", " : "", r->param[k].name.s);
  char *names = text_take(&known);
  r4_status s = r4_fail(e, R4_E_ARGUMENT, "net %.60s: has no \"%.40s\"; there are %.300s", r->name, name,
                        names ? (*names ? names : "no parameters") : "others");
  r4_string_free(names);
  return s;
}

/* What is left of the line. */
static bool line_goes_on(struct reader *r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
  return r->at < r->end && *r->at != '\n' && *r->at != '#';
}

static r4_status read_param(struct reader *r, r4_error *e)
{
  struct choice c = {0};
  const char *at = r->at;
  struct word *const each[] = {&c.name, &c.value, &c.key};
  r4_status s = R4_OK;
  for (size_t k = 0; k < 3 && !s && line_goes_on(r); k++) s = reader_word(r, each[k], e);
  if (s) return s;
  if (!*c.name.s || !*c.value.s || line_goes_on(r))
    return reader_fail(r, at, R4_E_PARSE, e, "expected param NAME VALUE, or param NAME VALUE KEY");
  struct choice *known = find_param(r, c.name.s);
  if (known) { /* read before; a value may depend on what was chosen since */
    if (!known->chosen) known->value = c.value;
    return R4_OK;
  }
  if (r->params == READER_PARAMS)
    return reader_fail(r, at, R4_E_PARSE, e, "more than %d parameters", READER_PARAMS);
  r->param[r->params++] = c;
  return R4_OK;
}

static r4_status read_input(struct reader *r, r4_error *e)
{
  const char *at = r->at;
  r->input = (r4_shape){0};
  r->any_size = false;
  r->least = 1;
  while (line_goes_on(r)) {
    struct word w;
    r4_status s = reader_word(r, &w, e);
    if (s) return s;
    if (word_is(&w, "any") && r->input.rank) {
      r->any_size = true;
      s = line_goes_on(r) ? reader_word(r, &w, e) : R4_OK;
      if (s || word_is(&w, "any")) break;
      if (word_whole(&w, 1, &r->least) && !line_goes_on(r)) break;
    }
    bool fits = !r->any_size && r->input.rank < 3 && word_whole(&w, 1, &r->input.dim[r->input.rank]);
    if (!fits)
      return reader_fail(r, at, R4_E_PARSE, e,
                         "expected input and one or three numbers, and perhaps \"any\" and a size");
    r->input.rank++;
  }
  if (r->input.rank == 1 || r->input.rank == 3) return R4_OK;
  return reader_fail(r, at, R4_E_PARSE, e,
                     "expected input and one or three numbers, and perhaps \"any\" and a size");
}

static r4_status read_preprocess(struct reader *r, r4_error *e)
{
  const char *at = r->at;
  r4_status s = line_goes_on(r) ? reader_word(r, &r->preprocess, e) : R4_OK;
  if (s || (*r->preprocess.s && !line_goes_on(r))) return s;
  return reader_fail(r, at, R4_E_PARSE, e, "expected preprocess and a word, such as imagenet");
}

static r4_status read_about(struct reader *r)
{
  line_goes_on(r);
  r->about = r->at;
  while (r->at < r->end && *r->at != '\n') r->at++;
  r->about_end = r->at;
  return R4_OK;
}

static r4_status read_definition_body(struct reader *r, struct definition *d, r4_error *e)
{
  const char *at = r->at;
  if (!reader_takes(r, '{'))
    return reader_fail(r, r->at, R4_E_PARSE, e, "expected { and what %s stands for", d->name.s);
  d->body = r->at;
  while (!reader_done(r) && *r->at != '}' && *r->at != '{') r->at++;
  d->end = r->at;
  if (!reader_takes(r, '}')) return reader_fail(r, at, R4_E_PARSE, e, "the { of %s has no }", d->name.s);
  return R4_OK;
}

const struct definition *reader_definition(const struct reader *r, const char *name)
{
  for (size_t k = 0; k < r->usable; k++)
    if (word_is(&r->definition[k].name, name)) return &r->definition[k];
  return NULL;
}

bool reader_defines(const struct reader *r, const char *name)
{
  for (size_t k = 0; k < r->definitions; k++)
    if (word_is(&r->definition[k].name, name)) return true;
  return false;
}

static r4_status read_definition(struct reader *r, r4_error *e)
{
  struct definition d = {0};
  const char *at = r->at;
  r4_status s = reader_word(r, &d.name, e);
  if (s) return s;
  if (!*d.name.s || !reader_takes(r, '('))
    return reader_fail(r, at, R4_E_PARSE, e, "expected def NAME(ARGUMENTS) { PARTS }");
  while (!s && !reader_takes(r, ')')) {
    if (d.arguments == READER_ARGUMENTS)
      return reader_fail(r, r->at, R4_E_PARSE, e, "more than %d arguments", READER_ARGUMENTS);
    s = reader_word(r, &d.argument[d.arguments], e);
    if (!s && !*d.argument[d.arguments].s)
      return reader_fail(r, r->at, R4_E_PARSE, e, "expected the name of an argument, or )");
    d.arguments++;
    reader_takes(r, ',');
  }
  if (!s) s = read_definition_body(r, &d, e);
  if (s) return s;
  if (reader_defines(r, d.name.s)) return reader_fail(r, at, R4_E_PARSE, e, "%s is defined twice", d.name.s);
  if (r->definitions == READER_DEFINITIONS)
    return reader_fail(r, at, R4_E_PARSE, e, "more than %d definitions", READER_DEFINITIONS);
  r->definition[r->definitions++] = d;
  r->usable = r->definitions;
  return R4_OK;
}

r4_status reader_head(struct reader *r, r4_error *e)
{
  r4_status s = R4_OK;
  r->at = r->text;
  r->definitions = r->usable = 0;
  while (!s && !reader_done(r)) {
    const char *at = r->at;
    struct word w;
    s = reader_word(r, &w, e);
    bool named = reader_sees(r, ':');
    if (s || named ||
        !(word_is(&w, "param") || word_is(&w, "input") || word_is(&w, "preprocess") || word_is(&w, "about") ||
          word_is(&w, "def"))) {
      r->at = at;
      break;
    }
    r->expands = true;
    s = word_is(&w, "param")        ? read_param(r, e)
        : word_is(&w, "input")      ? read_input(r, e)
        : word_is(&w, "preprocess") ? read_preprocess(r, e)
        : word_is(&w, "about")      ? read_about(r)
                                    : read_definition(r, e);
  }
  return s;
}
