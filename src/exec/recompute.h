/* Computing again instead of keeping: what again.c finds out, and recipe.c builds on. Inside these two only. */
#ifndef R4_EXEC_RECOMPUTE_H
#define R4_EXEC_RECOMPUTE_H

#include "exec/plan.h"

enum { MAX_STEPS = 4 };

struct life {
  uint32_t born, last; /* units; of memory of the caller, last is UINT32_MAX */
  bool tile;           /* computed by a tile unit */
  bool kept;           /* not of the slab, or added onto in place: leave it alone */
};

struct scan {
  r4_plan *p;
  size_t n;
  const r4_id *out;  /* of the plan */
  struct life *life; /* by value */
  size_t *bytes;     /* by unit: what is alive */
  uint32_t peak;     /* the unit at which most is */
  double spend;      /* what computing again may still cost */
  bool *memory;      /* scratch, by node: as in_memory of the plan, between two uses */
};

/* Units that compute a value again, the last one the value itself, those before it operands that are gone. */
struct recipe {
  struct unit unit[MAX_STEPS];
  r4_id of[MAX_STEPS]; /* the node that each computes */
  uint32_t n;
  double flops;
  size_t between; /* bytes of all but the last */
};

size_t scan_bytes(const struct scan *s, r4_id value);

/* A recipe for a value at unit "when", of at most so many FLOPs; n is 0 if there is none. */
r4_status recipe_make(const struct scan *s, r4_id value, uint32_t when, double flops, struct recipe *r,
                      r4_error *e);
void recipe_free(struct recipe *r);

#endif
