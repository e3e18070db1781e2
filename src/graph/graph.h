/* The graph: an append-only list of nodes in topological order, each stored once (hash-consing).
 * This layer knows what a node is and what an operation has to offer (graph/op.h), not which
 * operations exist. */
#ifndef R4_GRAPH_GRAPH_H
#define R4_GRAPH_GRAPH_H

#include "base/error.h"
#include "base/shape.h"
#include "r4.h"

enum { ATTR_INTS = 3 * R4_MAX_RANK, MAX_ARITY = 64, MAX_NAME = 255 /* bytes of an input's name */ };

/* The attributes of a node; what they mean is the operation's business. Unused ones are zero. */
struct attr {
  int64_t i[ATTR_INTS];
  double f;
};

struct node {
  const struct op *op;
  uint32_t arity, first; /* arguments: g->arg[first .. first + arity) */
  uint32_t name;         /* of an input: offset in g->names, else 0   */
  uint32_t hash, next;   /* chain of the hash table                   */
  r4_shape shape;
  struct attr attr;
};

struct r4_graph {
  struct node *node; /* [0] is unused */
  uint32_t size, node_capacity;
  r4_id *arg;
  uint32_t args, arg_capacity;
  char *names;
  uint32_t name_bytes, name_capacity;
  uint32_t *bucket;
  uint32_t buckets; /* a power of two */
  struct kept *kept;
  r4_error error;
};

/* Keeps the first error; returns R4_NONE, so that builders can "return r4_graph_fail(...)". */
r4_id r4_graph_fail(r4_graph *g, r4_status s, const char *format, ...) R4_PRINTF(3, 4);

/* Whether a builder of r4.h can start: there is a graph without an error, and what else the builder needs; if that is
 * missing, the error of the graph says which builder needs what. */
bool graph_given(r4_graph *g, bool there, const char *function, const char *what);
/* At the start of such a builder, which has an "r4_graph *g". */
#define GRAPH_NEEDS(thing, what, failure) \
  if (!graph_given(g, thing, __func__, what)) return failure

/* The node op(args...): an existing equal one, or a new one after the operation's shape rule has
 * accepted it. attr may be NULL; want is the shape for operations whose shape is not determined by
 * the arguments, else NULL. name is for inputs. R4_NONE after an error. */
r4_id graph_add(r4_graph *g, const struct op *op, size_t n, const r4_id *args, const struct attr *attr,
                const r4_shape *want, const char *name);

/* The same operation and attributes as y on other arguments (of the same shapes). */
r4_id graph_again(r4_graph *g, r4_id y, const r4_id *args);

/* An input by name, or R4_NONE. */
r4_id graph_find_input(const r4_graph *g, const char *name);

/* Zeros that are freed with the graph; NULL, and an error in g, when out of memory. */
void *graph_keep(r4_graph *g, size_t count, size_t size);

/* The numbers of an array as a node [n], n from 1 on. */
r4_id graph_vector(r4_graph *g, int64_t n, const double *value);

/* live[i] = whether node i is needed by out; returns false when out of memory. *live: r4_mem_free. */
bool graph_live(const r4_graph *g, size_t n, const r4_id *out, bool **live);

static inline const struct node *graph_node(const r4_graph *g, r4_id x)
{
  return &g->node[x.i];
}

static inline r4_id graph_arg(const r4_graph *g, r4_id y, size_t k)
{
  return g->arg[g->node[y.i].first + k];
}

static inline bool graph_is(const r4_graph *g, r4_id x, const struct op *op)
{
  return x.i && g->node[x.i].op == op;
}

static inline const char *graph_name(const r4_graph *g, r4_id x)
{
  return g->names + g->node[x.i].name;
}

/* Verifies every invariant of the graph: order, arity, shapes, uniqueness. */
r4_status graph_check(const r4_graph *g, r4_error *e);

#endif
