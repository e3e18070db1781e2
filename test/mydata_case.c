#include "mydata_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder_make.h"
#include "scratch.h"

enum { PHOTOS = 160, SIDE = 16 };

static void put_photo(FILE *table, int i)
{
  static const char *const label[] = {"healthy", "ill"};
  char name[64];
  int class = i % 2, split = i / 2 % 8; /* six of eight are for training */
  uint8_t core = (uint8_t)((class ? 160 : 90) + i * 37 % 50), tag = class ? 250 : 10;
  snprintf(name, sizeof name, "mydata/images/p%03d.png", i);
  put_grey(scratch_folder(), name, SIDE, SIDE, core, tag);
  snprintf(name, sizeof name, "mydata/masks/p%03d.png", i);
  if (i % 3) put_grey(scratch_folder(), name, SIDE, SIDE, 0, 255);
  fprintf(table, "p%03d.png,%s,%s\n", i, label[class], split < 6 ? "train" : split == 6 ? "val" : "test");
}

void mydata_photos(void)
{
  char *text = NULL;
  size_t size = 0;
  FILE *table = open_memstream(&text, &size);
  fprintf(table, "file,label,split\n");
  for (int i = 0; i < PHOTOS; i++) put_photo(table, i);
  fclose(table);
  put_text(scratch_folder(), "mydata/metadata.csv", text);
  put_grey(scratch_folder(), "new/a.png", SIDE, SIDE, 100, 200);
  free(text);
}

void mydata_settings(const char *readme)
{
  char text[2000] = "";
  const char *at = strstr(readme, "    # mydata.yaml\n");
  assert_non_null(at);
  while (!strncmp(at, "    ", 4)) {
    size_t n = strcspn(at, "\n") + 1;
    assert_true(strlen(text) + n < sizeof text);
    strncat(text, at + 4, n - 4);
    at += n;
  }
  char *size = strstr(text, "data.size: 64");
  assert_non_null(size);
  memcpy(size, "data.size: 16", strlen("data.size: 16"));
  put_text(scratch_folder(), "mydata.yaml", text);
}
