/* A net for texts of another length: the same parts, and the same parameters, or there is none. */
#include <string.h>

#include "module/net.h"

static bool same_params(const r4_net *a, const r4_net *b)
{
  bool same = a->params == b->params && a->size == b->size;
  for (size_t k = 0; same && k < a->params; k++)
    same = !strcmp(a->param[k].name, b->param[k].name) && a->param[k].offset == b->param[k].offset &&
           r4_shape_equal(a->param[k].shape, b->param[k].shape);
  return same;
}

r4_net *net_of_length(const r4_net *n, int64_t tokens)
{
  r4_error why = {0};
  r4_net *other = n->input.rank == 1 ? net_new(n->text, R4_SHAPE(tokens), &why) : NULL;
  if (!other || same_params(n, other)) return other;
  r4_net_free(other);
  return NULL;
}
