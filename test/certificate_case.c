#include "certificate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "net_case.h"
#include "scratch.h"
#include "tensor/npz.h"

static void read_back(const char *name, struct case_file *to)
{
  r4_error e;
  uint8_t *data;
  if (file_read(scratch_path(name), 1 << 28, &data, &to->n, &e)) fail_msg("%s", e.text);
  to->at = malloc(to->n + 1);
  memcpy(to->at, data, to->n);
  r4_mem_free(data);
}

/* ---- Data ---- */

static void add(struct npz_entry *entry, const char *key, enum array_type type, int rank, const int64_t *dim,
                const void *from)
{
  *entry = (struct npz_entry){.key = key};
  assert_int_equal(array_new(&entry->array, type, 0, rank, dim, NULL), R4_OK);
  memcpy(entry->array.data, from, (size_t)array_count(&entry->array) * entry->array.width);
}

static int dims(const struct certificate_case *c, bool mask, int64_t dim[4])
{
  bool image = c->as_image || c->input.rank == 3;
  dim[0] = c->n;
  dim[1] = c->input.dim[0];
  if (!image) return 2;
  for (int k = 0; k < 3; k++) dim[k + 1] = c->as_image ? c->image[k] : c->input.dim[(k + 2) % 3];
  if (mask && !c->full_mask) dim[1] = 1;
  return 4;
}

static void write_data(const struct certificate_case *c)
{
  struct npz_entry entry[4];
  int64_t dim[4], label[CASE_LINES], n = c->n;
  size_t count = 0;
  r4_error e;
  for (int k = 0; k < c->n; k++) label[k] = c->line[k].label;
  int rank = dims(c, false, dim);
  add(&entry[count++], "x", c->id ? ARRAY_I64 : ARRAY_F32, rank, dim, c->id ? (const void *)c->id : c->x);
  if (c->id) add(&entry[count++], "length", ARRAY_I64, 1, &n, c->length);
  add(&entry[count++], "y", ARRAY_I64, 1, &n, label);
  rank = dims(c, true, dim);
  if (c->mask) add(&entry[count++], "mask", ARRAY_F32, rank, dim, c->mask);
  for (size_t k = 0; k < count; k++) entry[k].level = c->deflated ? 6 : 0;
  if (npz_write(scratch_path("data.npz"), count, entry, &e)) fail_msg("%s", e.text);
  for (size_t k = 0; k < count; k++) array_free(&entry[k].array);
}

/* ---- Certificates ---- */

void case_seal(const char *text, struct case_file *to)
{
  char hex[R4_HASH_SIZE];
  size_t n = strlen(text);
  r4_hash(text, n, hex);
  free(to->at);
  to->at = malloc(n + 80);
  to->n = (size_t)snprintf((char *)to->at, n + 80, "%ssha256 %s\n", text, hex);
}

void case_certificate(const struct certificate_case *c, struct case_file file[CASE_FILES])
{
  static char text[1 << 14];
  char model[R4_HASH_SIZE], data[R4_HASH_SIZE];
  r4_hash(file[CASE_MODEL].at, file[CASE_MODEL].n, model);
  r4_hash(file[CASE_DATA].at, file[CASE_DATA].n, data);
  int n = snprintf(text, sizeof text, "r4-certificate 1\nprogram r4 0.1.0\n%smodel %s\ndata %s\n%sexamples %d\n",
                   c->claim, model, data, c->what, c->n);
  for (int k = 0; k < c->n; k++) {
    const struct case_line *l = &c->line[k];
    char margin[64] = "-";
    if (l->margin > 0) snprintf(margin, sizeof margin, "%a", l->margin);
    n += snprintf(text + n, sizeof text - (size_t)n, "%d %d %d %s %s\n", k, l->label, l->class, margin,
                  l->margin > 0 ? "holds" : "open");
  }
  case_seal(text, &file[CASE_CERTIFICATE]);
}

void case_write(const struct certificate_case *c, struct case_file file[CASE_FILES])
{
  r4_error e;
  r4_net *net = net_of(c->net, c->input);
  if (r4_model_save(net, c->weight, NULL, scratch_path("model.safetensors"), &e)) fail_msg("%s", e.text);
  r4_net_free(net);
  write_data(c);
  memset(file, 0, CASE_FILES * sizeof *file);
  read_back("model.safetensors", &file[CASE_MODEL]);
  read_back("data.npz", &file[CASE_DATA]);
  case_certificate(c, file);
}

void case_free(struct case_file file[CASE_FILES])
{
  for (int k = 0; k < CASE_FILES; k++) free(file[k].at);
}

/* ---- By the engine ---- */

static void fill_input(const struct certificate_case *c, double *to)
{
  size_t per = (size_t)r4_shape_count(c->input), h = 1, w = per, ch = 1;
  if (c->input.rank == 3) h = (size_t)c->input.dim[0], w = (size_t)c->input.dim[1], ch = (size_t)c->input.dim[2];
  if (c->as_image) ch = (size_t)c->image[0], h = (size_t)c->image[1], w = (size_t)c->image[2];
  for (size_t i = 0; i < (size_t)c->n; i++)
    for (size_t k = 0; k < ch; k++)
      for (size_t p = 0; p < h * w; p++)
        to[i * per + p * ch + k] = c->id ? (double)c->id[i * per + p] : (double)c->x[i * per + k * h * w + p];
}

void case_logits(const struct certificate_case *c, int64_t classes, double *z)
{
  r4_net *net = net_of(c->net, c->input);
  r4_graph *g = r4_graph_new();
  r4_id param[64];
  r4_shape s = {.rank = c->input.rank + 1, .dim = {c->n}};
  memcpy(s.dim + 1, c->input.dim, (size_t)c->input.rank * sizeof *s.dim);
  r4_net_inputs(net, g, param);
  r4_id y = r4_net_apply(net, g, param, r4_input(g, "x", s));
  struct runner *r = runner_new(g, 1, &y, REFERENCE);
  for (size_t k = 0; k < r4_net_params(net); k++) {
    double *to = runner_input(r, r4_net_param_name(net, k));
    size_t count = (size_t)r4_shape_count(r4_net_param_shape(net, k));
    for (size_t i = 0; i < count; i++) to[i] = c->weight[r4_net_param_offset(net, k) + i];
  }
  fill_input(c, runner_input(r, "x"));
  runner_run(r);
  memcpy(z, r->out[0], (size_t)(c->n * classes) * sizeof *z);
  runner_free(r);
  r4_graph_free(g);
  r4_net_free(net);
}
