/* The net of r4 find: that of a run, or a quick one that is trained for the purpose. */
#include <string.h>

#include "find/cmd_find.h"
#include "runs.h"

/* A net of a run sees images as its settings say, so that the data are read by these. */
static int open_run(const struct find_settings *s, struct find_net *n, r4_data **d)
{
  r4_error e = {0};
  struct run *r = NULL;
  int code = EXIT_DONE;
  const char *path = runs_model("find", s->run, -1, &r, &code);
  if (path && !(n->model = run_model(path, NULL, &e))) code = cli_fail("find", e.status, e.text);
  if (path && n->model && r) *d = run_data("find", r, s->source.path, true, &code);
  if (path && n->model && !r) {
    fprintf(stderr,
            "r4 find: --run needs the folder of a run, whose settings say how images are read; got a file\n");
    code = EXIT_USAGE;
  }
  runs_free(r);
  if (*d && !run_classes_agree("find", s->run, n->model, *d)) code = EXIT_USAGE;
  if (*d) n->net = r4_model_net(n->model), n->weights = r4_model_weights(n->model);
  return *d || code ? code : EXIT_WORLD;
}

/* Masks whose meaning nobody has stated. */
static r4_data *open_as_if_unmasked(struct find_settings *s)
{
  s->source.read.mask_means = R4_MASKS_IRRELEVANT;
  r4_data *d = r4_find_data(s->source.path, &s->source.read, NULL);
  s->unstated = true;
  if (d)
    fprintf(stderr, "r4 find: the masks are ignored, as their meaning is not stated; with --mask-means irrelevant, "
                    "what they mark is left out\n");
  return d;
}

int find_open(struct find_settings *s, struct find_net *n, r4_data **d)
{
  r4_error e = {0};
  *d = NULL;
  if (*s->run) return open_run(s, n, d);
  *d = r4_find_data(s->source.path, &s->source.read, &e);
  if (!*d && e.status == R4_E_ARGUMENT && s->source.read.mask_means == R4_MASKS_UNSTATED) *d = open_as_if_unmasked(s);
  return *d ? EXIT_DONE : cli_fail("find", e.status, e.text);
}

/* ---- A quick one ---- */

static r4_status train(struct find_net *n, const r4_data *d, uint64_t seed, struct find_clock *clock, r4_error *e)
{
  r4_progress p = {0};
  r4_status s = R4_OK;
  if (!(n->trainer = r4_find_quick_net(d, seed, e))) s = e->status;
  while (!s && !r4_trainer_done(n->trainer)) {
    s = r4_trainer_epoch(n->trainer, &p, e);
    find_progress("training", (size_t)p.epoch, (size_t)p.epochs, clock);
  }
  if (s) return s;
  n->net = r4_trainer_net(n->trainer);
  n->weights = r4_trainer_weights(n->trainer);
  return R4_OK;
}

int find_train(const struct find_settings *s, struct find_net *n, const r4_data *d, struct find_clock *clock)
{
  r4_error e = {0};
  if (!s->quick_net) return EXIT_DONE;
  r4_status status = train(n, d, s->source.read.seed, clock, &e);
  return status ? cli_fail("find", status, e.text) : EXIT_DONE;
}

void find_net_close(struct find_net *n)
{
  r4_model_free(n->model);
  r4_trainer_free(n->trainer);
}
