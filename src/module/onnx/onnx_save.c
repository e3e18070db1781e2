/* Models as files of ONNX, for programs that run nets. */
#include "base/mem.h"
#include "base/text.h"
#include "module/onnx/onnx.h"

/* What readers must know, and the graph does not say. */
static void add_notes(struct onnx_model *m, const r4_net *n, const char *input, const char *classes)
{
  bool image = n->input.rank == 3, tokens = slice_is(m->input[0].name, "input_ids");
  const struct onnx_note note[] = {
    {slice_of("r4"), slice_of(R4_VERSION)},
    {slice_of("net"), slice_of(n->text)},
    {slice_of("input"), slice_of(input)},
    {slice_of("layout"), slice_of(image    ? "NCHW"
                                  : tokens ? "NT"
                                           : "NF")},
    {slice_of("scale"),
     slice_of(image ? "pixels are numbers from 0 to 1; normalisation is part of the graph"
              : tokens
                ? "ids of tokens; attention_mask is 1 where there is one, 0 where there is padding"
                : "features as they were in training; those of an image are in the order height, width, "
                  "channel, from 0 to 1")},
    {slice_of("logits"),
     slice_of(r4_net_classes(n) > 1 ? "softmax of the logits gives the probabilities of the classes"
                                    : "sigmoid of the logit gives the probability of the second class")},
    {slice_of("classes"), slice_of(classes)},
  };
  m->notes = sizeof note / sizeof *note - !*classes;
  m->note = onnx_new(m, m->notes, sizeof *m->note);
  for (size_t k = 0; m->note && k < m->notes; k++) m->note[k] = note[k];
  if (!m->note) m->notes = 0;
}

r4_status r4_onnx_save(const r4_net *n, const float *weights, const char *const *class_names,
                       const char *path, r4_error *e)
{
  NEEDS(n, "a net", R4_E_ARGUMENT);
  NEEDS(weights, "weights", R4_E_ARGUMENT);
  NEEDS(path, "a path", R4_E_ARGUMENT);
  if (!net_classes_given(n, class_names, __func__, e)) return R4_E_ARGUMENT;
  r4_error_clear(e);
  r4_status s = net_check_finite(n, weights, path, e);
  if (s) return s;
  char input[SHAPE_TEXT], *classes = class_names ? net_classes_text(n, class_names) : NULL;
  float *file = r4_mem_new(n->size + 1, sizeof *file);
  struct onnx_model m = {0};
  if (!file || (class_names && !classes)) {
    s = r4_fail(e, R4_E_MEMORY, "%s: out of memory", path);
    goto done;
  }
  net_reorder(n, true, weights, file);
  s = onnx_of_net(&m, n, file, e);
  if (s) goto done;
  add_notes(&m, n, shape_text(n->input, input), classes ? classes : "");
  s = onnx_write(path, &m, e);
done:
  onnx_free(&m);
  r4_mem_free(file);
  r4_string_free(classes);
  return s;
}
