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

static r4_metrics figures; /* large: not for the stack */
static r4_swapped swapped;

static void warn(const char *sentence, void *user)
{
  (void)user;
  fprintf(stderr, "%s\n", sentence);
}

static r4_status judge(const r4_trainer *t, const r4_data *test, r4_error *e)
{
  const r4_net *net = r4_trainer_net(t);
  const float *weights = r4_trainer_weights(t);
  double lost = 0, found = 0;
  if (r4_evaluate(net, weights, test, NULL, &figures, e) || r4_swap_test(net, weights, test, NULL, &swapped, e))
    return e->status;
  for (size_t k = 0; k < figures.groups; k++)
    printf("%-12s %3.0f %% of %zu correct\n", r4_data_group_name(test, k), 100 * figures.group_accuracy[k],
           figures.group_count[k]);
  for (size_t k = 0; k < swapped.groups; k++) lost += swapped.lost[k], found += (double)swapped.found[k];
  if (swapped.none)
    printf("no swap test: %s\n", swapped.none);
  else
    printf("%.0f %% of the correct predictions are lost with masked content of another class\n", 100 * lost / found);
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
