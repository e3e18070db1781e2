/* A walk over libyaml's events: those have the place of every key and value. Memory of the parser itself is
 * libyaml's own; it says when there is none. */
#include "config/yaml.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { KEY = 128, FILE_SHOWN = 160, PLACE = FILE_SHOWN + 48, MOST_DEPTH = 8 };

struct reader {
  yaml_parser_t parser;
  const char *file;
  yaml_sink *sink;
  void *context;
  r4_error *e;
  int depth;
  char key[KEY], at[PLACE], value_at[PLACE];
};

/* A long path is shown by its end, so that the message has room. */
static void place(const struct reader *r, yaml_mark_t mark, char to[PLACE])
{
  size_t length = strlen(r->file), cut = length > FILE_SHOWN ? length - FILE_SHOWN : 0;
  snprintf(to, PLACE, "%s%s:%zu:%zu", cut ? "..." : "", r->file + cut, mark.line + 1, mark.column + 1);
}

/* ---- Events ---- */

static r4_status syntax_error(struct reader *r)
{
  const yaml_parser_t *p = &r->parser;
  const char *problem = p->problem ? p->problem : "not YAML";
  if (p->error == YAML_MEMORY_ERROR) return r4_fail(r->e, R4_E_MEMORY, "%s: out of memory", r->file);
  if (p->error == YAML_READER_ERROR)
    return r4_fail(r->e, R4_E_PARSE, "%s: byte %zu: %s, expected UTF-8 text", r->file, p->problem_offset,
                   problem);
  char at[PLACE];
  place(r, p->problem_mark, at);
  return r4_fail(r->e, R4_E_PARSE, "%s: %s%s%s, expected YAML", at, problem, p->context ? " " : "",
                 p->context ? p->context : "");
}

/* What only makes sense in YAML that is more than settings. */
static const char *foreign(const yaml_event_t *v)
{
  const yaml_char_t *anchor = NULL, *tag = NULL;
  switch (v->type) {
  case YAML_ALIAS_EVENT:
    return "an alias";
  case YAML_DOCUMENT_START_EVENT:
    return v->data.document_start.tag_directives.start != v->data.document_start.tag_directives.end
             ? "a %TAG directive"
             : NULL;
  case YAML_SCALAR_EVENT:
    anchor = v->data.scalar.anchor, tag = v->data.scalar.tag;
    if (strlen((const char *)v->data.scalar.value) != v->data.scalar.length) return "a zero byte";
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = v->data.sequence_start.anchor, tag = v->data.sequence_start.tag;
    break;
  case YAML_MAPPING_START_EVENT:
    anchor = v->data.mapping_start.anchor, tag = v->data.mapping_start.tag;
    break;
  default:
    break;
  }
  return anchor ? "an anchor" : tag ? "a tag" : NULL;
}

/* The next event; the caller deletes it. */
static r4_status next(struct reader *r, yaml_event_t *v)
{
  if (!yaml_parser_parse(&r->parser, v)) return syntax_error(r);
  const char *what = foreign(v);
  if (!what) return R4_OK;
  char at[PLACE];
  place(r, v->start_mark, at);
  yaml_event_delete(v);
  return r4_fail(r->e, R4_E_PARSE, "%s: %s, which settings cannot have", at, what);
}

static r4_status hand_on(struct reader *r, enum yaml_kind kind, const yaml_event_t *v)
{
  bool scalar = kind == YAML_ONE || kind == YAML_ITEM;
  place(r, v->start_mark, r->value_at);
  return r->sink(r->context,
                 &(struct yaml_value){.kind = kind,
                                      .key = r->key,
                                      .text = scalar ? (const char *)v->data.scalar.value : NULL,
                                      .plain = scalar && v->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
                                      .at = kind == YAML_ITEM ? r->value_at : r->at,
                                      .value_at = r->value_at},
                 r->e);
}

/* ---- The document ---- */

static r4_status read_map(struct reader *r);

static r4_status misplaced(struct reader *r, const yaml_event_t *v, const char *what)
{
  place(r, v->start_mark, r->at);
  return r4_fail(r->e, R4_E_PARSE, "%s: %s", r->at, what);
}

static r4_status read_list(struct reader *r)
{
  for (;;) {
    yaml_event_t v;
    r4_status s = next(r, &v);
    if (s) return s;
    bool end = v.type == YAML_SEQUENCE_END_EVENT;
    if (!end && v.type == YAML_SCALAR_EVENT)
      s = hand_on(r, YAML_ITEM, &v);
    else if (!end)
      s = misplaced(r, &v, "a list or map within a list, expected a number");
    yaml_event_delete(&v);
    if (end || s) return s;
  }
}

/* What stands after the key that r->key ends with. */
static r4_status read_value(struct reader *r)
{
  yaml_event_t v;
  r4_status s = next(r, &v);
  if (s) return s;
  yaml_event_type_t type = v.type;
  s = hand_on(r,
              type == YAML_MAPPING_START_EVENT    ? YAML_MAP
              : type == YAML_SEQUENCE_START_EVENT ? YAML_LIST
                                                  : YAML_ONE,
              &v);
  if (!s && type == YAML_MAPPING_START_EVENT && r->depth == MOST_DEPTH)
    s = misplaced(r, &v, "maps are nested too deeply");
  yaml_event_delete(&v);
  if (!s && type == YAML_MAPPING_START_EVENT) s = read_map(r);
  if (!s && type == YAML_SEQUENCE_START_EVENT) s = read_list(r);
  return s;
}

/* Appends ".word" to the key, and keeps its place. */
static r4_status add_key(struct reader *r, const yaml_event_t *v)
{
  if (v->type != YAML_SCALAR_EVENT) return misplaced(r, v, "a key is a list or a map, expected a word");
  const char *word = (const char *)v->data.scalar.value;
  size_t length = strlen(r->key);
  place(r, v->start_mark, r->at);
  int n = snprintf(r->key + length, KEY - length, "%s%s", length ? "." : "", word);
  if (n >= 0 && (size_t)n < KEY - length) return R4_OK;
  return r4_fail(r->e, R4_E_PARSE, "%s: no setting \"%.40s...\"", r->at, word);
}

static r4_status read_map(struct reader *r)
{
  size_t length = strlen(r->key);
  r->depth++;
  for (;;) {
    yaml_event_t v;
    r4_status s = next(r, &v);
    if (s) return s;
    bool end = v.type == YAML_MAPPING_END_EVENT;
    if (!end) s = add_key(r, &v);
    yaml_event_delete(&v);
    if (!s && !end) s = read_value(r);
    if (end || s) {
      r->depth--;
      return s;
    }
    r->key[length] = 0;
  }
}

/* A map, or nothing at all. */
static r4_status read_document(struct reader *r)
{
  yaml_event_t v;
  r4_status s = next(r, &v);
  if (s) return s;
  bool map = v.type == YAML_MAPPING_START_EVENT;
  bool nothing = v.type == YAML_SCALAR_EVENT && !v.data.scalar.length;
  if (!map && !nothing) s = misplaced(r, &v, "expected lines of the form \"key: value\"");
  yaml_event_delete(&v);
  return s || nothing ? s : read_map(r);
}

static r4_status read_stream(struct reader *r)
{
  for (int documents = 0;;) {
    yaml_event_t v;
    r4_status s = next(r, &v);
    if (s) return s;
    bool end = v.type == YAML_STREAM_END_EVENT, start = v.type == YAML_DOCUMENT_START_EVENT;
    if (start && documents++) s = misplaced(r, &v, "a second document, expected one");
    yaml_event_delete(&v);
    if (!s && start) s = read_document(r);
    if (end || s) return s;
  }
}

r4_status yaml_read(const char *file, const void *data, size_t size, yaml_sink *sink, void *context,
                    r4_error *e)
{
  struct reader r = {.file = file, .sink = sink, .context = context, .e = e};
  if (!yaml_parser_initialize(&r.parser)) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", file);
  yaml_parser_set_input_string(&r.parser, data, size);
  r4_status s = read_stream(&r);
  yaml_parser_delete(&r.parser);
  return s;
}
