/* A plan: units of work in order, and the memory they use. Inside exec only. */
#ifndef R4_EXEC_PLAN_H
#define R4_EXEC_PLAN_H

#include "exec/kernel/bf16.h"
#include "graph/op.h"

struct kernel;
struct tile;

enum { NO_BUFFER = UINT32_MAX, MAX_CLONES = 256 };

/* Where a value lives: in the slab, or in memory of the caller. */
struct buffer {
  enum { BUFFER_SLAB, BUFFER_BLOCK, BUFFER_INPUT, BUFFER_OUTPUT } home;
  size_t bytes, offset; /* of the slab or the block */
  uint32_t slot;        /* of the caller's table */
  uint32_t first, last; /* units between which the value is needed */
};

/* A dense operation with what follows it taken along: relu(head + bias), or head added onto
 * "accumulate" in place. */
struct fused {
  r4_id head, bias, accumulate;
  bool relu;
  bool bf16; /* and stored in bfloat16 */
};

/* One kernel call. A dense unit computes the node "final" by a fused operation. A tile unit computes
 * all "roots" of a group of element-wise operations and reductions in one pass. */
struct unit {
  enum { UNIT_DENSE, UNIT_TILE, UNIT_COPY } kind;
  uint32_t key, turn; /* order among units that are ready: see order.c */
  r4_id final;
  struct fused fused;
  r4_id *roots;
  uint32_t n_roots;
  r4_id *in; /* materialised nodes that are read */
  uint32_t n_in;
  uint32_t *in_buffer, *out_buffer; /* n_in, and n_roots or 1 */
  struct tile *tile;
  struct kernel *kernel;
  double flops, seconds;
};

struct slot {
  r4_id node;
  void *data;
  bool needed;
};

/* Outputs that lie together in memory of the caller, and lend it to other values until they are written. */
struct block {
  size_t *place;      /* by output: see r4_plan_options, but in bytes; NULL: there is no block */
  struct buffer *gap; /* what lies between outputs, and is left alone */
  size_t gaps;
  size_t bytes;          /* up to the end of the last output */
  unsigned char *memory; /* in this run */
};

struct r4_plan {
  r4_graph *g; /* simplified */
  r4_type type;
  bool profile, winograd, bf16;
  int threads;       /* the team that the kernels are made for; 0: some of them are missing */
  size_t keep_bytes; /* see r4_plan_options */
  bool keep_asked;   /* and whatever it costs */
  struct unit *unit;
  uint32_t n_units;
  struct buffer *buffer;
  uint32_t n_buffers;
  uint32_t *buffer_of;     /* by value */
  bool *in_memory;         /* by node: its value is stored, not computed where it is used */
  r4_id clone[MAX_CLONES]; /* values that are computed a second time: value size + 1 + k is node clone[k] */
  uint32_t n_clones;
  struct slot *input, *output;
  char **input_name;
  uint32_t n_inputs, n_outputs;
  unsigned char *slab;
  size_t slab_bytes;
  struct block block;
  void **pointer; /* scratch of a run */
  void *scratch;  /* of its kernels, which run one after the other */
  uint64_t runs;
  void (*ran)(size_t unit, void *user); /* exec/watch.h */
  void *ran_user;
  struct reference *reference; /* the plan is one list of plain loops instead */
};

static inline size_t type_size(r4_type t)
{
  return t == R4_F64 ? sizeof(double) : sizeof(float);
}

/* A value is a node, or a node computed once more. */
static inline r4_id plan_node(const r4_plan *p, r4_id value)
{
  return value.i <= p->g->size ? value : p->clone[value.i - p->g->size - 1];
}

static inline uint32_t plan_values(const r4_plan *p)
{
  return p->g->size + 1 + p->n_clones;
}

/* Bytes of a value in memory. */
static inline size_t plan_bytes(const r4_plan *p, r4_id value)
{
  const struct node *n = graph_node(p->g, plan_node(p, value));
  size_t each = p->type == R4_F32 && is_bf16(n->op) ? sizeof(uint16_t) : type_size(p->type);
  return (size_t)r4_shape_count(n->shape) * each;
}

/* exec/narrow_operands.c: products take bfloat16 where they gain by it. */
r4_status narrow_operands(r4_plan *p, size_t n, r4_id *out, r4_error *e);
/* For tests: also where nothing is gained. */
void narrow_force(bool always);

/* exec/cluster.c: decides the units, in an order that respects their needs. */
r4_status cluster(r4_plan *p, size_t n, const r4_id *out, r4_error *e);
/* The node whose memory holds x: reshapes are the same memory. */
r4_id plan_base(const r4_graph *g, r4_id x);

/* exec/plan_split.c: parts of large groups that have nothing in common become groups of their own. */
r4_status split_groups(r4_plan *p, r4_error *e);

/* exec/order.c: sorts the units so that everything is computed before it is read. */
r4_status order_units(r4_plan *p, size_t n, const r4_id *out, r4_error *e);

/* exec/recompute.c: large values that wait long for their next use are computed again then. */
r4_status compute_again(r4_plan *p, size_t n, const r4_id *out, r4_error *e);

/* exec/block.c: reads where outputs will be, and finds the block when they are bound. */
r4_status block_read(r4_plan *p, const size_t *place, const r4_graph *g, const r4_id *out, r4_error *e);
r4_status block_find(r4_plan *p, r4_error *e);
bool in_block(const r4_plan *p, size_t output);

/* exec/plan_memory.c: gives every value a buffer, and the slab its size. */
r4_status layout(r4_plan *p, size_t n, const r4_id *out, r4_error *e);

/* exec/plan.c: what a product or convolution costs. */
double dense_flops(const r4_graph *g, r4_id head);
/* What is asked of the kernel of a dense node alone. */
struct kernel_request;
void plan_request(const r4_plan *p, r4_id head, struct kernel_request *q);
/* Makes the kernels for a team of so many threads, if they are for another. */
r4_status fit_kernels(r4_plan *p, int threads, r4_error *e);

/* exec/reference.c: the oracle. */
struct reference;
struct reference *reference_new(const r4_graph *g, size_t n, const r4_id *out, r4_error *e);
void reference_free(struct reference *r);
r4_status reference_run(struct reference *r, r4_plan *p, r4_error *e);
size_t reference_bytes(const struct reference *r);

#endif
