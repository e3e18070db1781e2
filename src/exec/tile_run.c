/* Runs a tile program: chunks of rows on the threads, each chunk tile by tile. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "exec/kernel/bf16.h"
#include "exec/tile_impl.h"

enum { SMALL = 8 * TILE }; /* elements that one thread does faster alone */

#define REAL float
#define NAME(x) x##_f32
#include "exec/tile_real.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_f64
#include "exec/tile_real.h"
#undef REAL
#undef NAME

struct view {
  const struct tile *t;
  void *const *in, *const *out;
  size_t size;               /* of an element */
  unsigned char *reg;        /* registers of this thread */
  const void **pointer;      /* of each operand, for the present tile */
  struct progress *progress; /* of each reduction */
};

static void *reg_at(const struct view *v, uint32_t reg)
{
  return v->reg + (size_t)reg * TILE * v->size;
}

static const void *broadcast_at(const struct view *v, const struct operand *o, int64_t f, int64_t n)
{
  const void *from = v->in[o->index];
  void *reg = reg_at(v, o->reg);
  if (v->t->type == R4_F64) return load_f64(&o->broadcast, from, f, n, reg);
  return load_f32(&o->broadcast, from, f, n, reg);
}

static const void *unfold(const struct view *v, const struct operand *o, int64_t f, int64_t n)
{
  const uint16_t *from = v->in[o->index];
  float *reg = reg_at(v, o->reg);
  bf16_load((size_t)n, from + f, reg);
  return reg;
}

static void fill_constant(const struct view *v, const struct operand *o)
{
  if (v->t->type == R4_F64)
    fill_f64(reg_at(v, o->reg), o->value, TILE);
  else
    fill_f32(reg_at(v, o->reg), (float)o->value, TILE);
}

static void fill_repeated(const struct view *v, const struct operand *o)
{
  if (v->t->type == R4_F64)
    repeat_f64(reg_at(v, o->reg), v->in[o->index], o->period, 2 * TILE);
  else
    repeat_f32(reg_at(v, o->reg), v->in[o->index], o->period, 2 * TILE);
}

/* What is the same in all tiles. */
static void fill_registers(const struct view *v)
{
  for (uint32_t k = 0; k < v->t->n_operands; k++) {
    const struct operand *o = &v->t->operand[k];
    if (o->from == FROM_CONST) fill_constant(v, o);
    if (o->from == FROM_BROADCAST && o->period) fill_repeated(v, o);
  }
}

static void locate(const struct view *v, int64_t f, int64_t n)
{
  for (uint32_t k = 0; k < v->t->n_operands; k++) {
    const struct operand *o = &v->t->operand[k];
    size_t offset = (size_t)f * (o->bf16 ? sizeof(uint16_t) : v->size);
    switch (o->from) {
    case FROM_INPUT:
      v->pointer[k] = o->bf16 ? unfold(v, o, f, n) : (const unsigned char *)v->in[o->index] + offset;
      break;
    case FROM_OUTPUT:
      v->pointer[k] = (unsigned char *)v->out[o->index] + offset;
      break;
    case FROM_BROADCAST:
      v->pointer[k] = o->period ? (unsigned char *)reg_at(v, o->reg) + (size_t)(f % o->period) * v->size
                                : broadcast_at(v, o, f, n);
      break;
    case FROM_CONST:
      v->pointer[k] = reg_at(v, o->reg);
      break;
    case FROM_REGISTER:
      v->pointer[k] = reg_at(v, o->index);
      break;
    }
  }
}

static void compute(const struct view *v, int64_t n)
{
  for (uint32_t k = 0; k < v->t->n_instructions; k++) {
    const struct instruction *i = &v->t->instruction[k];
    const void *a = v->pointer[i->arg[0]], *b = v->pointer[i->arg[1]], *c = v->pointer[i->arg[2]];
    void *y = (void *)(uintptr_t)v->pointer[i->result];
    if (v->t->type == R4_F64)
      i->f64((size_t)n, a, b, c, y);
    else
      i->f32((size_t)n, a, b, c, y);
  }
}

static void reduce_tile(const struct view *v, int64_t f, int64_t n)
{
  for (uint32_t k = 0; k < v->t->n_reductions; k++) {
    const struct reduction *r = &v->t->reduction[k];
    const void *x = v->pointer[r->operand];
    if (v->t->type == R4_F64)
      reduce_f64(v->t, r, &v->progress[k], x, f, n, v->out[r->output]);
    else
      reduce_f32(v->t, r, &v->progress[k], x, f, n, v->out[r->output]);
  }
}

static void start_chunk(const struct view *v, int64_t chunk)
{
  const struct tile *t = v->t;
  struct progress *progress = v->progress;
  for (uint32_t k = 0; k < t->n_reductions; k++) {
    const struct reduction *r = &t->reduction[k];
    progress[k] = (struct progress){.fresh = true};
    if (r->how != REDUCE_COLUMNS) continue;
    size_t bytes = (size_t)t->row_length * v->size;
    progress[k].columns = (unsigned char *)r->columns + (size_t)chunk * bytes;
    if (!r->largest)
      memset(progress[k].columns, 0, bytes);
    else if (t->type == R4_F64)
      fill_f64(progress[k].columns, -INFINITY, t->row_length);
    else
      fill_f32(progress[k].columns, -INFINITY, t->row_length);
  }
}

static void run_chunk(const struct view *v, int64_t chunk)
{
  const struct tile *t = v->t;
  int64_t first = t->rows * chunk / t->chunks * t->row_length,
          end = t->rows * (chunk + 1) / t->chunks * t->row_length;
  if (end > t->count) end = t->count;
  start_chunk(v, chunk);
  int64_t step = t->rows_per_tile > 1 ? t->rows_per_tile * t->row_length : TILE;
  for (int64_t f = first; f < end;) {
    int64_t n = step, row_left = t->row_length - f % t->row_length;
    if (t->rows_per_tile == 1 && n > row_left) n = row_left;
    if (n > end - f) n = end - f;
    locate(v, f, n);
    compute(v, n);
    reduce_tile(v, f, n);
    f += n;
  }
  for (uint32_t k = 0; k < t->n_reductions; k++)
    if (t->reduction[k].how == REDUCE_BOTH) t->reduction[k].total[chunk] = v->progress[k].value;
}

void tile_run(const struct tile *t, void *const *in, void *const *out)
{
  size_t size = type_size(t->type), registers = (size_t)t->n_registers * TILE * size;
  int threads = omp_get_max_threads() < t->threads ? omp_get_max_threads() : t->threads;
  if (t->count <= SMALL || t->chunks == 1) threads = 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    unsigned char *mine = t->scratch + (size_t)omp_get_thread_num() * t->scratch_bytes;
    struct view v = {.t = t, .in = in, .out = out, .size = size, .reg = mine};
    v.progress = (struct progress *)(void *)(mine + registers);
    v.pointer = (const void **)(void *)(v.progress + t->n_reductions);
    fill_registers(&v);
#pragma omp for schedule(static)
    for (int64_t chunk = 0; chunk < t->chunks; chunk++) run_chunk(&v, chunk);
  }
  for (uint32_t k = 0; k < t->n_reductions; k++) {
    const struct reduction *r = &t->reduction[k];
    if (r->how == REDUCE_ROWS) continue;
    if (t->type == R4_F64)
      combine_f64(t, r, out[r->output]);
    else
      combine_f32(t, r, out[r->output]);
  }
}
