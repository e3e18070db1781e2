/* A method by its name: one of the table, or a sum of terms, "cert-r4 + pairing", which needs no code of its own. All
 * that is known of a sum follows from its parts (r4_method_describe): it waits if one of them does, and those that do
 * not wait lead; it has the form log if one has; its weights are those of the parts by themselves; it looks at every
 * setting that one of them looks at. */
#ifndef R4_OBJECTIVE_COMPOSITION_H
#define R4_OBJECTIVE_COMPOSITION_H

#include "base/error.h"

/* The terms, by number. */
enum {
#define PENALTY(identifier, name) TERM_##identifier,
#include "objective/methods.def"
  TERM_COUNT
};

/* Of each, its name; NULL ends them. */
extern const char *const term_names[TERM_COUNT + 1];
/* By name, or TERM_COUNT. */
size_t term_number(const char *name);

struct method;

struct composition {
  size_t parts, terms; /* terms: as many, or 0 if there is one part, without a penalty */
  const char *name[R4_TERMS];
  const struct method *part[R4_TERMS];
};

/* False if there is no such method. Blanks around a "+" do not count. */
bool composition_of(const char *method, struct composition *to);

enum { COMPOSITION_NAME = 128 };
/* "cert-r4+pairing", without blanks. */
void composition_name(const struct composition *c, char to[COMPOSITION_NAME]);

/* What is wrong with a sum, as a sentence that begins with "method is" and names the terms that there are. */
r4_status composition_check(const char *sum, const char *where, r4_error *e);

#endif
