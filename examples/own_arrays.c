/* Trains on arrays of its own: the label of a small image is where a bright row is, but a corner gives it away while
 * training, and lies afterwards. Plain learning takes the corner; with masks on it, the net has to look at the row.
 *
 *     cc -std=c11 own_arrays.c $(pkg-config --cflags --libs r4) -o own_arrays && ./own_arrays */
#include <r4.h>
#include <stdio.h>

enum { N = 600, SIDE = 8, PIXELS = SIDE * SIDE };
static float x[N][PIXELS], mask[N][PIXELS], looks[N][PIXELS];
static int32_t label[N];
static r4_split part[N];

static void make_arrays(void)
{
  for (uint32_t i = 0; i < N; i++) {
    label[i] = i % 2;
    part[i] = i < 400 ? R4_TRAIN : i < 500 ? R4_VAL : R4_TEST;
    for (uint32_t k = 0, row, corner; k < PIXELS; k++) {
      row = k / SIDE, corner = row < 2 && k % SIDE < 2;
      x[i][k] = (float)r4_random_uniform((r4_random){7, 1, i}, k) * 0.5f + 0.2f * (row == (label[i] ? 6 : 3));
      if (corner) x[i][k] = (float)(part[i] == R4_TEST ? 1 - label[i] : label[i]); /* the shortcut */
      mask[i][k] = (float)corner;                                                  /* must not matter */
    }
  }
}

static int train(const char *method, const r4_data *d, r4_error *e)
{
  static r4_metrics figures;
  char setting[40];
  double share = 0;
  r4_settings *s = r4_settings_new();
  snprintf(setting, sizeof setting, "method=%s", method);
  const char *const set[] = {setting, "net=dense 16, relu, dense 2", "epochs=30", "batch=50"};
  for (size_t k = 0; k < 4 && !e->status; k++) r4_settings_set(s, set[k], "here", e);
  r4_trainer *t = r4_trainer_new(s, d, e);
  while (t && !r4_trainer_done(t) && !r4_trainer_epoch(t, NULL, e)) continue;
  r4_data *test = r4_data_part(d, R4_TEST, e);
  if (e->status || r4_evaluate(r4_trainer_net(t), r4_trainer_weights(t), test, NULL, &figures, e) ||
      r4_attribute("gradient", r4_trainer_net(t), r4_trainer_weights(t), test, NULL, looks[0], e))
    return fprintf(stderr, "%s\n", e->text), 1;
  for (size_t i = 0; i < 100; i++) share += r4_mask_share(PIXELS, looks[i], mask[i]);
  printf("%-7s %3.0f %% correct, looks at the corner: %3.0f %%\n", method, 100 * figures.accuracy, share);
  r4_data_free(test);
  r4_trainer_free(t);
  r4_settings_free(s);
  return 0;
}

int main(void)
{
  r4_error e = {0};
  r4_data_arrays arrays = {
    .n = N, .shape = R4_SHAPE(SIDE, SIDE, 1), .floats = x[0], .labels = label, .splits = part};
  arrays.mask_floats = mask[0], arrays.mask_means = R4_MASKS_IRRELEVANT;
  make_arrays();
  r4_data *d = r4_data_new(&arrays, &e);
  if (!d) return fprintf(stderr, "%s\n", e.text), 1;
  int failed = train("erm", d, &e) || train("cert-r4", d, &e);
  return r4_data_free(d), failed;
}
