#include "graph/graph.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "graph/op.h"

enum { FIRST_CAPACITY = 64, MAX_NODES = 1 << 24 };

struct kept {
  struct kept *next;
  max_align_t memory[];
};

r4_graph *r4_graph_new(void)
{
  r4_graph *g = r4_mem_new(1, sizeof *g);
  if (!g) return NULL;
  g->node_capacity = g->arg_capacity = g->name_capacity = FIRST_CAPACITY;
  g->buckets = 2 * FIRST_CAPACITY;
  g->node = r4_mem_new(g->node_capacity, sizeof *g->node);
  g->arg = r4_mem_new(g->arg_capacity, sizeof *g->arg);
  g->names = r4_mem_new(g->name_capacity, 1);
  g->bucket = r4_mem_new(g->buckets, sizeof *g->bucket);
  g->name_bytes = 1; /* offset 0 is the empty name */
  if (g->node && g->arg && g->names && g->bucket) return g;
  r4_graph_free(g);
  return NULL;
}

void r4_graph_free(r4_graph *g)
{
  if (!g) return;
  for (struct kept *k = g->kept, *next; k; k = next) {
    next = k->next;
    r4_mem_free(k);
  }
  r4_mem_free(g->node);
  r4_mem_free(g->arg);
  r4_mem_free(g->names);
  r4_mem_free(g->bucket);
  r4_mem_free(g);
}

void *graph_keep(r4_graph *g, size_t count, size_t size)
{
  bool fits = size && count < (SIZE_MAX - sizeof(struct kept)) / size;
  struct kept *k = fits ? r4_mem_new(1, sizeof *k + count * size) : NULL;
  if (!k) {
    r4_graph_fail(g, R4_E_MEMORY, "out of memory for a graph");
    return NULL;
  }
  k->next = g->kept;
  g->kept = k;
  return k->memory;
}

r4_status r4_graph_status(const r4_graph *g, const char **message)
{
  if (message) *message = g ? g->error.text : "r4_graph_status: needs a graph, got NULL";
  return g ? g->error.status : R4_E_ARGUMENT;
}

void r4_graph_forget_error(r4_graph *g)
{
  if (g) g->error = (r4_error){0};
}

size_t r4_graph_size(const r4_graph *g)
{
  return g ? g->size : 0;
}

r4_shape r4_node_shape(const r4_graph *g, r4_id x)
{
  return g && x.i && x.i <= g->size ? g->node[x.i].shape : R4_SCALAR;
}

r4_id r4_graph_fail(r4_graph *g, r4_status s, const char *format, ...)
{
  if (r4_graph_status(g, NULL)) return R4_NONE;
  g->error.status = s;
  va_list args;
  va_start(args, format);
  c_locale_vprint(g->error.text, sizeof g->error.text, format, args);
  va_end(args);
  return R4_NONE;
}

bool graph_given(r4_graph *g, bool there, const char *function, const char *what)
{
  if (!there) r4_graph_fail(g, R4_E_ARGUMENT, "%s: needs %s, got NULL", function, what);
  return !r4_graph_status(g, NULL);
}

bool infer_fail(struct infer *s, const char *format, ...)
{
  char what[R4_ERROR_SIZE / 2], shapes[R4_ERROR_SIZE / 2] = "", one[SHAPE_TEXT];
  va_list args;
  va_start(args, format);
  c_locale_vprint(what, sizeof what, format, args);
  va_end(args);
  for (size_t k = 0, n = 0; k < s->n && n < sizeof shapes - SHAPE_TEXT; k++)
    n += (size_t)snprintf(shapes + n, sizeof shapes - n, " %s", shape_text(s->in[k], one));
  r4_graph_fail(s->g, R4_E_SHAPE, "%s%s: %s", s->op->name, shapes, what);
  return false;
}

/* ---- Storing a node ---- */

static bool grow(void **p, uint32_t *capacity, size_t need, size_t size)
{
  if (need <= *capacity) return true;
  size_t bigger = need + need / 2;
  void *q = bigger > UINT32_MAX / 2 ? NULL : r4_mem_grow(*p, bigger, size);
  if (!q) return false;
  *p = q;
  *capacity = (uint32_t)bigger;
  return true;
}

static uint32_t hash_bytes(uint32_t h, const void *p, size_t n)
{
  const unsigned char *c = p;
  for (size_t k = 0; k < n; k++) h = (h ^ c[k]) * 16777619u;
  return h;
}

static uint32_t hash_node(const struct node *x, const r4_id *args, const char *name)
{
  uint32_t h = hash_bytes(2166136261u, &x->op, sizeof x->op);
  h = hash_bytes(h, args, x->arity * sizeof *args);
  h = hash_bytes(h, x->shape.dim, (size_t)x->shape.rank * sizeof *x->shape.dim);
  h = hash_bytes(h, x->attr.i, sizeof x->attr.i);
  h = hash_bytes(h, &x->attr.f, sizeof x->attr.f);
  return hash_bytes(h, name, strlen(name));
}

static bool same_node(const r4_graph *g, const struct node *a, const struct node *b, const r4_id *args,
                      const char *name)
{
  return a->op == b->op && a->arity == b->arity && r4_shape_equal(a->shape, b->shape) &&
         !memcmp(&a->attr, &b->attr, sizeof a->attr) && !strcmp(g->names + a->name, name) &&
         !memcmp(g->arg + a->first, args, b->arity * sizeof *args);
}

static bool rehash(r4_graph *g)
{
  if (g->size < g->buckets / 2) return true;
  uint32_t buckets = 4 * g->buckets;
  uint32_t *bucket = r4_mem_new(buckets, sizeof *bucket);
  if (!bucket) return false;
  for (uint32_t i = 1; i <= g->size; i++) {
    uint32_t *slot = &bucket[g->node[i].hash & (buckets - 1)];
    g->node[i].next = *slot;
    *slot = i;
  }
  r4_mem_free(g->bucket);
  g->bucket = bucket;
  g->buckets = buckets;
  return true;
}

static r4_id store(r4_graph *g, struct node x, const r4_id *args, const char *name)
{
  x.hash = hash_node(&x, args, name);
  for (uint32_t i = g->bucket[x.hash & (g->buckets - 1)]; i; i = g->node[i].next)
    if (same_node(g, &g->node[i], &x, args, name)) return (r4_id){i};

  size_t bytes = *name ? strlen(name) + 1 : 0;
  if (g->size + 1 >= MAX_NODES) return r4_graph_fail(g, R4_E_MEMORY, "graph: more than %d nodes", MAX_NODES);
  if (!grow((void **)&g->node, &g->node_capacity, g->size + 2, sizeof *g->node) ||
      !grow((void **)&g->arg, &g->arg_capacity, g->args + x.arity, sizeof *g->arg) ||
      !grow((void **)&g->names, &g->name_capacity, g->name_bytes + bytes, 1) || !rehash(g))
    return r4_graph_fail(g, R4_E_MEMORY, "graph: out of memory at node %u", g->size + 1);

  x.first = g->args;
  if (x.arity) memcpy(g->arg + g->args, args, x.arity * sizeof *args);
  g->args += x.arity;
  if (bytes) {
    x.name = g->name_bytes;
    memcpy(g->names + g->name_bytes, name, bytes);
    g->name_bytes += (uint32_t)bytes;
  }
  uint32_t *slot = &g->bucket[x.hash & (g->buckets - 1)];
  x.next = *slot;
  g->node[++g->size] = x;
  *slot = g->size;
  return (r4_id){g->size};
}

static bool arguments(r4_graph *g, struct infer *s, const r4_id *args)
{
  const struct op *op = s->op;
  bool count_ok = op->arity >= 0 ? s->n == (size_t)op->arity : s->n >= 1 && s->n <= MAX_ARITY;
  if (!count_ok) {
    r4_graph_fail(g, R4_E_ARGUMENT, "%s: got %zu arguments", op->name, s->n);
    return false;
  }
  for (size_t k = 0; k < s->n; k++) {
    if (!args[k].i || args[k].i > g->size) {
      r4_graph_fail(g, R4_E_ARGUMENT, "%s: argument %zu is not a node of this graph", op->name, k + 1);
      return false;
    }
    s->in[k] = g->node[args[k].i].shape;
  }
  return true;
}

r4_id graph_add(r4_graph *g, const struct op *op, size_t n, const r4_id *args, const struct attr *attr,
                const r4_shape *want, const char *name)
{
  static const struct attr none;
  if (r4_graph_status(g, NULL)) return R4_NONE;
  struct infer s = {.op = op, .n = n, .attr = attr ? attr : &none, .want = want, .g = g};
  if (!arguments(g, &s, args)) return R4_NONE;
  if (op->needs_shape && !want) return r4_graph_fail(g, R4_E_ARGUMENT, "%s: needs a shape", op->name);
  if (want && !shape_valid(*want)) {
    char text[SHAPE_TEXT];
    infer_fail(&s, "shape %s is empty, negative or too large", shape_text(*want, text));
    return R4_NONE;
  }
  if (!op->shape(&s)) return R4_NONE;
  if (!shape_valid(s.out)) {
    infer_fail(&s, "the result is too large");
    return R4_NONE;
  }
  struct node x = {.op = op, .arity = (uint32_t)n, .attr = *s.attr};
  x.shape.rank = s.out.rank;
  for (int k = 0; k < s.out.rank; k++) x.shape.dim[k] = s.out.dim[k];
  r4_id copy[MAX_ARITY]; /* args may lie in g->arg, which moves when it grows */
  for (size_t k = 0; k < n; k++) copy[k] = args[k];
  return store(g, x, copy, name ? name : "");
}

r4_id graph_again(r4_graph *g, r4_id y, const r4_id *args)
{
  if (g->error.status) return R4_NONE;
  struct node x = g->node[y.i];
  return graph_add(g, x.op, x.arity, args, &x.attr, &x.shape, NULL);
}

r4_id graph_find_input(const r4_graph *g, const char *name)
{
  for (uint32_t i = 1; i <= r4_graph_size(g); i++)
    if (g->node[i].name && !strcmp(g->names + g->node[i].name, name)) return (r4_id){i};
  return R4_NONE;
}

r4_id r4_graph_input(const r4_graph *g, size_t k, const char **name)
{
  for (uint32_t i = 1; i <= r4_graph_size(g); i++) {
    if (!g->node[i].name || k--) continue;
    if (name) *name = g->names + g->node[i].name;
    return (r4_id){i};
  }
  return R4_NONE;
}

bool graph_live(const r4_graph *g, size_t n, const r4_id *out, bool **live)
{
  bool *mark = *live = r4_mem_new(g->size + 1, sizeof *mark);
  if (!mark) return false;
  for (size_t k = 0; k < n; k++) mark[out[k].i] = true;
  for (uint32_t i = g->size; i; i--)
    for (uint32_t k = 0; mark[i] && k < g->node[i].arity; k++) mark[g->arg[g->node[i].first + k].i] = true;
  return true;
}

r4_id graph_vector(r4_graph *g, int64_t n, const double *value)
{
  r4_id part[MAX_ARITY] = {R4_NONE};
  size_t parts = 0;
  for (int64_t k = 0; k < n; k++) {
    part[parts++] = r4_const(g, value[k], R4_SHAPE(1));
    if (parts < MAX_ARITY && k + 1 < n) continue;
    part[0] = r4_concat(g, parts, part, 0);
    parts = 1;
  }
  return part[0];
}
