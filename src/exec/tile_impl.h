/* The program of a tile, shared by its compiler and its runner. */
#ifndef R4_EXEC_TILE_IMPL_H
#define R4_EXEC_TILE_IMPL_H

#include "exec/tile.h"
#include "graph/op.h"

enum { TILE = 512 /* elements */, MAX_CHUNKS = 32 };

/* A broadcast operand with neighbouring axes joined: element number to place in memory. */
struct broadcast {
  int rank;
  int64_t dim[R4_MAX_RANK], stride[R4_MAX_RANK];
};

struct operand {
  enum { FROM_INPUT, FROM_BROADCAST, FROM_CONST, FROM_REGISTER, FROM_OUTPUT } from;
  uint32_t index; /* of the input, output or register */
  uint32_t reg;   /* of a broadcast: where it is unfolded; of a constant: where it is kept */
  bool bf16;      /* of an input, which is unfolded to reg, and an output: stored in 2 bytes each */
  double value;
  struct broadcast broadcast;
  /* Of a broadcast: it repeats a vector of so many elements, unfolded once over two registers; or 0. */
  int64_t period;
};

struct instruction {
  const struct op *op; /* NULL: two that were joined */
  element_f32 *f32;
  element_f64 *f64;
  uint32_t arg[3], result; /* operands */
  uint32_t arity;
};

struct reduction {
  enum reduce_how how;
  bool largest;
  uint32_t operand, output;
  void *columns; /* [chunks][columns] */
  double *total; /* [chunks] */
};

/* State of one reduction while a chunk runs. */
struct progress {
  double value;
  bool fresh;
  void *columns;
};

struct tile {
  r4_type type;
  int64_t count, row_length, rows, rows_per_tile, chunks;
  struct operand *operand;
  uint32_t n_operands;
  struct instruction *instruction;
  uint32_t n_instructions;
  struct reduction *reduction;
  uint32_t n_reductions;
  uint32_t n_registers;
  unsigned char *scratch; /* per thread: registers, progress, the operands' pointers */
  size_t scratch_bytes;
  int threads;
};

/* Makes fewer instructions of the program, before registers are assigned; false when out of memory. */
bool tile_join(struct tile *t);

#endif
