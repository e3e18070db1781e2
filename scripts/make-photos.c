/* A folder of photos for scripts/check-readme: digits with a patch that gives the label away, as PNG files in argv[1],
 * which must be there with the folders images and masks; metadata.csv has a group for every second one. */
#include <r4_tools.h>
#include <stdio.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE };

static int put(const char *folder, const char *inside, size_t i, const float *x)
{
  uint8_t grey[PIXELS], *file = NULL;
  char path[1000];
  size_t bytes = 0;
  for (int k = 0; k < PIXELS; k++) grey[k] = (uint8_t)(x[k] * 255 + 0.5f);
  const r4_image image = {.height = SIDE, .width = SIDE, .channels = 1, .pixel = grey};
  snprintf(path, sizeof path, "%s/%s/%zu.png", folder, inside, i);
  FILE *f = fopen(path, "wb");
  int failed = !f || r4_image_png(&image, &file, &bytes, NULL) || fwrite(file, 1, bytes, f) != bytes || fclose(f);
  return r4_bytes_free(file), failed;
}

int main(int argc, char **argv)
{
  static float x[PIXELS], mask[PIXELS];
  char path[1000];
  r4_recipe_options options = {.from = "digits:600"};
  r4_data *d = argc > 1 ? r4_data_make("decoy-mnist", &options, NULL) : NULL;
  if (!d) return 1;
  snprintf(path, sizeof path, "%s/metadata.csv", argv[1]);
  FILE *table = fopen(path, "w");
  int failed = !table || fprintf(table, "file,label,group\n") < 0;
  for (size_t i = 0; i < r4_data_count(d) && !failed; i++) {
    const char *label = r4_data_class_name(d, (size_t)r4_data_example(d, i).label);
    failed = fprintf(table, "%zu.png,%s,%s\n", i, label, i % 2 ? "scanner b" : "scanner a") < 0;
    r4_data_values(d, i, x);
    failed = failed || put(argv[1], "images", i, x);
    if (r4_data_mask(d, i, mask)) failed = failed || put(argv[1], "masks", i, mask);
  }
  failed = !table || fclose(table) || failed;
  r4_data_free(d);
  return failed;
}
