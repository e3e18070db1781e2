#include "cover_open.h"

#include <stdlib.h>

/* Models of other programs, and of r4 before there were constants. */
static int from_data(const char *command, size_t n, const struct run *run, const char *data_now, float *to)
{
  r4_error e = {0};
  int code = EXIT_USAGE;
  if (!run) {
    fprintf(stderr,
            "r4 %s: the model file does not say what replaces hidden content: expected a model trained by r4, or the "
            "folder of its run\n",
            command);
    return EXIT_USAGE;
  }
  r4_data *all = run_data(command, run, data_now, true, &code);
  r4_data *train = all ? r4_data_part(all, R4_TRAIN, &e) : NULL;
  r4_status s = train ? r4_data_constant(train, n, to, &e) : e.status;
  r4_data_free(train);
  r4_data_free(all);
  return !all ? code : s ? cli_fail(command, s, e.text) : EXIT_DONE;
}

int cover_constant(const char *command, size_t n, const r4_model *m, const struct run *run,
                   const char *data_now, float **to)
{
  *to = calloc(n + 1, sizeof **to);
  if (!*to) return cli_fail(command, R4_E_MEMORY, "");
  return r4_model_constant(m, n, *to) ? EXIT_DONE : from_data(command, n, run, data_now, *to);
}

int cover_open(struct cover *to, const char *command, const char *family, r4_shape shape, const r4_model *m,
               const struct run *run, const char *data_now)
{
  r4_error e = {0};
  *to = (struct cover){.masks = r4_cover_new(family, shape, &e)};
  if (!to->masks) return cli_fail(command, e.status, e.text);
  return cover_constant(command, r4_cover_constants(to->masks), m, run, data_now, &to->constant);
}

void cover_close(struct cover *c)
{
  r4_cover_free(c->masks);
  free(c->constant);
  *c = (struct cover){0};
}
