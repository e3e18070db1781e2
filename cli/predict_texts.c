/* What a run says about new texts. */
#include <stdlib.h>
#include <string.h>

#include "cmd_predict.h"

/* The name of a text: its id, which is the file and the line where there is no other. */
static int name_texts(const r4_data *d, struct files *names)
{
  int code = EXIT_DONE;
  for (size_t i = 0; i < r4_data_count(d) && !code; i++) {
    r4_example one = r4_data_example(d, i);
    code = files_name(names, one.id ? one.id : one.file ? one.file : "a text");
  }
  return code;
}

static r4_status draw(const struct texts_asked *a, const r4_data *d, const float *probability, r4_error *e)
{
  static const char *const methods[] = {"gradient", "input-x-gradient"};
  char title[TITLE];
  size_t n = r4_data_count(d), classes = a->who->classes;
  int32_t *label = malloc(n * sizeof *label);
  for (size_t i = 0; label && i < n; i++)
    label[i] = (int32_t)most_probable(classes, probability + i * classes);
  r4_heat_options o = answers_explained(a->who->run, methods, 2, title);
  r4_subject net = {a->who->run, a->net, a->weights};
  r4_data *named = label ? r4_data_relabel(d, label, classes, a->who->name, e) : NULL;
  r4_status s = named   ? r4_text_picture(&net, 1, named, &o, a->heat, NULL, e)
                : label ? e->status
                        : R4_E_MEMORY;
  r4_data_free(named);
  free(label);
  return s;
}

static int print(const struct texts_asked *a, const r4_data *d, const float *probability, const r4_covered *covered,
                 bool drawn)
{
  struct files names = {0};
  struct printer p = {0};
  int code = name_texts(d, &names);
  if (!code && !printer_make(&p, a->as, a->who, &names)) code = cli_fail("predict", R4_E_MEMORY, "");
  if (!code) {
    p.heat = drawn ? a->heat : NULL;
    a->as->begin(&p);
    for (size_t i = 0; i < names.n; i++) {
      p.covered = covered + i;
      a->as->answer(&p, names.path[i], probability + i * a->who->classes);
    }
    if (a->as->end) code = a->as->end(&p);
  }
  printer_clear(&p);
  files_clear(&names);
  return code;
}

static int predict_file(const struct texts_asked *a, const char *path)
{
  r4_error e = {0};
  r4_data *d = r4_settings_texts(a->settings, path, r4_net_input(a->net).dim[0], &e);
  if (!d) return cli_fail("predict", e.status, e.text);
  for (size_t k = 0; k < r4_data_notes(d); k++)
    fprintf(stderr, "r4 predict: %s: %s\n", shown(path).text, r4_data_note(d, k));
  float *probability = malloc(r4_data_count(d) * a->who->classes * sizeof *probability);
  r4_covered *covered = calloc(r4_data_count(d), sizeof *covered);
  const r4_cover_options how = {a->family, a->cover->constant};
  r4_status s = probability && covered ? R4_OK : R4_E_MEMORY;
  if (!s) s = *a->family ? r4_cover_predict(a->net, a->weights, d, &how, covered, &e)
                         : nets_predict(a->who->nets, d, a->batch, a->who->classes, probability, &e);
  if (!s && *a->heat) s = draw(a, d, probability, &e);
  int code = s ? cli_fail("predict", s, e.text) : print(a, d, probability, covered, *a->heat);
  free(covered);
  free(probability);
  r4_data_free(d);
  return code;
}

int predict_texts(const struct texts_asked *a)
{
  int worst = EXIT_DONE;
  if (!a->settings) {
    fprintf(stderr,
            "r4 predict: a model file has no tokenizer: give the folder of its run\n");
    return EXIT_USAGE;
  }
  if (a->files->n > 1 && (*a->heat || (a->as != &print_text && a->as != &print_text_covered))) {
    fprintf(stderr, "r4 predict: for texts, a table or a picture takes one file, got %zu\n",
            a->files->n);
    return EXIT_USAGE;
  }
  for (size_t k = 0; k < a->files->n; k++) {
    int code = predict_file(a, a->files->word[k]);
    if (code > worst) worst = code;
  }
  return worst;
}
