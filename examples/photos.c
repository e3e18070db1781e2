/* From a folder of photos with masks to a model: trains, says which share of each group is correct and whether the net
 * uses what is masked, and saves it.
 *
 *     cc -std=c11 photos.c $(pkg-config --cflags --libs r4) -o photos
 *     ./photos FOLDER MODEL.safetensors
 *
 * FOLDER has images, metadata.csv with a line "file,label,group" for each, and in masks an image of the same name for
 * each that has a mask: what is white there must not matter. */
#include <r4.h>
#include <stdio.h>

static r4_measured figures; /* large: not for the stack */

static void warn(const char *sentence, void *user)
{
  (void)user;
  fprintf(stderr, "%s\n", sentence);
}

/* The swap test misses a shortcut that all classes of the test part have alike; validation may have seen it. */
static r4_status judge(r4_trainer *t, const r4_data *test, r4_error *e)
{
  r4_outcome outcome;
  if (r4_measure(r4_trainer_net(t), r4_trainer_weights(t), test, NULL, &figures, e) ||
      r4_trainer_judge(t, &outcome, e))
    return e->status;
  const r4_metrics *m = &figures.metrics;
  for (size_t k = 0; k < m->groups; k++)
    printf("%-12s %3.0f %% of %zu correct\n", r4_data_group_name(test, k), 100 * m->group_accuracy[k],
           m->group_count[k]);
  double lost = r4_measured_value(&figures, "swap_lost_share");
  double worst = r4_measured_value(&figures, "worst_class_mask_accuracy"); /* NaN unless a class has both */
  if (worst >= 0) printf("worst of class and mask: %.0f %% correct\n", 100 * worst);
  if (figures.swapped[0].none)
    printf("no swap test: %s\n", figures.swapped[0].none);
  else
    printf("%.0f %% of the correct predictions are lost with masked content of another class\n", 100 * lost);
  printf("the net %s\n", r4_verdict_text(r4_judge(&outcome, 1, lost).verdict));
  return R4_OK;
}

int main(int argc, char **argv)
{
  static const char *const set[] = {"net=conv 8 5 s2, relu, flatten, dense 32, relu, dense {classes}", "epochs=20",
                                    "batch=50"};
  r4_error e = {0};
  r4_data_options read = {.mask_means = R4_MASKS_IRRELEVANT, .height = 28, .width = 28};
  if (argc < 3) return fprintf(stderr, "usage: photos FOLDER MODEL.safetensors\n"), 2;
  r4_data *all = r4_data_open(argv[1], &read, &e);
  bool has_test = all && r4_data_counts(all, -1, -1).examples[R4_TEST] > 0; /* else a fifth is drawn for it */
  r4_data *d = has_test ? r4_data_hold_out(all, 0.2, 1, &e) : all ? r4_data_split(all, 0.2, 0.2, 1, &e) : NULL;
  r4_data *test = d ? r4_data_part(d, R4_TEST, &e) : NULL;
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof set / sizeof *set && !e.status; k++) r4_settings_set(s, set[k], "here", &e);
  r4_trainer *t = e.status ? NULL : r4_trainer_new(s, d, &e);
  if (t) r4_trainer_listen(t, warn, NULL);
  while (t && !r4_trainer_done(t) && !r4_trainer_epoch(t, NULL, &e)) continue;
  if (!e.status && !judge(t, test, &e)) r4_trainer_save_model(t, argv[2], &e);
  r4_trainer_free(t), r4_settings_free(s), r4_data_free(test), r4_data_free(d), r4_data_free(all);
  return e.status ? fprintf(stderr, "%s\n", e.text), 1 : 0;
}
