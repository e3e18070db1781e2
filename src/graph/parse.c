/* Reads the text form of graph/text.c. The k-th definition must be %k, so that text and graph
 * are the same list. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "graph/op.h"

enum { NAME_SIZE = MAX_NAME + 1 };

struct parser {
  const char *at;
  int line;
  r4_graph *g;
  r4_id *map; /* text number to node */
  uint32_t defined, capacity;
  r4_error *error;
};

static bool fail(struct parser *p, const char *what)
{
  r4_fail(p->error, R4_E_PARSE, "line %d: %s", p->line, what);
  return false;
}

static void skip_blanks(struct parser *p)
{
  while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r') p->at++;
}

static bool take(struct parser *p, char c)
{
  skip_blanks(p);
  if (*p->at != c) return false;
  p->at++;
  return true;
}

static bool read_word(struct parser *p, char *word)
{
  skip_blanks(p);
  size_t n = 0;
  while ((isalnum((unsigned char)*p->at) || *p->at == '_') && n < NAME_SIZE - 1) word[n++] = *p->at++;
  word[n] = 0;
  return n > 0;
}

static bool read_int(struct parser *p, int64_t *value)
{
  char *end;
  errno = 0;
  if (!isdigit((unsigned char)*p->at) && *p->at != '-') return fail(p, "expected a whole number");
  *value = strtoll(p->at, &end, 10);
  if (errno || end == p->at) return fail(p, "a whole number is out of range");
  p->at = end;
  return true;
}

static bool read_quoted(struct parser *p, char *name)
{
  size_t n = 0;
  while (*p->at && *p->at != '"' && *p->at != '\n' && n < NAME_SIZE - 1) name[n++] = *p->at++;
  name[n] = 0;
  return take(p, '"') || fail(p, "a name has no closing quote or is too long");
}

static bool read_node(struct parser *p, r4_id *x)
{
  int64_t k;
  if (!read_int(p, &k)) return false;
  if (k < 1 || k > p->defined) return fail(p, "a node is used before it is defined");
  *x = p->map[k];
  return true;
}

static bool read_shape(struct parser *p, r4_shape *s)
{
  *s = R4_SCALAR;
  if (!take(p, '[')) return fail(p, "expected a shape such as [2,3]");
  if (take(p, ']')) return true;
  do {
    if (s->rank == R4_MAX_RANK) return fail(p, "a shape has too many dimensions");
    skip_blanks(p);
    if (!read_int(p, &s->dim[s->rank++])) return false;
  } while (take(p, ','));
  return take(p, ']') || fail(p, "a shape has no closing bracket");
}

static const struct attr_field *find_field(const struct op *op, const char *name)
{
  for (const struct attr_field *f = op->fields; f && f->name; f++)
    if (!strcmp(f->name, name)) return f;
  return NULL;
}

static bool read_value(struct parser *p, struct attr *attr)
{
  char *end;
  attr->f = c_locale_real(p->at, &end);
  if (end == p->at) return fail(p, "expected a number");
  p->at = end;
  return true;
}

static bool read_mostly_1(struct parser *p, int64_t *less_1)
{
  int64_t value;
  if (!read_int(p, &value)) return false;
  if (value < 1) return fail(p, "an attribute is below 1");
  *less_1 = value - 1;
  return true;
}

static bool read_attribute(struct parser *p, const struct op *op, struct attr *attr)
{
  char name[NAME_SIZE];
  if (!read_word(p, name)) return fail(p, "expected an argument, an attribute or a colon");
  if (!take(p, '=')) return fail(p, "an attribute has no value");
  if (op->has_value && !strcmp(name, "value")) return read_value(p, attr);
  const struct attr_field *f = find_field(op, name);
  if (!f) {
    r4_fail(p->error, R4_E_PARSE, "line %d: %s has no attribute \"%s\"", p->line, op->name, name);
    return false;
  }
  if (f->count == FIELD_MOSTLY_1) return read_mostly_1(p, &attr->i[f->first]);
  int most = f->count < 0 ? R4_MAX_RANK : f->count, n = 0;
  if (f->count < 0 && (*p->at == ' ' || *p->at == ':')) return true; /* rank 0 */
  do {
    if (n == most) return fail(p, "an attribute has too many numbers");
    if (!read_int(p, &attr->i[f->first + n++])) return false;
  } while (take(p, ','));
  return f->count < 0 || n == f->count || fail(p, "an attribute has too few numbers");
}

static bool remember(struct parser *p, r4_id x)
{
  if (p->defined + 1 >= p->capacity) {
    uint32_t capacity = 2 * p->capacity + 64;
    r4_id *map = r4_mem_grow(p->map, capacity, sizeof *map);
    if (!map) {
      r4_fail(p->error, R4_E_MEMORY, "line %d: out of memory", p->line);
      return false;
    }
    p->map = map;
    p->capacity = capacity;
  }
  p->map[++p->defined] = x;
  return true;
}

static bool build(struct parser *p, const struct op *op, size_t n, const r4_id *args, const struct attr *attr,
                  r4_shape shape, const char *name)
{
  const char *message;
  bool is_input = op->kind == OP_LEAF && !op->fields && !op->has_value;
  r4_id x = is_input ? r4_input(p->g, name, shape) : graph_add(p->g, op, n, args, attr, &shape, NULL);
  if (r4_graph_status(p->g, &message)) {
    r4_fail(p->error, p->g->error.status, "line %d: %s", p->line, message);
    return false;
  }
  if (!r4_shape_equal(r4_node_shape(p->g, x), shape))
    return fail(p, "the shape is not what the operation gives");
  return remember(p, x);
}

/* %k = op "name" %a %b attribute=1,2 : [shape] */
static bool read_definition(struct parser *p)
{
  char word[NAME_SIZE], name[NAME_SIZE] = "";
  int64_t k;
  if (!read_int(p, &k)) return false;
  if (k != (int64_t)p->defined + 1) return fail(p, "nodes must be numbered 1, 2, 3, ...");
  if (!take(p, '=') || !read_word(p, word)) return fail(p, "expected \"= operation\"");
  const struct op *op = op_by_name(word);
  if (!op) {
    r4_fail(p->error, R4_E_PARSE, "line %d: unknown operation \"%s\"", p->line, word);
    return false;
  }
  r4_id args[MAX_ARITY];
  struct attr attr = {0};
  r4_shape shape;
  size_t n = 0;
  if (take(p, '"') && !read_quoted(p, name)) return false;
  while (take(p, '%')) {
    if (n == MAX_ARITY) return fail(p, "too many arguments");
    if (!read_node(p, &args[n++])) return false;
  }
  while (!take(p, ':'))
    if (!read_attribute(p, op, &attr)) return false;
  return read_shape(p, &shape) && build(p, op, n, args, &attr, shape, name);
}

static bool read_output(struct parser *p, size_t n_max, r4_id *out, size_t *n_out)
{
  char word[NAME_SIZE];
  if (!read_word(p, word) || strcmp(word, "output") || !take(p, '%'))
    return fail(p, "expected a definition \"%1 = ...\" or \"output %1\"");
  r4_id x;
  if (!read_node(p, &x)) return false;
  if (*n_out == n_max) return fail(p, "too many outputs");
  out[(*n_out)++] = x;
  return true;
}

static bool read_line(struct parser *p, size_t n_max, r4_id *out, size_t *n_out)
{
  skip_blanks(p);
  bool ok = true;
  if (take(p, '%'))
    ok = read_definition(p);
  else if (*p->at && *p->at != '\n' && *p->at != '#')
    ok = read_output(p, n_max, out, n_out);
  if (!ok) return false;
  skip_blanks(p);
  if (*p->at == '#')
    while (*p->at && *p->at != '\n') p->at++;
  return !*p->at || *p->at == '\n' || fail(p, "unexpected text at the end of the line");
}

r4_graph *r4_graph_parse(const char *text, size_t n_max, r4_id *out, size_t *n_out, r4_error *e)
{
  NEEDS(text, "text", NULL);
  NEEDS(out || !n_max, "room for outputs", NULL);
  NEEDS(n_out, "room for their number", NULL);
  struct parser p = {.at = text, .line = 1, .g = r4_graph_new(), .error = e};
  bool ok = p.g != NULL;
  *n_out = 0;
  r4_error_clear(e);
  if (!ok) r4_fail(e, R4_E_MEMORY, "graph: out of memory");
  while (ok && *p.at) {
    ok = read_line(&p, n_max, out, n_out);
    if (ok && *p.at) p.at++, p.line++;
  }
  r4_mem_free(p.map);
  if (ok) return p.g;
  r4_graph_free(p.g);
  return NULL;
}
