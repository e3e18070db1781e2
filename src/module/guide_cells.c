#include "module/guide_cells.h"

#include <string.h>

#include "base/text.h"
#include "graph/graph.h"
#include "module/module.h"

const char *const cell_words[] = {[CELL_ANY] = "any", [CELL_HALF] = "half", NULL};

/* ---- By name ---- */

/* Whether a part is the one of this name, or inside what has it: "layer4" has "layer4.1.0". */
static bool belongs(const char *part, const char *name)
{
  size_t n = strlen(name);
  return !strncmp(part, name, n) && (!part[n] || part[n] == '.');
}

/* Its features have places that masks of the input can mark: pixels of an image, or tokens. */
static bool has_places(const r4_net *n, const struct module *m)
{
  return n->input.rank == 3 ? m->out.rank == 3 : m->out.rank == 2 && m->out.dim[0] == n->input.dim[0];
}

/* The parts by the first piece of their names, each once. */
static char *list_parts(const r4_net *n)
{
  struct text t = {0};
  const char *last = "";
  size_t length = 0;
  for (size_t k = 0; k < n->row->n; k++) {
    const char *name = n->row->part[k].name;
    size_t here = strcspn(name, ".");
    if (!has_places(n, &n->row->part[k]) || (here == length && !strncmp(name, last, here))) continue;
    text_add(&t, ", %.*s", (int)here, name);
    last = name;
    length = here;
  }
  return text_take(&t);
}

static r4_status refuse(const r4_net *n, const char *name, const char *why, r4_error *e)
{
  char *parts = list_parts(n);
  r4_status s = r4_fail(e, R4_E_ARGUMENT,
                        "guide is \"%.60s\": %s; expected input, features%.250s, or a part of one of these",
                        name, why, parts ? parts : "");
  r4_string_free(parts);
  return s;
}

/* The parts up to and with the last one that belongs to the name; 0: none does. */
static size_t find(const r4_net *n, const char *name)
{
  bool features = !strcmp(name, "features");
  for (size_t k = n->row->n; k; k--) {
    const struct module *m = &n->row->part[k - 1];
    if (features ? has_places(n, m) : belongs(m->name, name)) return k;
  }
  return 0;
}

r4_status r4_net_guide_at(r4_net *n, const char *part, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(part, "a part", R4_E_ARGUMENT);
  r4_error_clear(e);
  size_t parts = strcmp(part, "input") ? find(n, part) : 0;
  if (!parts && strcmp(part, "input"))
    return refuse(n, part, "the main row of the net has no such part", e);
  if (parts && !has_places(n, &n->row->part[parts - 1]))
    return refuse(n, part, "its features have no positions for a mask", e);
  n->leaf = parts;
  return R4_OK;
}

/* ---- Masks ---- */

bool net_leaf_has_cells(const r4_net *n)
{
  return n->leaf && n->input.rank == 3 && net_leaf(n).rank == 3;
}

struct span {
  int64_t from, to;
};

static struct span pixels_of(int64_t cell, int64_t cells, int64_t pixels)
{
  return (struct span){cell * pixels / cells, ((cell + 1) * pixels + cells - 1) / cells};
}

static float masked(const float *pixel, int64_t channels)
{
  float most = 0;
  for (int64_t c = 0; c < channels; c++)
    if (pixel[c] > most) most = pixel[c];
  return most;
}

static float cell_of(const float *m, r4_shape in, struct span rows, struct span columns, enum cell_rule rule)
{
  float most = 0, sum = 0;
  for (int64_t i = rows.from; i < rows.to; i++)
    for (int64_t j = columns.from; j < columns.to; j++) {
      float v = masked(m + (i * in.dim[1] + j) * in.dim[2], in.dim[2]);
      if (v > most) most = v;
      sum += v;
    }
  float pixels = (float)((rows.to - rows.from) * (columns.to - columns.from));
  return rule == CELL_ANY ? most : sum >= pixels / 2;
}

void cut_masks(const r4_net *n, enum cell_rule rule, size_t rows, const float *m, float *cells)
{
  r4_shape in = n->input, to = net_leaf(n);
  size_t features = (size_t)r4_shape_count(in), each = (size_t)(to.dim[0] * to.dim[1]);
#pragma omp parallel for schedule(static) if (rows * features > 100000)
  for (size_t k = 0; k < rows; k++)
    for (int64_t i = 0; i < to.dim[0]; i++)
      for (int64_t j = 0; j < to.dim[1]; j++)
        cells[k * each + (size_t)(i * to.dim[1] + j)] = cell_of(
          m + k * features, in, pixels_of(i, to.dim[0], in.dim[0]), pixels_of(j, to.dim[1], in.dim[1]), rule);
}
