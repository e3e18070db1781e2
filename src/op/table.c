#include <string.h>

#include "op/op.h"

static const struct op *const table[] = {
#define OP(name) &op_##name,
#include "op/ops.def"
#undef OP
};

size_t op_count(void)
{
  return sizeof table / sizeof *table;
}

const struct op *op_by_index(size_t k)
{
  return table[k];
}

const struct op *op_by_name(const char *name)
{
  for (size_t k = 0; k < op_count(); k++)
    if (!strcmp(table[k]->name, name)) return table[k];
  return NULL;
}

size_t r4_op_count(void)
{
  return op_count();
}

r4_op_info r4_op_describe(size_t k)
{
  const struct op *op = table[k < op_count() ? k : 0];
  const char *kernels = op->kind == OP_ELEMENT ? "ref, fused"
                        : op->fast             ? op->fast
                        : op->kernel           ? "ref"
                                               : "none";
  return (r4_op_info){
    .name = op->name,
    .arity = op->arity,
    .grad = !op->vjp         ? op->no_vjp
            : op->index_args ? "yes, zero by the index"
                             : "yes",
    .bound = !op->bound       ? op->no_bound
             : op->index_args ? "yes, refused over the index"
                              : "yes",
    .kernels = kernels,
  };
}
