/* Reads a data set, plants a shortcut in it, and says what is there: the masks, and what gives the label away.
 *
 *     cc -std=c11 read_data.c $(pkg-config --cflags --libs r4) -o read_data && ./read_data */
#include <r4.h>
#include <stdio.h>

static int failed(const r4_error *e)
{
  return fprintf(stderr, "%s\n", e->text), 1;
}

int main(void)
{
  r4_error e = {0};
  /* A folder of photos, an npz file or a table of texts is opened the same way: r4_data_open(path, &options, &e). */
  r4_recipe_options options = {.from = "digits:500", .val = 0.1};
  r4_data *d = r4_data_make("decoy-mnist", &options, &e);
  if (!d) return failed(&e);

  r4_shape shape = r4_data_shape(d);
  printf("%zu images of %d x %d, %zu classes\n", r4_data_count(d), (int)shape.dim[0], (int)shape.dim[1],
         r4_data_classes(d));
  static const char *const name[] = {"train", "val", "test"};
  for (int split = R4_TRAIN; split < R4_SPLITS; split++) {
    r4_data *part = r4_data_part(d, (r4_split)split, &e);
    if (!part) return failed(&e);
    size_t masked = 0;
    for (size_t i = 0; i < r4_data_count(part); i++) masked += r4_data_has_mask(part, i);
    printf("%-5s %zu, with a mask: %zu\n", name[split], r4_data_count(part), masked);
    r4_data_free(part);
  }

  static float mask[28 * 28];
  r4_data_mask(d, 0, mask);
  for (int row = 0; row < 28; row += 4) {
    for (int column = 0; column < 28; column += 4) putchar(mask[row * 28 + column] > 0 ? '#' : '.');
    putchar('\n');
  }
  r4_data_free(d);
  return 0;
}
