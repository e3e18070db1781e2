/* Opens a model (a run's folder or a file, the first argument), measures it on data that it was not trained on, says
 * whether it uses what masks mark, by these data and by how its training ended (which a folder knows), and looks at one
 * image: what it predicts, and which share of the explanation is inside the mask.
 *
 *     cc -std=c11 judge_model.c $(pkg-config --cflags --libs r4) -o judge_model && ./judge_model run */
#include <r4.h>
#include <r4_tools.h> /* r4_outcome_read */
#include <stdio.h>

enum { PIXELS = 28 * 28, CLASSES = 10 };
static r4_measured figures; /* large: not for the stack */
static float x[PIXELS], mask[PIXELS], map[PIXELS], probability[CLASSES];

static r4_status look_at(const r4_model *m, const r4_data *d, size_t i, r4_error *e)
{
  const r4_net *net = r4_model_net(m);
  const float *weights = r4_model_weights(m);
  const int32_t label = r4_data_example(d, i).label;
  size_t best = 0;
  r4_data_values(d, i, x);
  r4_data_mask(d, i, mask);
  r4_data_arrays one = {.n = 1, .shape = r4_net_input(net), .floats = x, .labels = &label, .borrow = true};
  r4_data *image = r4_data_new(&one, e); /* from any array */
  if (image && !r4_predict(net, weights, image, 1, probability, e))
    r4_attribute("gradient", net, weights, image, NULL, map, e);
  for (size_t k = 1; k < r4_model_classes(m); k++)
    if (probability[k] > probability[best]) best = k;
  if (!e->status)
    printf("a %d is taken for a %s with probability %.2f; %.0f %% of the gradient is inside the mask\n", (int)label,
           r4_model_class_name(m, best), probability[best], 100 * r4_mask_share(PIXELS, map, mask));
  r4_data_free(image);
  return e->status;
}

/* The swap test misses a shortcut that all classes of these data have alike: validation, at the end of training, may
 * have seen it. */
static void judge(const char *folder)
{
  r4_outcome outcome;
  size_t known = r4_outcome_read(folder, &outcome, NULL) ? 0 : 1; /* a file alone does not say */
  double lost = r4_measured_value(&figures, "swap_lost_share");
  r4_judgement j = r4_judge(&outcome, known, lost);
  double worst = r4_measured_value(&figures, "worst_class_mask_accuracy"); /* NaN unless a class has both */
  printf("accuracy %.2f, worst group %.2f\n", r4_measured_value(&figures, "accuracy"),
         r4_measured_value(&figures, "worst_group_accuracy"));
  if (worst >= 0) printf("the worst of each class's examples with a mask, and without: %.2f\n", worst);
  printf("correct predictions lost to another class's patch: %.2f; width of the bounds in the mask: %.3g\n", lost,
         r4_measured_value(&figures, "kappa_masked_mean"));
  printf("the net %s%s\n", r4_verdict_text(j.verdict), j.hidden ? ", as validation found: these data hide it" : "");
}

int main(int argc, char **argv)
{
  const char *path = argc > 1 ? argv[1] : "run";
  r4_error e = {0};
  r4_recipe_options fresh = {.from = "digits:1000", .read.seed = 9};
  r4_data *all = r4_data_make("decoy-mnist", &fresh, &e);
  r4_data *test = all ? r4_data_part(all, R4_TEST, &e) : NULL;
  r4_model *m = test ? r4_model_open(path, NULL, &e) : NULL;
  if (m && !r4_measure(r4_model_net(m), r4_model_weights(m), test, NULL, &figures, &e)) {
    judge(path);
    look_at(m, test, 0, &e);
  }
  r4_model_free(m), r4_data_free(test), r4_data_free(all);
  return e.status ? fprintf(stderr, "%s\n", e.text), 1 : 0;
}
