/* Trains from settings, as "r4 train" does: images of digits with a patch in a corner that gives the label away, and
 * masks on the patch. The folder, the first argument, then has the model, the log and the settings.
 *
 *     cc -std=c11 train_run.c $(pkg-config --cflags --libs r4) -o train_run && ./train_run run */
#include <r4.h>
#include <stdio.h>

static bool show(const r4_progress *p, void *user)
{
  (void)user;
  if (p->epoch_done) printf("epoch %d: loss %.3f, validation %.2f\n", (int)p->epoch, p->loss, p->val_avg);
  return true; /* false ends the run, which can be resumed */
}

static void warn(const char *sentence, void *user)
{
  (void)user;
  fprintf(stderr, "%s\n", sentence);
}

int main(int argc, char **argv)
{
  static const char *const set[] = {"data=decoy-mnist", "data.from=digits:1000", "net=mlp784-64-10", "method=r3",
                                    "epochs=5",         "batch=50"};
  r4_error e = {0};
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof set / sizeof *set && !e.status; k++) r4_settings_set(s, set[k], "here", &e);
  r4_train_options options = {.folder = argc > 1 ? argv[1] : "run", .force = true, .report = show, .notice = warn};
  r4_outcome outcome;
  if (e.status || r4_train(s, &options, &outcome, &e)) return fprintf(stderr, "%s\n", e.text), 1;
  printf("%d steps, %d with a penalty; ", (int)outcome.steps, (int)outcome.penalised);
  if (outcome.verdict == R4_VERDICT_NONE)
    printf("whether it uses the patch is not known\n");
  else if (outcome.verdict == R4_VERDICT_COLLAPSED)
    printf("it predicts one class for everything\n");
  else
    printf("by validation it %s the patch\n", r4_verdict_name(outcome.verdict)); /* "uses", "may use", .. */
  r4_settings_free(s);
  return 0;
}
