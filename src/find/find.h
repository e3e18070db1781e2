/* What gives the label away: the list that a search has found, and what its parts share. */
#ifndef R4_FIND_FIND_H
#define R4_FIND_FIND_H

#include "data/data.h"

enum { FIND_ID = 64, FIND_WHERE = 96 };

struct clue_text {
  char id[FIND_ID], where[FIND_WHERE], what[R4_ERROR_SIZE];
};

struct clue {
  r4_clue is;            /* but for its pointers, which r4_found_at sets to what follows */
  r4_sighting *sighting; /* [is.sightings] */
  struct clue_text *text;
  bool leads; /* comes before clusters of a net */
  char *word; /* texts: what to mask; NULL: nothing */
};

struct r4_found {
  size_t n, room;
  struct clue *at;
  uint64_t tried;
  double level;
};

/* The defaults in place of what is 0 or NULL. */
r4_find_options find_options(const r4_find_options *o);
/* Tells whoever listens; false: it asks to stop. */
void find_report(const r4_find_options *o, const char *stage, size_t done, size_t all);

struct r4_found *found_new(const r4_find_options *o, r4_error *e);
/* A new clue at the end, all zero; NULL when out of memory. Valid until the next one. */
struct clue *found_add(struct r4_found *f, r4_error *e);
void found_drop(struct r4_found *f); /* the last one */
/* Its id, from words and numbers; what is no letter or digit becomes "-", and an id that is there gets a number. */
void found_name(struct r4_found *f, struct clue *c, const char *format, ...) R4_PRINTF(3, 4);
/* Adds what is seen on an example; room is that of the list, 0 at first. */
r4_status clue_sight(struct clue *c, size_t *room, r4_sighting s, r4_error *e);
/* Those of the clue's label before others, each the clearest first, and scores from 1 to 0. Of its sightings, so many
 * are of its label. */
r4_status clue_order(struct clue *c, const r4_data *d, r4_error *e);
size_t clue_own(const struct clue *c, const r4_data *d);

/* The net loses some of its margin where the clue is filled, and more than two standard errors. */
bool found_leans(const r4_clue *c);
/* With clusters behind the first "found": what leads and what the net leans on, clusters, what else leads, what the net
 * leans on at a place, and all others; as they are within each, and at most "most". If that is too few, those that lead
 * leave half of it to clusters. */
r4_status found_merge(struct r4_found *f, size_t found, size_t most, r4_error *e);
/* The first few, which a person sees, have one of each class that has any, as far as there is room: the first of it.
 * All else stays in order. */
enum { FOUND_FIRST = 5 };
r4_status found_spread(struct r4_found *f, r4_error *e);

/* The examples that a search looks at, of training or of all parts: one of each id, at most "most", evenly spread;
 * r4_mem_free. They are of two classes at least, or it is an error. */
r4_status find_choose(const r4_data *d, bool all, size_t most, uint32_t **example, size_t *n, r4_error *e);

r4_status find_in_images(struct r4_found *f, const r4_data *d, const r4_find_options *o, r4_error *e);
r4_status find_in_texts(struct r4_found *f, const r4_data *d, const r4_find_options *o, r4_error *e);

#endif
