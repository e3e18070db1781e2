/* JSON: writing by adding to a text, reading into a tree. Our own code, and not much of it: jansson has one allocator
 * for the whole process, and when that fails it may return a string with letters missing and call it a success. */
#ifndef R4_BASE_JSON_H
#define R4_BASE_JSON_H

#include "base/text.h"

/* ---- Writing ---- */

/* In order: open, values, close. In an object a value has a key; in a list, and at the top, key is NULL. Commas come by
 * themselves. A failed allocation shows in text_take(&w.text). */
struct json_writer {
  struct text text;
  bool follows; /* a value stands before, on the same level */
  bool breaks;  /* a line ends before the next value        */
};

void jw_open(struct json_writer *w, const char *key, char bracket); /* '{' or '[' */
void jw_close(struct json_writer *w, char bracket);
void jw_break(struct json_writer *w); /* the next value begins a line, with its key */
/* Reads back as the same number. JSON has no others: NaN is null, infinity the text "inf" or "-inf". */
void jw_real(struct json_writer *w, const char *key, double v);
void jw_whole(struct json_writer *w, const char *key, int64_t v);
void jw_flag(struct json_writer *w, const char *key, bool v);
/* What is not UTF-8 becomes \xff; NULL is null. */
void jw_text(struct json_writer *w, const char *key, const char *s);

/* ---- Reading ---- */

struct js; /* a value */

enum js_kind { JS_OBJECT, JS_LIST, JS_TEXT, JS_WHOLE, JS_REAL, JS_FLAG, JS_NULL };

/* An object or list. Strict (RFC 8259): a key that occurs twice, anything after the value, or text that is not UTF-8 or
 * has a zero in it is an error. where says in messages what is read ("model.safetensors: header"); they add line and
 * column, in bytes. */
r4_status js_parse(const char *where, const void *text, size_t size, struct js **root, r4_error *e);
void js_free(struct js *root);

/* Questions accept NULL, and answer as for JS_NULL. */
enum js_kind js_kind(const struct js *v);
size_t js_size(const struct js *v);                                /* of an object or list     */
const struct js *js_get(const struct js *object, const char *key); /* NULL if there is none    */
const struct js *js_at(const struct js *list, size_t k);
bool js_whole(
  const struct js *v,
  int64_t
    *to); /* false unless it is a whole number of 64 bits, written without point                         */
bool js_number(const struct js *v,
               double *to); /* false unless it is a number                               */
bool js_real(const struct js *v, double *to); /* what jw_real has written; false for anything else, and for NULL */
bool js_flag(const struct js *v, bool *to);
const char *js_text(const struct js *v); /* NULL unless it is text; lives as long as the root          */

/* The members of an object or list v (not NULL) in order: the one after member, the first for NULL, or NULL after the
 * last. */
const struct js *js_next(const struct js *v, const struct js *member);
const char *js_key(const struct js *member); /* NULL in a list */

#endif
