/* Compiles a group of element-wise operations and reductions to a tile program. */
#include "exec/tile.h"

#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/bf16.h"
#include "exec/tile_impl.h"
#include "op/op_rules.h"

struct split tile_split(const r4_graph *g, r4_id x)
{
  struct split s = {.how = REDUCE_NONE, .rows = 1, .columns = 1};
  r4_shape in = r4_node_shape(g, graph_arg(g, x, 0));
  unsigned axes = (unsigned)graph_node(g, x)->attr.i[0], all = (1u << in.rank) - 1;
  if (axes == 0) return s;
  if (axes == all) {
    s.how = REDUCE_BOTH;
    return s;
  }
  bool first = axes & 1; /* a block of first axes, or a block of last axes */
  unsigned block = first ? axes : ~axes & all;
  int n = 0;
  while (block >> n & 1) n++;
  if (block >> n) return s;
  s.how = first ? REDUCE_COLUMNS : REDUCE_ROWS;
  for (int k = 0; k < in.rank; k++) *(k < n ? &s.rows : &s.columns) *= in.dim[k];
  return s;
}

struct compiler {
  const struct tile_request *q;
  struct tile *t;
  uint32_t *operand_of; /* by node, plus 1 */
  uint32_t *input_of;   /* by node, plus 1 */
  uint32_t *output_of;  /* by node, plus 1: the roots */
  r4_id *in;
  uint32_t n_in, operand_capacity;
  bool failed;
};

/* ---- Operands ---- */

static uint32_t new_operand(struct compiler *c, struct operand o)
{
  struct tile *t = c->t;
  if (t->n_operands == c->operand_capacity) {
    uint32_t capacity = 2 * c->operand_capacity + 16;
    struct operand *more = r4_mem_grow(t->operand, capacity, sizeof *more);
    if (!more) {
      c->failed = true;
      return 0;
    }
    t->operand = more;
    c->operand_capacity = capacity;
  }
  t->operand[t->n_operands] = o;
  return t->n_operands++;
}

static uint32_t input_index(struct compiler *c, r4_id x)
{
  if (!c->input_of[x.i]) {
    c->in[c->n_in++] = x;
    c->input_of[x.i] = c->n_in;
  }
  return c->input_of[x.i] - 1;
}

/* Strides of "from" seen from the axes of "to", neighbours joined where they run on. */
static struct broadcast broadcast_of(r4_shape from, r4_shape to)
{
  struct broadcast b = {.rank = 0};
  int64_t stride = 1;
  for (int k = to.rank - 1, j = from.rank - 1; k >= 0; k--, j--) {
    bool repeated = j < 0 || (from.dim[j] == 1 && to.dim[k] != 1);
    int64_t step = repeated ? 0 : stride;
    if (to.dim[k] == 1) continue;
    int last = b.rank - 1; /* built from the last axis to the first */
    if (last >= 0 && ((repeated && !b.stride[last]) ||
                      (!repeated && b.stride[last] && step == b.stride[last] * b.dim[last])))
      b.dim[last] *= to.dim[k];
    else {
      b.dim[b.rank] = to.dim[k];
      b.stride[b.rank++] = step;
    }
    if (!repeated) stride *= to.dim[k];
  }
  if (!b.rank) b = (struct broadcast){.rank = 1, .dim = {1}};
  for (int k = 0; k < b.rank / 2; k++) {
    int64_t d = b.dim[k], s = b.stride[k];
    b.dim[k] = b.dim[b.rank - 1 - k];
    b.stride[k] = b.stride[b.rank - 1 - k];
    b.dim[b.rank - 1 - k] = d;
    b.stride[b.rank - 1 - k] = s;
  }
  return b;
}

/* A bias or a scale of channels: any tile of it begins somewhere in the first period. */
static int64_t period_of(const struct broadcast *b)
{
  enum { OFTEN = 8 };
  bool repeats = b->rank == 2 && !b->stride[0] && b->stride[1] == 1;
  return repeats && b->dim[1] <= TILE && b->dim[0] * b->dim[1] >= OFTEN * TILE ? b->dim[1] : 0;
}

static uint32_t broadcast_operand(struct compiler *c, r4_id x)
{
  const r4_graph *g = c->q->g;
  r4_id from = graph_arg(g, x, 0);
  struct operand o = {.from = FROM_BROADCAST, .index = input_index(c, plan_base(g, from))};
  o.broadcast = broadcast_of(r4_node_shape(g, from), r4_node_shape(g, x));
  o.period = period_of(&o.broadcast);
  o.reg = c->t->n_registers;
  c->t->n_registers += o.period ? 2 : 1;
  return new_operand(c, o);
}

static uint32_t const_operand(struct compiler *c, double value)
{
  for (uint32_t k = 0; k < c->t->n_operands; k++)
    if (c->t->operand[k].from == FROM_CONST && c->t->operand[k].value == value) return k;
  return new_operand(c, (struct operand){.from = FROM_CONST, .value = value, .reg = c->t->n_registers++});
}

static bool stored_bf16(const struct compiler *c, r4_id x)
{
  return c->t->type == R4_F32 && is_bf16(graph_node(c->q->g, x)->op);
}

static uint32_t input_operand(struct compiler *c, r4_id x)
{
  struct operand o = {.from = FROM_INPUT, .index = input_index(c, x), .bf16 = stored_bf16(c, x)};
  if (o.bf16) o.reg = c->t->n_registers++;
  return new_operand(c, o);
}

static uint32_t operand(struct compiler *c, r4_id x);

static uint32_t emit(struct compiler *c, const struct op *op, uint32_t arity, const uint32_t *args, r4_id x)
{
  struct tile *t = c->t;
  struct instruction i = {.op = op, .f32 = op->f32, .f64 = op->f64, .arity = arity};
  for (uint32_t k = 0; k < arity; k++) i.arg[k] = args[k];
  bool output = c->output_of[x.i] && !stored_bf16(c, x);
  struct operand o = {.from = output ? FROM_OUTPUT : FROM_REGISTER,
                      .index = output ? c->output_of[x.i] - 1 : 0};
  i.result = new_operand(c, o);
  t->instruction[t->n_instructions++] = i;
  return i.result;
}

static uint32_t element_operand(struct compiler *c, r4_id x)
{
  uint32_t args[3] = {0}, arity = graph_node(c->q->g, x)->arity;
  for (uint32_t k = 0; k < arity; k++) args[k] = operand(c, graph_arg(c->q->g, x, k));
  return emit(c, graph_node(c->q->g, x)->op, arity, args, x);
}

/* Compiles what x needs and returns where it will be. */
static uint32_t operand(struct compiler *c, r4_id x)
{
  const r4_graph *g = c->q->g;
  double value;
  x = plan_base(g, x);
  if (c->operand_of[x.i]) return c->operand_of[x.i] - 1;
  uint32_t o;
  bool is_root = c->output_of[x.i];
  if (c->q->memory[x.i] && !is_root)
    o = input_operand(c, x);
  else if (op_value(g, x, &value))
    o = const_operand(c, value);
  else if (graph_is(g, x, &op_broadcast))
    o = broadcast_operand(c, x);
  else
    o = element_operand(c, x);
  bool must_copy = is_root && !stored_bf16(c, x) && !c->failed && c->t->operand[o].from != FROM_OUTPUT;
  if (must_copy) o = emit(c, &op_detach, 1, &o, x); /* the identity */
  c->operand_of[x.i] = o + 1;
  return o;
}

/* The instruction that stores root x in bfloat16; whoever else reads x in this tile computes it as a float. */
static void add_store(struct compiler *c, r4_id x, uint32_t output)
{
  uint32_t from = operand(c, graph_arg(c->q->g, x, 0));
  struct instruction i = {.f32 = bf16_store(graph_node(c->q->g, x)->op), .arity = 1, .arg = {from}};
  i.result = new_operand(c, (struct operand){.from = FROM_OUTPUT, .index = output, .bf16 = true});
  c->t->instruction[c->t->n_instructions++] = i;
}

static void add_reduction(struct compiler *c, r4_id x, uint32_t output)
{
  struct reduction r = {
    .how = tile_split(c->q->g, x).how, .largest = graph_is(c->q->g, x, &op_reduce_max), .output = output};
  r.operand = operand(c, graph_arg(c->q->g, x, 0));
  c->t->reduction[c->t->n_reductions++] = r;
}

/* ---- Registers: an operand's register is free again after its last use ---- */

static void assign_registers(struct tile *t, uint32_t *last, uint32_t *free_list)
{
  uint32_t n_free = 0, end = t->n_instructions;
  for (uint32_t k = 0; k < end; k++)
    for (uint32_t a = 0; a < t->instruction[k].arity; a++) last[t->instruction[k].arg[a]] = k;
  for (uint32_t k = 0; k < t->n_reductions; k++) last[t->reduction[k].operand] = end;
  for (uint32_t k = 0; k < end; k++) {
    const struct instruction *i = &t->instruction[k];
    for (uint32_t a = 0; a < i->arity; a++) {
      bool again = false; /* the same operand twice is freed once */
      for (uint32_t b = 0; b < a; b++) again |= i->arg[b] == i->arg[a];
      const struct operand *o = &t->operand[i->arg[a]];
      if (o->from == FROM_REGISTER && last[i->arg[a]] == k && !again) free_list[n_free++] = o->index;
    }
    struct operand *result = &t->operand[i->result];
    if (result->from == FROM_REGISTER) result->index = n_free ? free_list[--n_free] : t->n_registers++;
  }
}

/* ---- Shape of the run ---- */

static void choose_chunks(struct compiler *c)
{
  struct tile *t = c->t;
  bool columns = false;
  t->row_length = TILE;
  for (uint32_t k = 0; k < c->q->n_roots; k++) {
    r4_id x = c->q->roots[k];
    bool reduce = graph_node(c->q->g, x)->op->kind == OP_REDUCE;
    r4_id from = reduce ? graph_arg(c->q->g, x, 0) : x;
    struct split s = reduce ? tile_split(c->q->g, x) : (struct split){0};
    t->count = r4_shape_count(r4_node_shape(c->q->g, from));
    if (s.how == REDUCE_ROWS || s.how == REDUCE_COLUMNS) t->row_length = s.columns;
    columns |= s.how == REDUCE_COLUMNS;
  }
  t->rows = (t->count + t->row_length - 1) / t->row_length;
  t->rows_per_tile = t->row_length < TILE ? TILE / t->row_length : 1;
  t->chunks = t->rows < MAX_CHUNKS ? t->rows : MAX_CHUNKS;
  while (columns && t->chunks > 1 && 4 * t->chunks * t->row_length > t->count) t->chunks /= 2;
}

bool tile_fit(struct tile *t, int threads)
{
  if (threads <= t->threads) return true;
  unsigned char *scratch = r4_mem_new_aligned((size_t)threads * t->scratch_bytes);
  if (!scratch) return false;
  r4_mem_free(t->scratch);
  t->scratch = scratch;
  t->threads = threads;
  return true;
}

static bool allocate(struct tile *t)
{
  size_t size = type_size(t->type);
  t->scratch_bytes = (size_t)t->n_registers * TILE * size + t->n_reductions * sizeof(struct progress) +
                     t->n_operands * sizeof(void *);
  t->scratch_bytes = (t->scratch_bytes + 63) / 64 * 64 + 64;
  if (!tile_fit(t, omp_get_max_threads())) return false;
  for (uint32_t k = 0; k < t->n_reductions; k++) {
    struct reduction *r = &t->reduction[k];
    if (r->how == REDUCE_COLUMNS) r->columns = r4_mem_new((size_t)(t->chunks * t->row_length), size);
    if (r->how == REDUCE_BOTH) r->total = r4_mem_new((size_t)t->chunks, sizeof *r->total);
    if ((r->how == REDUCE_COLUMNS && !r->columns) || (r->how == REDUCE_BOTH && !r->total)) return false;
  }
  return true;
}

/* Compiles what the roots need from the first node to the last, so that operand() never goes deep. A reduction that is
 * not a root is in memory: what it was made of is not needed, and may be gone. */
static bool compile_inner(struct compiler *c)
{
  const r4_graph *g = c->q->g;
  enum { NEEDED = 1, ROOT };
  uint8_t *needed = r4_mem_new(g->size + 1, sizeof *needed);
  if (!needed) return false;
  for (uint32_t k = 0; k < c->q->n_roots; k++) needed[c->q->roots[k].i] = ROOT;
  for (uint32_t i = g->size; i; i--) {
    r4_id x = {i};
    if (!needed[i] || (c->q->memory[i] && needed[i] != ROOT) || graph_is(g, x, &op_broadcast)) continue;
    for (uint32_t k = 0; k < graph_node(g, x)->arity; k++) {
      uint8_t *operand = &needed[plan_base(g, graph_arg(g, x, k)).i];
      if (!*operand) *operand = NEEDED;
    }
  }
  for (uint32_t i = 1; i <= g->size && !c->failed; i++)
    if (needed[i] && graph_node(g, (r4_id){i})->op->kind == OP_ELEMENT &&
        !(needed[i] == ROOT && stored_bf16(c, (r4_id){i})))
      operand(c, (r4_id){i});
  r4_mem_free(needed);
  return !c->failed;
}

static bool compile(struct compiler *c)
{
  struct tile *t = c->t;
  size_t nodes = c->q->g->size + 1, most = 2 * nodes;
  t->instruction = r4_mem_new(most, sizeof *t->instruction);
  t->reduction = r4_mem_new(c->q->n_roots, sizeof *t->reduction);
  c->operand_of = r4_mem_new(nodes, sizeof *c->operand_of);
  c->input_of = r4_mem_new(nodes, sizeof *c->input_of);
  c->output_of = r4_mem_new(nodes, sizeof *c->output_of);
  c->in = r4_mem_new(nodes, sizeof *c->in);
  if (!t->instruction || !t->reduction || !c->operand_of || !c->input_of || !c->output_of || !c->in)
    return false;
  for (uint32_t k = 0; k < c->q->n_roots; k++)
    if (graph_node(c->q->g, c->q->roots[k])->op->kind != OP_REDUCE) c->output_of[c->q->roots[k].i] = k + 1;
  if (!compile_inner(c)) return false;
  for (uint32_t k = 0; k < c->q->n_roots; k++) {
    r4_id x = c->q->roots[k];
    if (graph_node(c->q->g, x)->op->kind == OP_REDUCE)
      add_reduction(c, x, k);
    else if (stored_bf16(c, x))
      add_store(c, x, k);
    else
      operand(c, x);
    if (c->failed) return false;
  }
  if (!tile_join(t)) return false;
  uint32_t *last = r4_mem_new(t->n_operands, sizeof *last),
           *free_list = r4_mem_new(t->n_operands + 1, sizeof *free_list);
  bool ok = last && free_list;
  if (ok) assign_registers(t, last, free_list);
  r4_mem_free(last);
  r4_mem_free(free_list);
  choose_chunks(c);
  return ok && allocate(t);
}

/* Lists were made for the worst case; give back what is not needed. */
static void shrink(struct compiler *c)
{
  void *p = r4_mem_grow(c->t->instruction, c->t->n_instructions, sizeof *c->t->instruction);
  if (p) c->t->instruction = p;
  p = r4_mem_grow(c->in, c->n_in, sizeof *c->in);
  if (p) c->in = p;
}

struct tile *tile_new(const struct tile_request *q, r4_id **in, uint32_t *n_in, r4_error *e)
{
  struct compiler c = {.q = q, .t = r4_mem_new(1, sizeof *c.t)};
  if (c.t) c.t->type = q->type;
  if (!c.t || !compile(&c)) {
    r4_fail(e, R4_E_MEMORY, "plan: out of memory");
    r4_mem_free(c.in);
    c.in = NULL;
    c.n_in = 0;
    tile_free(c.t);
    c.t = NULL;
  } else {
    shrink(&c);
  }
  r4_mem_free(c.operand_of);
  r4_mem_free(c.input_of);
  r4_mem_free(c.output_of);
  *in = c.in;
  *n_in = c.n_in;
  return c.t;
}

void tile_free(struct tile *t)
{
  if (!t) return;
  for (uint32_t k = 0; k < t->n_reductions; k++) {
    r4_mem_free(t->reduction[k].columns);
    r4_mem_free(t->reduction[k].total);
  }
  r4_mem_free(t->operand);
  r4_mem_free(t->instruction);
  r4_mem_free(t->reduction);
  r4_mem_free(t->scratch);
  r4_mem_free(t);
}

uint32_t tile_instructions(const struct tile *t)
{
  return t->n_instructions;
}

/* Instruction k reads operand o of the program. */
static bool reads(const struct instruction *i, uint32_t o)
{
  for (uint32_t a = 0; a < i->arity; a++)
    if (i->arg[a] == o) return true;
  return false;
}

bool tile_may_overwrite(const struct tile *t, uint32_t in, uint32_t out)
{
  uint32_t written = t->n_instructions;
  for (uint32_t k = 0; k < t->n_instructions; k++) {
    const struct operand *o = &t->operand[t->instruction[k].result];
    if (o->from == FROM_OUTPUT && o->index == out) written = k;
  }
  if (written == t->n_instructions) return false; /* a reduction */
  for (uint32_t o = 0; o < t->n_operands; o++) {
    const struct operand *x = &t->operand[o];
    if (x->index != in || (x->from != FROM_INPUT && x->from != FROM_BROADCAST)) continue;
    if (x->from == FROM_BROADCAST) return false; /* read again by other tiles */
    for (uint32_t k = written + 1; k < t->n_instructions; k++)
      if (reads(&t->instruction[k], o)) return false;
    for (uint32_t k = 0; k < t->n_reductions; k++)
      if (t->reduction[k].operand == o) return false;
  }
  return true;
}
