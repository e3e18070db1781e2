/* The presets of experiments on photographs that cannot be fetched, each for an epoch, on small folders of their
 * layouts. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder_make.h"
#include "photographs.h"

/* experiments/NAME/table.csv of the source tree, from which this is run. */
static size_t rows_of(const char *name, char row[32][128])
{
  char path[64], line[512];
  size_t n = 0;
  snprintf(path, sizeof path, "experiments/%s/table.csv", name);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  assert_non_null(fgets(line, sizeof line, f));
  for (; fgets(line, sizeof line, f) && n < 32; n++)
    snprintf(row[n], 128, "\n| %.*s ", (int)strcspn(line, ","), line);
  fclose(f);
  return n;
}

/* Puts the folder where "r4 data get" says that it belongs. */
static void place(char *folder, const char *data)
{
  char line[1024];
  snprintf(line, sizeof line, "mkdir -p data && mv %s data/%s", folder, data);
  EXPECT(line, 0, "");
  free(folder);
}

/* Every row of the table. */
static void reproduces(const char *name, int splits)
{
  static char row[32][128];
  char line[1024];
  size_t n = rows_of(name, row);
  snprintf(line, sizeof line,
           "R4_DATA_DIR=data $R4 reproduce %s --splits %d --seeds 1 --set epochs=1 --set data.size=24 --set "
           "batch=16 "
           "--set threads=1 --out rows/%s --quiet",
           name, splits, name);
  EXPECT(line, 0, "| group average");
  assert_in_range(n, 4, 32);
  for (size_t k = 0; k < n; k++)
    if (!strstr(command_output, row[k])) fail_msg("%s: no row%s in %s", name, row[k], command_output);
}

static void isic(void **state)
{
  (void)state;
  place(photographs_isic_2017(), "isic");
  reproduces("isic", 1);
  reproduces("isic/more", 2);
}

static void plant(void **state)
{
  (void)state;
  place(photographs_leaves(), "plantvillage");
  reproduces("plant", 1);
  place(photographs_plants(false), "plant");
  EXPECT("R4_DATA_DIR=data $R4 train plant/erm --set data=plant --set epochs=1 --set data.size=24 --set batch=8 "
         "--set threads=1 --out runs/beets --quiet",
         0, "");
}

static void pets(void **state)
{
  (void)state;
  place(photographs_pets(), "pets");
  reproduces("pets", 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(isic), cmocka_unit_test(plant), cmocka_unit_test(pets)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_presets", tests, scratch_make, scratch_remove);
}
