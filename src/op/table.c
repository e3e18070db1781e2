#include <string.h>

#include "op/op_rules.h"
#include "r4_tools.h"

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
