/* Networks: from a line of text to layers, parameters and graphs. */
#include "module/net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "graph/graph.h"

/* ---- Making ---- */

static r4_status check_size(const char *what, r4_shape shape, r4_error *why)
{
  char got[SHAPE_TEXT];
  if (shape_valid(shape)) return R4_OK;
  return r4_fail(why, R4_E_SHAPE, "its %s %s is too large", what, shape_text(shape, got));
}

static r4_status add_param(r4_net *n, const char *what, r4_shape shape, int64_t fan_in, r4_error *why)
{
  r4_status s = check_size(what, shape, why);
  if (s) return s;
  size_t count = (size_t)r4_shape_count(shape);
  if (count > SIZE_MAX / sizeof(float) - n->size) return r4_fail(why, R4_E_SHAPE, "too many parameters");
  struct param *p = r4_mem_grow(n->param, n->params + 1, sizeof *p);
  if (!p) return r4_fail(why, R4_E_MEMORY, "out of memory");
  n->param = p;
  p += n->params++;
  *p = (struct param){.shape = shape, .offset = n->size, .fan_in = fan_in};
  snprintf(p->name, sizeof p->name, "%zu.%s", n->layers, what);
  n->size += count;
  return R4_OK;
}

/* A weight has as many elements per unit as the unit has inputs. */
static r4_status add_params(r4_net *n, struct layer *l, r4_error *why)
{
  l->first_param = n->params;
  if (!l->weight.rank) return R4_OK;
  r4_status s = check_size("weight", l->weight, why);
  if (s) return s;
  int64_t fan_in = r4_shape_count(l->weight) / l->units;
  s = add_param(n, "weight", l->weight, fan_in, why);
  return s ? s : add_param(n, "bias", R4_SHAPE(l->units), fan_in, why);
}

static r4_status add_layer(r4_net *n, const char *text, size_t length, r4_error *why)
{
  struct layer *l = r4_mem_grow(n->layer, n->layers + 1, sizeof *l);
  if (!l) return r4_fail(why, R4_E_MEMORY, "out of memory");
  n->layer = l;
  l += n->layers;
  r4_status s = layer_parse(text, length, l, why);
  if (s) return s;
  l->in = n->layers ? l[-1].out : n->input;
  if (!(s = l->kind->shape(l, why))) s = check_size("result", l->out, why);
  if (!s) s = add_params(n, l, why);
  n->layers++;
  return s;
}

/* text[0..length) without the spaces around it, as the message shows it. */
static r4_status name_layer(size_t k, const char *text, size_t length, const r4_error *why, r4_error *e)
{
  const char *space = " \t\r\n";
  while (length && strchr(space, *text)) text++, length--;
  while (length && strchr(space, text[length - 1])) length--;
  int shown = length < 60 ? (int)length : 60;
  return r4_fail(e, why->status, "layer %zu \"%.*s\": %s", k, shown, text, why->text);
}

static r4_status add_layers(r4_net *n, r4_error *e)
{
  r4_error why;
  const char *s = n->text;
  for (size_t k = 1;; k++) {
    size_t length = strcspn(s, ",");
    if (add_layer(n, s, length, &why)) return name_layer(k, s, length, &why, e);
    s += length;
    if (!*s++) break;
  }
  r4_shape out = n->layer[n->layers - 1].out;
  if (out.rank == 1) return R4_OK;
  char got[SHAPE_TEXT];
  return r4_fail(e, R4_E_SHAPE, "net: the last layer gives an image %s, needs a vector of classes",
                 shape_text(out, got));
}

static r4_status check_input(r4_shape input, r4_error *e)
{
  if ((input.rank == 1 || input.rank == 3) && shape_valid(input)) return R4_OK;
  char got[SHAPE_TEXT];
  return r4_fail(e, R4_E_SHAPE,
                 "net: input is %s, needs a vector [features] or an image [height,width,channels]",
                 shape_text(input, got));
}

static char *copy(const char *s)
{
  size_t bytes = strlen(s) + 1;
  char *t = r4_mem_new(bytes, 1);
  return t ? memcpy(t, s, bytes) : NULL;
}

r4_net *r4_net_new(const char *layers, r4_shape input, r4_error *e)
{
  r4_error_clear(e);
  if (check_input(input, e)) return NULL;
  r4_net *n = r4_mem_new(1, sizeof *n);
  if (n) n->text = copy(layers ? layers : "");
  if (!n || !n->text) {
    r4_fail(e, R4_E_MEMORY, "net: out of memory");
    goto failed;
  }
  n->input = input;
  if (!add_layers(n, e)) return n;
failed:
  r4_net_free(n);
  return NULL;
}

void r4_net_free(r4_net *n)
{
  if (!n) return;
  r4_mem_free(n->text);
  r4_mem_free(n->layer);
  r4_mem_free(n->param);
  r4_mem_free(n);
}

/* ---- Asking ---- */

const char *r4_net_layers(const r4_net *n)
{
  return n->text;
}

r4_shape r4_net_input(const r4_net *n)
{
  return n->input;
}

int64_t r4_net_classes(const r4_net *n)
{
  return n->layer[n->layers - 1].out.dim[0];
}

size_t r4_net_params(const r4_net *n)
{
  return n->params;
}

const char *r4_net_param_name(const r4_net *n, size_t k)
{
  return n->param[k].name;
}

r4_shape r4_net_param_shape(const r4_net *n, size_t k)
{
  return n->param[k].shape;
}

size_t r4_net_param_offset(const r4_net *n, size_t k)
{
  return n->param[k].offset;
}

bool r4_net_param_is_buffer(const r4_net *n, size_t k)
{
  (void)n, (void)k;
  return false;
}

size_t r4_net_size(const r4_net *n)
{
  return n->size;
}

/* ---- Using ---- */

void r4_net_inputs(const r4_net *n, r4_graph *g, r4_id *param)
{
  for (size_t k = 0; k < n->params; k++) param[k] = r4_input(g, n->param[k].name, n->param[k].shape);
}

static bool is_batch_of(r4_shape x, r4_shape one)
{
  if (x.rank != one.rank + 1) return false;
  for (int k = 0; k < one.rank; k++)
    if (x.dim[k + 1] != one.dim[k]) return false;
  return true;
}

r4_id r4_net_apply(const r4_net *n, r4_graph *g, const r4_id *param, r4_id x)
{
  char got[SHAPE_TEXT], one[SHAPE_TEXT];
  r4_shape shape = r4_node_shape(g, x);
  if (!is_batch_of(shape, n->input)) {
    return r4_graph_fail(g, R4_E_SHAPE, "net: x is %s, needs a batch of examples of shape %s",
                         shape_text(shape, got), shape_text(n->input, one));
  }
  for (size_t k = 0; k < n->layers; k++) {
    const struct layer *l = &n->layer[k];
    x = l->kind->apply(l, g, param + l->first_param, x);
  }
  return x;
}

r4_shape net_leaf(const r4_net *n)
{
  return n->input;
}

r4_id net_to_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id x)
{
  (void)n, (void)g, (void)param, (void)use;
  return x;
}

r4_id net_from_leaf(const r4_net *n, r4_graph *g, const r4_id *param, const struct net_use *use, r4_id leaf)
{
  (void)use;
  return r4_net_apply(n, g, param, leaf);
}

r4_id net_first_rows(r4_graph *g, r4_id x, int64_t rows)
{
  const int64_t start[R4_MAX_RANK] = {0};
  r4_shape s = r4_node_shape(g, x);
  if (s.dim[0] == rows) return x;
  s.dim[0] = rows;
  return r4_slice(g, x, start, s.dim, NULL);
}
