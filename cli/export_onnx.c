/* ONNX, for programs that run nets: doc/onnx.md. */
#include "export.h"

static r4_status save(const r4_model *m, const char *const *class_names, const char *path, r4_error *e)
{
  return r4_onnx_save(r4_model_net(m), r4_model_weights(m), class_names, path, e);
}

static void describe(const r4_model *m)
{
  const r4_net *n = r4_model_net(m);
  r4_shape in = r4_net_input(n);
  if (r4_net_vocabulary(n))
    printf("input_ids [batch, %lld]", (long long)in.dim[0]);
  else if (in.rank == 3)
    printf("input [batch, %lld, %lld, %lld], channels first, from 0 to 1", (long long)in.dim[2],
           (long long)in.dim[0], (long long)in.dim[1]);
  else
    printf("input [batch, %lld]", (long long)in.dim[0]);
  printf("; logits [batch, %lld]\n", (long long)r4_net_classes(n));
}

const struct export_format export_onnx = {".onnx", save, describe};
