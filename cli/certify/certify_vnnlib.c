/* The claims of a certificate as others take them: the net as ONNX, a specification of VNN-LIB for each example that
 * has a mask, and the list of both that competitions of verifiers have:
 *
 *     DIR/instances.csv         seed-0.onnx,seed-0-00012.vnnlib,60          a line for each, with a time in seconds
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "certify/certify.h"

static int fail(const char *path)
{
  char text[PATH_SIZE + 100];
  snprintf(text, sizeof text, "%.*s: %s", PATH_SIZE, path, strerror(errno));
  return cli_fail("certify", R4_E_IO, text);
}

int certify_check_vnnlib(const struct certify_settings *o)
{
  struct stat s;
  if (!*o->vnnlib || o->force || stat(o->vnnlib, &s)) return EXIT_DONE;
  fprintf(stderr, "r4 certify: --vnnlib: %s exists; --force writes into it\n", shown(o->vnnlib).text);
  return EXIT_USAGE;
}

static int write_examples(const struct certify_job *j, const r4_certify_options *box, FILE *list)
{
  char path[PATH_SIZE + 80], name[64];
  long long seed = (long long)j->run->seed[j->seed];
  r4_error e = {0};
  for (size_t i = 0; i < r4_data_count(j->data); i++) {
    if (!r4_data_has_mask(j->data, i) || j->example[i].predicted < 0) continue;
    snprintf(name, sizeof name, "seed-%lld-%05zu.vnnlib", seed, i);
    snprintf(path, sizeof path, "%s/%s", j->o->vnnlib, name);
    if (r4_vnnlib_save(r4_model_net(j->model), j->data, i, j->example[i].predicted, box, path, &e))
      return cli_fail("certify", e.status, e.text);
    fprintf(list, "seed-%lld.onnx,%s,60\n", seed, name);
  }
  return EXIT_DONE;
}

int certify_vnnlib(const struct certify_job *j, const r4_certify_options *box)
{
  char path[PATH_SIZE + 80];
  r4_error e = {0};
  if (!*j->o->vnnlib) return EXIT_DONE;
  if (mkdir(j->o->vnnlib, 0777) && errno != EEXIST) return fail(j->o->vnnlib);
  snprintf(path, sizeof path, "%s/seed-%lld.onnx", j->o->vnnlib, (long long)j->run->seed[j->seed]);
  if (r4_onnx_save(r4_model_net(j->model), r4_model_weights(j->model), NULL, path, &e))
    return cli_fail("certify", e.status, e.text);
  snprintf(path, sizeof path, "%s/instances.csv", j->o->vnnlib);
  FILE *list = fopen(path, j->seed && j->o->seed < 0 ? "a" : "w"); /* of all seeds */
  if (!list) return fail(path);
  int code = write_examples(j, box, list);
  bool failed = ferror(list);
  return fclose(list) || failed ? fail(path) : code;
}
