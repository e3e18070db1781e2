/* What "r4 ops" says of an operation. */
#include <stdio.h>
#include <string.h>

#include "exec/kernel/kernel.h"
#include "op/op_rules.h"
#include "r4_tools.h"

static void add_word(char *text, size_t size, const char *word)
{
  size_t n = strlen(text);
  if (!strstr(text, word)) snprintf(text + n, size - n, "%s%s", n ? ", " : "", word);
}

/* The plain loops, what fusing makes of it, and the fast kernels in the order in which they are tried. */
static void list_kernels(const struct op *op, char *text, size_t size)
{
  if (op->kernel || op->f64) add_word(text, size, "ref");
  if (op->kind == OP_ELEMENT || op->kind == OP_REDUCE || op == &op_broadcast) add_word(text, size, "fused");
  if (op == &op_reshape) add_word(text, size, "no copy");
  const char *name;
  for (size_t k = 0; (name = kernel_maker_name(op, k)); k++) add_word(text, size, name);
  if (!*text) add_word(text, size, "none");
}

r4_op_info r4_op_describe(size_t k)
{
  const struct op *op = op_by_index(k < op_count() ? k : 0);
  r4_op_info info = {
    .name = op->name,
    .arity = op->arity,
    .grad = !op->vjp         ? op->no_vjp
            : op->index_args ? "yes, zero for the index"
                             : "yes",
    .bound = !op->bound       ? op->no_bound
             : op->index_args ? "yes, refused over the index"
                              : "yes",
    .linear = op->linear ? "yes" : "",
  };
  list_kernels(op, info.kernels, sizeof info.kernels);
  return info;
}
